//! Finding libraries that a program would load, and what they say of themselves, without loading them.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use memchr::memmem::Finder;

/// Files of this name that the loader would find, or that Python's packages bring.
pub(crate) fn libraries(name: &str) -> Vec<PathBuf> {
    let mut found = BTreeSet::new();
    let mut result = Vec::new();
    for path in loader_folders().into_iter().map(|folder| folder.join(name)).chain(cached(name)).chain(in_python(name))
    {
        if path.is_file() && found.insert(fs::canonicalize(&path).unwrap_or_else(|_| path.clone())) {
            result.push(path);
        }
    }
    result
}

fn loader_folders() -> Vec<PathBuf> {
    let paths = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    std::env::split_paths(&paths).filter(|folder| !folder.as_os_str().is_empty()).collect()
}

/// What the loader's own list has.
fn cached(name: &str) -> Vec<PathBuf> {
    let list = ["ldconfig", "/sbin/ldconfig"]
        .into_iter()
        .find_map(|program| Command::new(program).arg("-p").output().ok().filter(|output| output.status.success()))
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default();
    list.lines()
        .filter(|line| line.split_whitespace().next() == Some(name))
        .filter_map(|line| line.rsplit_once("=> ").map(|(_, path)| PathBuf::from(path.trim())))
        .collect()
}

/// Folders in which Python packages put their libraries, below each folder of packages.
const IN_PACKAGES: [&str; 4] = ["nvidia/nccl/lib", "torch/lib", "mpi4py", "../.."];

fn in_python(name: &str) -> Vec<PathBuf> {
    let script = "import sys; print('\\n'.join(p for p in sys.path if p.endswith('-packages')))";
    let output = Command::new("python3").args(["-c", script]).output();
    let folders = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    folders.lines().flat_map(|folder| IN_PACKAGES.map(|inside| Path::new(folder).join(inside).join(name))).collect()
}

/// Bytes after a mark that are looked at.
const REST: usize = 64;
/// Bytes that are read at once.
const CHUNK: usize = 1 << 20;

/// What follows each mark in a file, up to the first byte that is no text, at the first place where `accept` takes it.
/// Libraries can have a gigabyte: it is read once, and never held whole.
pub(crate) fn texts_after<const N: usize>(
    path: &Path,
    marks: [&str; N],
    accept: impl Fn(usize, &str) -> bool,
) -> Option<[Option<String>; N]> {
    let mut file = File::open(path).ok()?;
    let finders = marks.map(Finder::new);
    let longest = marks.iter().map(|mark| mark.len()).max().unwrap_or(0) + REST;
    let mut found = marks.map(|_| None);
    let mut window = Vec::new();
    loop {
        let len = (&mut file).take(CHUNK as u64).read_to_end(&mut window).ok()?;
        for (index, finder) in finders.iter().enumerate() {
            if found[index].is_none() {
                found[index] = finder.find_iter(&window).find_map(|at| {
                    let rest = &window[at + finder.needle().len()..];
                    // What reaches over the end is found again with the next piece.
                    if rest.len() < REST && len > 0 {
                        return None;
                    }
                    let rest = &rest[..rest.len().min(REST)];
                    let end = rest.iter().position(|byte| !(b' '..=b'~').contains(byte)).unwrap_or(rest.len());
                    let text = std::str::from_utf8(&rest[..end]).ok()?;
                    accept(index, text).then(|| text.to_owned())
                });
            }
        }
        if len == 0 {
            return Some(found);
        }
        let keep = window.len().saturating_sub(longest);
        window.drain(..keep);
    }
}

/// A program of the search path.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|folder| folder.join(name)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, texts_after};

    #[test]
    fn a_mark_is_found_wherever_it_lies() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("library");
        for before in [0, 1, CHUNK - 70, CHUNK - 5, CHUNK, 2 * CHUNK + 3] {
            let mut bytes = vec![7_u8; before];
            bytes.extend_from_slice(b"version \0version 2.30\0more");
            std::fs::write(&path, &bytes).unwrap();
            let [version, absent] = texts_after(&path, ["version ", "absent"], |_, text| !text.is_empty()).unwrap();
            assert_eq!((version.as_deref(), absent), (Some("2.30"), None), "{before}");
        }
        assert!(texts_after(&folder.path().join("none"), [""; 0], |_, _| true).is_none());
    }
}
