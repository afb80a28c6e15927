//! Writing a file that is whole or not there.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// Writes under another name in the same folder, and gives it its own when all is written. On an error nothing is left.
pub(super) fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    fs::create_dir_all(&folder)?;
    // Hosts that share the folder may share process numbers.
    let host = host_name();
    let part = folder.join(format!(".{host}.{}.{}.partial", process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    let written = File::create(&part)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.flush()))
        .and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        // It may never have come into being.
        let _ = fs::remove_file(&part);
    }
    written
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
