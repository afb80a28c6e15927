//! The page as a folder of static files.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use hangscope_web_build::{Dist, InstallPolicy, WasmToolchain, build_page, fingerprint};

use crate::step::step;

/// Builds the page into `folder`, if it is not there from the same sources already.
pub(crate) fn build(root: &Path, folder: &Path, policy: InstallPolicy) -> Result<Dist> {
    if let Some(dist) = up_to_date(root, folder)? {
        eprintln!("==> The page in {} is up to date", folder.display());
        return Ok(dist);
    }
    let toolchain = step("Look for a wasm toolchain", || WasmToolchain::ensure(policy))?;
    step("Build the page", || build_page(root, toolchain, folder))
}

fn up_to_date(root: &Path, folder: &Path) -> Result<Option<Dist>> {
    let Some(dist) = Dist::open(folder) else { return Ok(None) };
    let current = fingerprint(root).context("failed to read the page's sources")?;
    Ok((dist.built_from() == Some(current)).then_some(dist))
}

/// Prints what a browser has to load, as it is and as a server sends it.
pub(crate) fn print_sizes(dist: &Dist) -> Result<()> {
    let (mut raw_total, mut compressed_total) = (0, 0);
    let mut lines = format!("{:>12} {:>12}  file\n", "bytes", "gzip");
    for file in dist.files()? {
        let content = fs::read(&file.path).with_context(|| format!("failed to read {}", file.path.display()))?;
        let compressed = gzip_size_bytes(&content)?;
        raw_total += content.len();
        compressed_total += compressed;
        lines.push_str(&format!("{:>12} {compressed:>12}  {}\n", content.len(), file.name));
    }
    lines.push_str(&format!("{raw_total:>12} {compressed_total:>12}  in all\n"));
    io::stdout().write_all(lines.as_bytes()).context("failed to print")
}

fn gzip_size_bytes(content: &[u8]) -> Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content)?;
    Ok(encoder.finish()?.len())
}
