//! The `hangscope` command: walks folders, reads files on all cores, prints what the analyser says.
//!
//! Not here: analysis. It is in `hangscope-analyzer-core`, which the page runs as well.

mod analyze;
mod archive;
mod args;
mod gather;
mod pack;
mod progress;
mod record;
mod sources;
mod view;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser as _;

use args::{Arguments, Command};

/// Nothing could be analysed, or the command line makes no sense; clap ends with the same.
const NOTHING_ANALYSED: u8 = 2;

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Analyze(options) => analyze::run(&options),
        Command::Pack(options) => pack::run(&options),
        Command::View(options) => view_dumps(&options),
        Command::Record(options) => record::run(&options),
    };
    match outcome {
        Ok(status) => ExitCode::from(status),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Where standard error is gone too there is nobody left to tell.
            let _ = writeln!(io::stderr(), "hangscope: {error:#}");
            ExitCode::from(NOTHING_ANALYSED)
        }
    }
}

fn view_dumps(options: &args::View) -> anyhow::Result<u8> {
    let found = sources::find(&options.paths)?;
    let unpacked = tempfile::tempdir()?;
    let dumps = sources::on_disk(found, unpacked.path())?;
    let title = title(&options.paths);
    view::serve(view::ViewOptions { title, dumps, port: options.port, open_browser: !options.no_open })?;
    Ok(0)
}

/// What the page calls the job: the name of the folder or file, if there is one. Of `.` and `..` it is not in what was typed.
fn title(paths: &[PathBuf]) -> String {
    let [path] = paths else { return String::new() };
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    name(path).or_else(|| name(&path.canonicalize().ok()?)).unwrap_or_default()
}

/// A reader that has seen enough (`| head`) is no error.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .any(|cause| cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe))
}
