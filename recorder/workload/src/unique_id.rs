//! How the ranks come by NCCL's unique id: rank 0 writes it into a file.

use std::env;
use std::ffi::c_char;
use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use cudarc::nccl::result;
use cudarc::nccl::sys::ncclUniqueId;

/// Names the file. Ranks that another launcher has started need one in a folder that all see.
pub(crate) const VARIABLE: &str = "HANGSCOPE_WORKLOAD_ID_FILE";
const LIMIT: Duration = Duration::from_secs(60);

/// The id, from the file or for it.
pub(crate) fn exchange(rank: u32) -> anyhow::Result<ncclUniqueId> {
    let file = PathBuf::from(env::var_os(VARIABLE).with_context(|| format!("{VARIABLE} names no file"))?);
    if rank == 0 {
        let id = result::get_uniqueid().map_err(|error| anyhow::anyhow!("ncclGetUniqueId: {:?}", error.0))?;
        let part = file.with_extension("partial");
        fs::write(&part, id.internal.map(c_char::cast_unsigned))?;
        fs::rename(&part, &file)?;
        return Ok(id);
    }
    let begin = Instant::now();
    while begin.elapsed() < LIMIT {
        if let Ok(bytes) = fs::read(&file) {
            ensure!(bytes.len() == 128, "{} holds no unique id", file.display());
            return Ok(ncclUniqueId { internal: std::array::from_fn(|at| bytes[at].cast_signed()) });
        }
        sleep(Duration::from_millis(10));
    }
    bail!("rank 0 has written no unique id into {}", file.display())
}
