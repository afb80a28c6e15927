//! The user's browser.

use std::process::{Command, Stdio};

/// Opens `url` in the user's browser, if there is a screen to show it on. Whether one opened cannot be known.
pub(super) fn open(url: &str) {
    let Some(mut command) = opener() else { return };
    // The address is printed in any case, so a browser that does not start is no error.
    let _ = command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
}

/// Whether this is a session without a screen on a machine that the user reached by ssh.
pub(super) fn is_remote() -> bool {
    std::env::var_os("SSH_CONNECTION").is_some() && opener().is_none()
}

fn opener() -> Option<Command> {
    if cfg!(target_os = "macos") {
        return Some(Command::new("open"));
    }
    if cfg!(windows) {
        let mut command = Command::new("rundll32");
        command.arg("url.dll,FileProtocolHandler");
        return Some(command);
    }
    let has_display =
        ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some_and(|it| !it.is_empty()));
    has_display.then(|| Command::new("xdg-open"))
}
