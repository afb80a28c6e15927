//! A built page: a folder of static files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

/// Holds the fingerprint of the sources that a folder was built from. Trunk clears the folder, so it is gone when the
/// page was built by Trunk.
const STAMP: &str = ".sources";

/// A folder that holds a built page.
#[derive(Debug, Clone)]
pub struct Dist {
    folder: PathBuf,
}

/// One file of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DistFile {
    /// The path below the folder, with `/` between its parts.
    pub name: String,
    /// The file on disk.
    pub path: PathBuf,
}

impl Dist {
    /// The page in `folder`, if there is one.
    pub fn open(folder: &Path) -> Option<Self> {
        folder.join("index.html").is_file().then(|| Self { folder: folder.to_owned() })
    }

    /// The fingerprint of the sources that it was built from, if it is known.
    pub fn built_from(&self) -> Option<String> {
        fs::read_to_string(self.folder.join(STAMP)).ok()
    }

    /// All files of the page in the order of their names.
    pub fn files(&self) -> Result<Vec<DistFile>> {
        all_files(&self.folder)
    }

    /// Makes `folder` hold exactly `files` (content by name) and the stamp. A file that is right already is not written,
    /// so that what watches the folder sees changes only.
    pub fn write(folder: &Path, files: &BTreeMap<String, Vec<u8>>, fingerprint: &str) -> Result<Self> {
        ensure!(files.contains_key("index.html"), "a page needs an index.html");
        let dist = Self { folder: folder.to_owned() };
        fs::create_dir_all(folder).with_context(|| format!("failed to create {}", folder.display()))?;
        // Without the stamp first: a run that is stopped half way leaves no page that looks current.
        let stamp = folder.join(STAMP);
        if stamp.exists() && dist.built_from().as_deref() != Some(fingerprint) {
            fs::remove_file(&stamp).with_context(|| format!("failed to remove {}", stamp.display()))?;
        }
        for old in dist.files()? {
            if !files.contains_key(&old.name) {
                fs::remove_file(&old.path).with_context(|| format!("failed to remove {}", old.path.display()))?;
            }
        }
        for (name, content) in files {
            write_if_changed(&folder.join(name), content)?;
        }
        write_if_changed(&stamp, fingerprint.as_bytes())?;
        Ok(dist)
    }
}

/// All files below `folder` but the hidden ones.
pub(crate) fn all_files(folder: &Path) -> Result<Vec<DistFile>> {
    let mut files = Vec::new();
    list(folder, "", &mut files)?;
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

fn list(folder: &Path, prefix: &str, files: &mut Vec<DistFile>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("failed to list {}", folder.display()))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("failed to list {}", folder.display()))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        let name = format!("{prefix}{name}");
        if entry.path().is_dir() {
            list(&entry.path(), &format!("{name}/"), files)?;
        } else {
            files.push(DistFile { name, path: entry.path() });
        }
    }
    Ok(())
}

fn write_if_changed(path: &Path, content: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(|| format!("failed to create {}", parent.display()))?;
    }
    fs::write(path, content).with_context(|| format!("failed to write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(files: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
        files.iter().map(|(name, content)| ((*name).to_owned(), content.as_bytes().to_vec())).collect()
    }

    #[test]
    fn a_second_page_replaces_the_first() {
        let folder = tempfile::tempdir().unwrap();
        Dist::write(folder.path(), &page(&[("index.html", "1"), ("a-1.js", "1"), ("snippets/x.js", "1")]), "one")
            .unwrap();
        let dist = Dist::write(folder.path(), &page(&[("index.html", "2"), ("a-2.js", "2")]), "two").unwrap();

        let names: Vec<_> = dist.files().unwrap().into_iter().map(|file| file.name).collect();
        assert_eq!(names, ["a-2.js", "index.html"]);
        assert_eq!(dist.built_from().as_deref(), Some("two"));
    }

    #[test]
    fn files_that_are_right_stay_untouched() {
        let folder = tempfile::tempdir().unwrap();
        let files = page(&[("index.html", "1"), ("snippets/x.js", "1")]);
        Dist::write(folder.path(), &files, "one").unwrap();
        let before = fs::metadata(folder.path().join("index.html")).unwrap().modified().unwrap();
        Dist::write(folder.path(), &files, "two").unwrap();
        assert_eq!(fs::metadata(folder.path().join("index.html")).unwrap().modified().unwrap(), before);
    }

    #[test]
    fn a_folder_without_an_index_is_no_page() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Dist::open(folder.path()).is_none());
        assert!(Dist::write(folder.path(), &page(&[("a.js", "")]), "one").is_err());
    }
}
