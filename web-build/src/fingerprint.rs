//! Whether a built page was made from the sources as they are now.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// What the page is made from, relative to the repository's root: files, and folders with all that is in them.
pub const SOURCES: &[&str] = &[
    ".cargo/config.toml",
    "Cargo.lock",
    "Cargo.toml",
    "analyzer-core/Cargo.toml",
    "analyzer-core/src",
    "index.html",
    "tests/fixtures/sample",
    "web",
    "web-build/src",
];

/// The SHA-256 of the names and contents of all [`SOURCES`], as hexadecimal digits.
///
/// Contents and not times: a fresh clone, a copy or a branch switched to and back has the same fingerprint.
pub fn fingerprint(root: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    for source in SOURCES {
        collect(&root.join(source), &mut files)?;
    }
    files.sort();
    let mut hash = Sha256::new();
    for file in files {
        let name = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        let content = fs::read(&file)?;
        hash.update(format!("{name}\n{}\n", content.len()));
        hash.update(&content);
    }
    Ok(hex(&hash.finalize()))
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        // Editors' swap files and the like change nothing.
        if !entry.file_name().to_string_lossy().starts_with('.') {
            collect(&entry.path(), files)?;
        }
    }
    Ok(())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(root: &Path) {
        for source in SOURCES {
            let path = root.join(source);
            if path.extension().is_some() {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, source).unwrap();
            } else {
                fs::create_dir_all(&path).unwrap();
                fs::write(path.join("lib.rs"), source).unwrap();
            }
        }
    }

    #[test]
    fn follows_content_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        sources(root.path());
        let before = fingerprint(root.path()).unwrap();

        fs::write(root.path().join("web/.lib.rs.swp"), "x").unwrap();
        fs::write(root.path().join("web/lib.rs"), "web").unwrap();
        assert_eq!(fingerprint(root.path()).unwrap(), before, "the same content, written again");

        fs::write(root.path().join("web/lib.rs"), "changed").unwrap();
        let changed = fingerprint(root.path()).unwrap();
        assert_ne!(changed, before);

        fs::rename(root.path().join("web/lib.rs"), root.path().join("web/renamed.rs")).unwrap();
        assert_ne!(fingerprint(root.path()).unwrap(), changed);
    }

    #[test]
    fn a_missing_source_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(fingerprint(root.path()).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
