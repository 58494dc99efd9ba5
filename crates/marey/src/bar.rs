//! A bar on standard error, if that is a terminal, for work on formats of other tools.

use indicatif::{ProgressBar, ProgressStyle};

/// How far the work is.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// A bar behind a word for what is being done.
    pub(crate) fn new(doing: &'static str) -> Self {
        let bar = ProgressBar::new(0);
        let style = ProgressStyle::with_template("  {msg:<28} {bar:40} {percent:>3} %  {elapsed}");
        Self(bar.with_style(style.expect("the template is well-formed")).with_message(doing))
    }

    /// Takes it away.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

impl marey_formats::Progress for Bar {
    fn begin(&self, total: u64) {
        self.0.set_length(total);
    }

    fn advance(&self, so_much: u64) {
        self.0.inc(so_much);
    }
}
