//! The page as a folder of static files.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use hangscope_web_build::{Dist, InstallPolicy, WasmToolchain, build_page, fingerprint};

use crate::step::step;

/// The page's module has fewer bytes than this, as it is…
const MOST_BYTES: usize = 1_450_000;
/// …and as a server sends it.
const MOST_BYTES_GZIP: usize = 500_000;

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

/// Fails if the page's module is larger than the page promises, as it is or as a server sends it.
pub(crate) fn check_sizes(dist: &Dist) -> Result<()> {
    let modules: Vec<_> = dist.files()?.into_iter().filter(|file| file.name.ends_with(".wasm")).collect();
    ensure!(modules.len() == 1, "a page has one wasm module, and this one has {}", modules.len());
    for file in modules {
        let content = fs::read(&file.path).with_context(|| format!("failed to read {}", file.path.display()))?;
        let compressed = gzip_size_bytes(&content)?;
        within_limits(content.len(), compressed).with_context(|| format!("{} is too large", file.name))?;
    }
    Ok(())
}

fn within_limits(size: usize, compressed: usize) -> Result<()> {
    ensure!(size < MOST_BYTES, "it has {size} bytes, and {MOST_BYTES} are too many");
    ensure!(compressed < MOST_BYTES_GZIP, "by gzip it has {compressed} bytes, and {MOST_BYTES_GZIP} are too many");
    Ok(())
}

fn gzip_size_bytes(content: &[u8]) -> Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content)?;
    Ok(encoder.finish()?.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_over_either_limit_is_refused() {
        assert!(within_limits(MOST_BYTES - 1, MOST_BYTES_GZIP - 1).is_ok());
        assert!(within_limits(MOST_BYTES, 1).is_err());
        assert!(within_limits(1, MOST_BYTES_GZIP).is_err());
    }

    #[test]
    fn the_limits_are_asked_of_the_module() {
        let folder = tempfile::tempdir().unwrap();
        let page = |wasm: Vec<u8>| {
            let files = [("index.html", Vec::new()), ("a_bg-1.wasm", wasm), ("b.js", vec![0; MOST_BYTES])];
            let files = files.into_iter().map(|(name, content)| (name.to_owned(), content)).collect();
            check_sizes(&Dist::write(folder.path(), &files, "sources").unwrap())
        };
        assert!(page(vec![0; MOST_BYTES - 1]).is_ok());
        assert!(page(vec![0; MOST_BYTES]).is_err());
    }
}
