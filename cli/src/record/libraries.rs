//! The recorder's libraries: they are inside the command and are put where programs can load them.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

/// A library that the command carries.
struct Library {
    /// The name of its file.
    name: &'static str,
    /// The file, deflated.
    content: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/recorder_files.rs"));

/// The library that NCCL loads.
pub(crate) const NCCL_PLUGIN: &str = "libnccl-profiler-hangscope.so";
/// The library that is loaded before an MPI program's own.
pub(crate) const MPI_PRELOAD: &str = "libhangscope-mpi.so";
/// Names a folder that holds both, in place of those that the command carries.
const CHOICE: &str = "HANGSCOPE_LIBRARIES";

/// Where the libraries are.
#[derive(Debug, Clone)]
pub(crate) struct Libraries {
    pub(crate) nccl_plugin: PathBuf,
    pub(crate) mpi_preload: PathBuf,
}

/// Puts the libraries into the user's cache, unless they are there already; each version has a folder of its own.
pub(crate) fn install() -> Result<Libraries> {
    if let Some(folder) = std::env::var_os(CHOICE).filter(|folder| !folder.is_empty()) {
        let folder = fs::canonicalize(&folder)
            .with_context(|| format!("{CHOICE} names {}, which is not there", folder.to_string_lossy()))?;
        return in_folder(&folder).with_context(|| format!("{CHOICE} names {}", folder.display()));
    }
    if FILES.is_empty() {
        bail!("this build of hangscope has no recorder inside: it is there on Linux alone");
    }
    let mut errors = Vec::new();
    for folder in folders() {
        match install_into(&folder) {
            Ok(()) => return in_folder(&folder),
            Err(error) => errors.push(format!("{}: {error}", folder.display())),
        }
    }
    bail!(
        "failed to write the recorder's libraries anywhere ({}); set XDG_CACHE_HOME to a folder that can be written",
        errors.join("; ")
    )
}

fn in_folder(folder: &Path) -> Result<Libraries> {
    let library = |name: &str| {
        let path = folder.join(name);
        if path.is_file() { Ok(path) } else { bail!("there is no {name} in {}", folder.display()) }
    };
    Ok(Libraries { nccl_plugin: library(NCCL_PLUGIN)?, mpi_preload: library(MPI_PRELOAD)? })
}

/// Places to try. The temporary folder is everybody's, so the one in it has the user's name and is checked.
fn folders() -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")));
    let own = format!("hangscope-{}", user());
    cache
        .into_iter()
        .map(|cache| cache.join("hangscope"))
        .chain([std::env::temp_dir().join(own)])
        .map(|folder| folder.join(format!("{}-{DIGEST:016x}", env!("CARGO_PKG_VERSION"))))
        .collect()
}

#[cfg(unix)]
fn user() -> String {
    use std::os::unix::fs::MetadataExt as _;
    // The process's own entry belongs to its user.
    fs::metadata("/proc/self").map_or_else(|_| "user".to_owned(), |data| data.uid().to_string())
}

#[cfg(not(unix))]
fn user() -> String {
    "user".to_owned()
}

fn install_into(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    refuse_foreign(folder)?;
    for library in FILES {
        let path = folder.join(library.name);
        let mut content = Vec::new();
        io::copy(&mut flate2::read::DeflateDecoder::new(library.content), &mut content)?;
        if fs::read(&path).is_ok_and(|there| there == content) {
            continue;
        }
        // Other ranks on this host do the same at the same time.
        let part = folder.join(format!(".{}.{}", library.name, std::process::id()));
        let written =
            File::create(&part).and_then(|mut file| file.write_all(&content)).and_then(|()| fs::rename(&part, &path));
        if written.is_err() {
            let _ = fs::remove_file(&part);
            return written;
        }
    }
    Ok(())
}

/// A folder of another user, or one that others may write in, could hold anything.
#[cfg(unix)]
fn refuse_foreign(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let own = fs::metadata("/proc/self").map(|data| data.uid());
    let data = fs::symlink_metadata(folder)?;
    let foreign = own.is_ok_and(|own| data.uid() != own) || data.mode() & 0o022 != 0;
    if foreign {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is another user's, or others may write in it"));
    }
    Ok(())
}

#[cfg(not(unix))]
fn refuse_foreign(_: &Path) -> io::Result<()> {
    Ok(())
}
