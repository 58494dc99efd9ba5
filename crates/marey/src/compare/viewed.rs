//! Two runs as the viewer compares them.
//!
//! The one idea: the same sums and the same sentences as in `marey diff`, so that page and command say the same.

use std::path::Path;

use marey_analyze::compare;

use super::diff::remarks_of;
use super::sentences::sentences;
use super::{Depth, open_all};
use crate::format::plain;

/// Compares two runs.
pub(crate) fn compared(base: &Path, other: &Path) -> anyhow::Result<marey_serve::Compared> {
    let mut runs = open_all([base.to_owned(), other.to_owned()].iter(), Depth::Events)?.into_iter();
    let (Some(base), Some(other)) = (runs.next(), runs.next()) else {
        anyhow::bail!("two runs are needed to compare them");
    };
    let comparison = compare(&base.digest, &other.digest);
    let sentences = sentences(&base, &other, &comparison).iter().map(|text| plain(text)).collect();
    let remarks = remarks_of(&base, &other).iter().map(|text| plain(text)).collect();
    Ok(marey_serve::Compared { sentences, remarks, base: base.digest, other: other.digest })
}
