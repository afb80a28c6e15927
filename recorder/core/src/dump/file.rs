//! Writing a file that is whole or not there.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

/// A whole file in the folder where it belongs, still without its name. It is gone with this value, unless it got one.
#[derive(Debug)]
pub(super) struct Part {
    path: PathBuf,
}

impl Part {
    /// Writes a file for a folder, which is made if it is not there. On an error nothing is left.
    pub(super) fn write(folder: &Path, content: &[u8]) -> io::Result<Part> {
        fs::create_dir_all(folder)?;
        let part = Part { path: folder.join(hidden_name("partial")) };
        let mut file = File::create(&part.path)?;
        file.write_all(content)?;
        file.flush()?;
        Ok(part)
    }

    /// Gives it a name, and takes that from whatever had it.
    pub(super) fn replace(self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)
    }

    /// Gives it a name if that is free or belongs to a file from before `since`; else gives it back. Of several processes that claim one
    /// name at the same time, one gets it.
    pub(super) fn claim(self, path: &Path, since: SystemTime) -> io::Result<Option<Part>> {
        loop {
            // A rename would replace what another process has put there since we looked; a link does not.
            match fs::hard_link(&self.path, path) {
                Ok(()) => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                // This file system has no links: look first, and hope.
                Err(_) if changed_after(path, since) => return Ok(Some(self)),
                Err(_) => return self.replace(path).map(|()| None),
            }
            if changed_after(path, since) {
                return Ok(Some(self));
            }
            if !put_away(path, since)? {
                return Ok(Some(self));
            }
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // It may have got its name, or never have come into being.
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes a file that was there before `since`; tells whether its name is free now. What another process puts there meanwhile stays.
fn put_away(path: &Path, since: SystemTime) -> io::Result<bool> {
    let name = hidden_name("earlier");
    let aside = path.with_file_name(&name);
    match fs::rename(path, &aside) {
        Ok(()) => {}
        // Somebody else has put it away.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
    }
    if !changed_after(&aside, since) {
        fs::remove_file(&aside)?;
        return Ok(true);
    }
    // It is not the file that we looked at: another process was quicker. Its dump goes back, or beside a third one's.
    if fs::hard_link(&aside, path).is_ok() {
        fs::remove_file(&aside)?;
    } else {
        let own = path.file_name().unwrap_or_default().to_string_lossy();
        fs::rename(&aside, path.with_file_name(format!("duplicate{name}-{own}")))?;
    }
    Ok(false)
}

fn changed_after(path: &Path, time: SystemTime) -> bool {
    fs::metadata(path).and_then(|data| data.modified()).is_ok_and(|changed| changed > time)
}

/// A name that no other file has, and that no reader takes for a dump's.
fn hidden_name(kind: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    // Hosts that share the folder may share process numbers.
    format!(".{}.{}.{}.{kind}", host_name(), process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// This machine's name, or `host`.
#[expect(unsafe_code, reason = "the C library is the only one to ask")]
pub(crate) fn host_name() -> String {
    let mut bytes = [0_u8; 256];
    // SAFETY: the buffer is as long as told, less one byte that stays zero.
    let known = unsafe { libc::gethostname(bytes.as_mut_ptr().cast(), bytes.len() - 1) } == 0;
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let name = String::from_utf8_lossy(&bytes[..end]).into_owned();
    if known && !name.is_empty() && !name.contains('/') { name } else { "host".to_owned() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Barrier;
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// Contents of a folder, and whether there is anything besides.
    fn contents(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect()
    }

    /// Eight processes of one rank that dump at the same moment: each dump is kept, and one of them has the rank's name.
    fn claimed_by_many(earlier: bool) {
        for _ in 0..100 {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("rank_0");
            let mut since = SystemTime::UNIX_EPOCH;
            if earlier {
                let file = File::create(&path).unwrap();
                since = SystemTime::now() - Duration::from_secs(60);
                file.set_modified(since - Duration::from_secs(60)).unwrap();
            }
            let start = Barrier::new(8);
            let got: usize = thread::scope(|scope| {
                let claim = |number: usize| {
                    let part = Part::write(folder.path(), number.to_string().as_bytes()).unwrap();
                    start.wait();
                    match part.claim(&path, since).unwrap() {
                        None => 1,
                        Some(part) => {
                            part.replace(&folder.path().join(format!("other_{number}"))).unwrap();
                            0
                        }
                    }
                };
                let claims: Vec<_> = (0..8).map(|number| scope.spawn(move || claim(number))).collect();
                claims.into_iter().map(|claim| claim.join().unwrap()).sum()
            });
            let found = contents(folder.path());
            let distinct: BTreeSet<String> = found.iter().cloned().collect();
            assert_eq!(distinct, (0..8).map(|number| number.to_string()).collect(), "nothing is lost");
            assert_eq!(found.len(), 8, "and nothing is left over");
            assert!(path.exists());
            assert!(got >= 1);
        }
    }

    #[test]
    fn one_of_many_gets_a_free_name() {
        claimed_by_many(false);
    }

    #[test]
    fn one_of_many_gets_the_name_of_an_earlier_runs_dump() {
        claimed_by_many(true);
    }

    #[test]
    fn a_part_that_gets_no_name_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        drop(Part::write(folder.path(), b"x").unwrap());
        assert_eq!(contents(folder.path()), [""; 0]);
    }
}
