//! Where NCCL is.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::Context;

const NAME: &str = "libnccl.so.2";
/// Where a Python package has it.
const IN_PACKAGES: &str = "nvidia/nccl/lib";
const SYSTEM: [&str; 5] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/local/cuda/lib64",
];

/// Finds the library: where `named` says, else in the loader's path, the system's folders, and Python's packages.
pub(crate) fn library(named: Option<&Path>) -> Option<PathBuf> {
    if let Some(named) = named {
        return [named.join(NAME), named.to_owned()].into_iter().find(|path| path.is_file());
    }
    let path = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let loader = env::split_paths(&path).filter(|folder| !folder.as_os_str().is_empty());
    let folders = loader.chain(SYSTEM.map(PathBuf::from)).chain(packages());
    folders.map(|folder| folder.join(NAME)).find(|path| path.is_file())
}

/// Folders of Python's packages that have NCCL's: those of the environment that is active, and the system's.
fn packages() -> Vec<PathBuf> {
    let own = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(env::var_os).map(PathBuf::from);
    let roots = own.chain(["/usr", "/usr/local"].map(PathBuf::from));
    let mut found: Vec<PathBuf> = roots
        .flat_map(|root| {
            let versions = fs::read_dir(root.join("lib")).into_iter().flatten().flatten().map(|entry| entry.path());
            let is_python =
                |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"));
            versions
                .filter(is_python)
                .flat_map(|version| ["site-packages", "dist-packages"].map(|name| version.join(name)))
        })
        .map(|packages| packages.join(IN_PACKAGES))
        .filter(|folder| folder.join(NAME).is_file())
        .collect();
    found.sort();
    found
}

/// A folder in which the library has the name that cudarc asks the loader for, which knows no `.2`.
#[derive(Debug)]
pub(crate) struct LinkFolder(PathBuf);

impl LinkFolder {
    pub(crate) fn of(library: &Path) -> anyhow::Result<Self> {
        let folder = env::temp_dir().join(format!("hangscope-nccl-workload-{}", std::process::id()));
        fs::create_dir(&folder).with_context(|| format!("no folder {}", folder.display()))?;
        let folder = Self(folder);
        let library = library.canonicalize()?;
        for name in [NAME, "libnccl.so"] {
            symlink(&library, folder.0.join(name)).context("no link to NCCL")?;
        }
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The loader's path with this folder at its head.
    pub(crate) fn search_path(&self) -> OsString {
        let mut path = self.0.clone().into_os_string();
        if let Some(rest) = env::var_os("LD_LIBRARY_PATH").filter(|rest| !rest.is_empty()) {
            path.push(":");
            path.push(rest);
        }
        path
    }
}

impl Drop for LinkFolder {
    fn drop(&mut self) {
        // What is left of it is in the folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}
