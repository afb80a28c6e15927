//! A Rust toolchain that can compile for wasm32.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use crate::apt::{install_packages, run_quietly};

/// The one target of the page.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// Debian's Rust for its browsers, in a version that its security archive keeps current.
const DEBIAN_PACKAGES: &[&str] = &["rustc-web", "cargo-web", "rust-web-src", "rust-web-llvm", "lld-22"];

/// The lints for it, which only the tests need.
const DEBIAN_CLIPPY: &str = "rust-web-clippy";

/// The oldest Rust that the workspace builds with.
const MINIMUM_VERSION: &str = env!("CARGO_PKG_RUST_VERSION");

/// `debian` leaves rustup out, for those who want Debian's toolchain and for trying that way out.
const CHOICE: &str = "HANGSCOPE_WASM_TOOLCHAIN";

/// How far [`WasmToolchain::ensure`] may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstallPolicy {
    /// The target may be added to the toolchain by rustup: a download into the user's own folder.
    Rustup,
    /// And Debian packages may be installed, which changes the system.
    RustupAndApt,
}

/// Where the compiler for wasm32 comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WasmToolchain {
    /// The toolchain that is in use anyway; its standard library for wasm32 is there.
    Current,
    /// Debian's packages. They hold the standard library's source, and cargo compiles it on the fly.
    Debian,
}

impl WasmToolchain {
    /// A toolchain that is there already.
    pub fn find() -> Option<Self> {
        if !debian_is_chosen() && current_has_target() {
            return Some(Self::Current);
        }
        debian_is_complete().then_some(Self::Debian)
    }

    /// A toolchain, after installing what `policy` allows.
    pub fn ensure(policy: InstallPolicy) -> Result<Self> {
        if let Some(found) = Self::find() {
            return Ok(found);
        }
        if !debian_is_chosen() && add_target_by_rustup() && current_has_target() {
            return Ok(Self::Current);
        }
        let packages = DEBIAN_PACKAGES.join(" ");
        let advice = format!(
            "no Rust toolchain here can compile for {TARGET}. Either `rustup target add {TARGET}` (needs the network), \
             or on Debian, as root: apt-get install {packages} (Rust {MINIMUM_VERSION} or newer, from the security archive)"
        );
        if policy == InstallPolicy::Rustup {
            bail!("{advice}; `cargo xtask setup` does either");
        }
        install_packages(DEBIAN_PACKAGES).with_context(|| advice.clone())?;
        Self::find().context(advice)
    }

    /// In words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Current => "the current Rust toolchain",
            Self::Debian => "Debian's Rust (package rustc-web)",
        }
    }

    /// `cargo clippy` for the page, installed if it is missing: the environment is set, no further argument is given.
    pub fn clippy(self) -> Result<Command> {
        let command = || match self {
            Self::Current => {
                let mut cargo = self.cargo();
                cargo.arg("clippy");
                cargo
            }
            // Called by its path: Debian's cargo would look in the home folder first, and find rustup's.
            Self::Debian => {
                let mut clippy = Command::new(DEBIAN_CARGO_CLIPPY);
                self.set_environment(&mut clippy);
                clippy.arg("clippy");
                clippy
            }
        };
        let present = || run_quietly(command().arg("--version")).is_some();
        if !present() {
            match self {
                Self::Current => bail!("clippy is missing; `rustup component add clippy` installs it"),
                Self::Debian => install_packages(&[DEBIAN_CLIPPY])?,
            }
            ensure!(present(), "clippy does not start, though {DEBIAN_CLIPPY} is installed");
        }
        Ok(command())
    }

    /// A cargo that compiles for the page: the environment is set, no argument is given.
    pub fn cargo(self) -> Command {
        let mut command = match self {
            Self::Current => Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into())),
            Self::Debian => Command::new(DEBIAN_CARGO),
        };
        self.set_environment(&mut command);
        command
    }

    /// Gives `command`, which runs cargo in its turn, the environment that it needs.
    pub fn set_environment(self, command: &mut Command) {
        // A build script's cargo sets these for its own compiler; another build must not take them over.
        for (name, _) in env::vars_os() {
            let text = name.to_string_lossy();
            let of_outer_build = ["CARGO_CFG_", "CARGO_FEATURE_", "CARGO_PKG_", "CARGO_MANIFEST_", "DEP_"];
            if of_outer_build.iter().any(|prefix| text.starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        for name in
            ["CARGO_ENCODED_RUSTFLAGS", "RUSTC", "RUSTDOC", "RUSTC_LINKER", "RUSTC_WORKSPACE_WRAPPER", "TARGET", "HOST"]
        {
            command.env_remove(name);
        }
        if self == Self::Debian {
            command
                .env_remove("CARGO")
                .env_remove("RUSTUP_TOOLCHAIN")
                .env("PATH", path_before(Path::new("/usr/bin")))
                .env("RUSTC", DEBIAN_RUSTC)
                .env("RUSTC_BOOTSTRAP", "1")
                .env("CARGO_UNSTABLE_BUILD_STD", "std,panic_abort");
        }
    }
}

const DEBIAN_CARGO: &str = "/usr/bin/cargo";
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_CARGO_CLIPPY: &str = "/usr/bin/cargo-clippy";

fn debian_is_chosen() -> bool {
    env::var(CHOICE).is_ok_and(|choice| choice == "debian")
}

fn current_has_target() -> bool {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let Some(folder) = run_quietly(Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET])) else {
        return false;
    };
    fs::read_dir(folder.trim()).is_ok_and(|mut entries| {
        entries.any(|entry| entry.is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with("libstd-")))
    })
}

