//! Files that appear when they are complete.
//!
//! The one idea: each is written under another name beside its own, and renamed at the end. What is not finished is removed.

use std::fs::{self, File};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::Error;

/// A file on its way.
pub(super) struct Aside {
    path: PathBuf,
    aside: PathBuf,
    file: Option<BufWriter<File>>,
    written: u64,
}

impl Aside {
    pub(super) fn create(path: &Path) -> Result<Self, Error> {
        let aside = beside(path);
        let file =
            File::create_new(&aside).map_err(|source| Error::Write { path: path.to_owned(), source })?;
        let file = Some(BufWriter::with_capacity(1 << 18, file));
        Ok(Self { path: path.to_owned(), aside, file, written: 0 })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let Some(file) = &mut self.file else { return Ok(()) };
        self.written += bytes.len() as u64;
        file.write_all(bytes).map_err(|source| Error::Write { path: self.path.clone(), source })
    }

    /// How many bytes are written.
    pub(super) const fn position(&self) -> u64 {
        self.written
    }

    /// Puts something else where something was written.
    pub(super) fn patch(&mut self, at: u64, bytes: &[u8]) -> Result<(), Error> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let patched = file.seek(SeekFrom::Start(at)).and_then(|_| file.write_all(bytes));
        let back = patched.and_then(|()| file.seek(SeekFrom::End(0)));
        back.map(drop).map_err(|source| Error::Write { path: self.path.clone(), source })
    }

    /// Writes down what is left. The file is not there yet.
    pub(super) fn close(&mut self) -> Result<(), Error> {
        let Some(file) = self.file.take() else { return Ok(()) };
        let closed = file.into_inner().map_err(std::io::IntoInnerError::into_error);
        closed
            .and_then(|file| file.sync_all())
            .map_err(|source| Error::Write { path: self.path.clone(), source })
    }

    /// Puts the file in its place.
    pub(super) fn put(mut self) -> Result<PathBuf, Error> {
        self.close()?;
        fs::rename(&self.aside, &self.path)
            .map_err(|source| Error::Write { path: self.path.clone(), source })?;
        // What is renamed is not to be removed.
        self.aside = PathBuf::new();
        Ok(self.path.clone())
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if !self.aside.as_os_str().is_empty() {
            // What cannot be removed says by its name what it is.
            fs::remove_file(&self.aside).ok();
        }
    }
}

/// A directory on its way.
pub(super) struct AsideDirectory {
    path: PathBuf,
    pub(super) aside: PathBuf,
}

impl AsideDirectory {
    pub(super) fn create(path: &Path) -> Result<Self, Error> {
        let aside = beside(path);
        fs::create_dir(&aside).map_err(|source| Error::Write { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), aside })
    }

    /// Puts the directory in its place. What was there goes when the new one is there.
    pub(super) fn put(mut self) -> Result<PathBuf, Error> {
        let cannot = |source| Error::Write { path: self.path.clone(), source };
        let mut former = self.aside.clone().into_os_string();
        former.push(".former");
        let former = PathBuf::from(former);
        let has_former = self.path.symlink_metadata().is_ok();
        if has_former {
            fs::rename(&self.path, &former).map_err(cannot)?;
        }
        if let Err(source) = fs::rename(&self.aside, &self.path) {
            if has_former {
                fs::rename(&former, &self.path).map_err(cannot)?;
            }
            return Err(cannot(source));
        }
        if has_former {
            let removed =
                if former.is_dir() { fs::remove_dir_all(&former) } else { fs::remove_file(&former) };
            removed.map_err(|source| Error::Write { path: former.clone(), source })?;
        }
        self.aside = PathBuf::new();
        Ok(self.path.clone())
    }
}

impl Drop for AsideDirectory {
    fn drop(&mut self) {
        if !self.aside.as_os_str().is_empty() {
            fs::remove_dir_all(&self.aside).ok();
        }
    }
}

fn beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or("out".as_ref()));
    name.push(format!(".{}.tmp", std::process::id()));
    path.with_file_name(name)
}
