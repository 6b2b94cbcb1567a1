//! The output: written under a temporary name in its own folder, and renamed when it is complete.
//!
//! However the program ends before that, even killed, the output's name is as it was: not there, or the old file.

use super::MigrateError;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file that is not there yet. Dropping it leaves nothing.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    file: NamedTempFile,
}

impl Output {
    /// Makes the temporary file.
    ///
    /// # Errors
    /// [`MigrateError::NoFile`], [`MigrateError::Output`].
    pub fn create(path: &Path) -> Result<Self, MigrateError> {
        let error = |source| MigrateError::Output { path: path.into(), source };
        // A link is followed, so that the file it leads to is replaced and not the link. Never is something
        // replaced that is no file: a device would be gone.
        let target = match fs::canonicalize(path) {
            Ok(target) if fs::metadata(&target).is_ok_and(|metadata| metadata.is_file()) => target,
            Ok(_) => return Err(MigrateError::NoFile(path.into())),
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => path.into(),
            Err(other) => return Err(error(other)),
        };
        let name = target.file_name().ok_or_else(|| error(io::ErrorKind::InvalidFilename.into()))?;
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let prefix = format!(".{}.", name.to_string_lossy());
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(".part");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // As any new file: the umask takes off what it takes off.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(folder).map_err(error)?;
        Ok(Self { path: target, file })
    }

    /// The file, to be written.
    pub fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Gives it its name: from here on it is there, whole.
    ///
    /// # Errors
    /// [`MigrateError::Output`].
    pub fn complete(self) -> Result<(), MigrateError> {
        let Self { path, file } = self;
        // The bytes come before the name, also on the disk.
        let stored = file.as_file().sync_all();
        stored
            .and_then(|()| file.persist(&path).map(drop).map_err(|error| error.error))
            .map_err(|source| MigrateError::Output { path, source })
    }
}