fn debian_is_complete() -> bool {
    let Some(version) = run_quietly(Command::new(DEBIAN_RUSTC).arg("--version").env_remove("RUSTUP_TOOLCHAIN")) else {
        return false;
    };
    let Some(sysroot) = run_quietly(Command::new(DEBIAN_RUSTC).args(["--print", "sysroot"])) else {
        return false;
    };
    is_new_enough(&version)
        && Path::new(DEBIAN_CARGO).exists()
        && Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/Cargo.toml").exists()
        && Path::new("/usr/bin/rust-lld").exists()
}

/// `version` is what `rustc --version` prints.
fn is_new_enough(version: &str) -> bool {
    fn numbers(version: &str) -> Option<(u32, u32)> {
        let mut parts = version.split('.');
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    }
    let found = version.split_whitespace().nth(1).and_then(numbers);
    found.is_some_and(|found| Some(found) >= numbers(MINIMUM_VERSION))
}

/// Whether it worked. In a closed network it cannot, and must not hold up the other way for long.
fn add_target_by_rustup() -> bool {
    if run_quietly(Command::new("rustup").arg("--version")).is_none() {
        return false;
    }
    eprintln!("Adding the target {TARGET} by rustup");
    let child = Command::new("rustup")
        .args(["target", "add", TARGET])
        .env("RUSTUP_MAX_RETRIES", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        // It would tell of its failure in thirty lines, though there is another way.
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else { return false };
    let deadline = Instant::now() + Duration::from_secs(180);
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return true,
            Ok(Some(_)) => {
                eprintln!("rustup could not add it; is its server out of reach?");
                return false;
            }
            Ok(None) if Instant::now() < deadline => sleep(Duration::from_millis(200)),
            _ => {
                // Best effort: it may have ended this very moment.
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}

fn path_before(folder: &Path) -> OsString {
    let rest = env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(PathBuf::from(folder)).chain(env::split_paths(&rest).filter(|other| other != folder));
    // Only a folder with a colon in its name can fail, and what came out of PATH has none.
    env::join_paths(folders).unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_versions_by_number() {
        for (version, expected) in [
            ("rustc 1.95.0 (59807616e 2026-04-14)", true),
            ("rustc 1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)", true),
            ("rustc 1.100.0-nightly", true),
            ("rustc 2.0.0", true),
            ("rustc 1.85.0", false),
            ("rustc 1.9.0", false),
            ("rustc", false),
            ("", false),
        ] {
            assert_eq!(is_new_enough(version), expected, "{version}");
        }
    }
}
