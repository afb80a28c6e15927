//! Builds the hangscope page into a folder of static files.
//!
//! It finds a toolchain for wasm32, compiles `hangscope-web`, runs wasm-bindgen as a library (so that the lockfile pins
//! the tool and the crate together), gives the files names with their content's hash, and writes the folder.
//! `cargo xtask` and the build script of the command use it; it installs nothing by itself except what
//! [`WasmToolchain::ensure`] says.
//!
//! What it does not do: serve, watch or test. Trunk builds the same `index.html` for those who want that.

#![deny(missing_docs)]

mod dist;
mod fingerprint;

#[cfg(feature = "build")]
mod apt;
#[cfg(feature = "build")]
mod build;
#[cfg(feature = "build")]
mod compact;
#[cfg(feature = "build")]
mod function_order;
#[cfg(feature = "build")]
mod html;
#[cfg(feature = "build")]
mod import_names;
#[cfg(feature = "build")]
mod local_order;
#[cfg(feature = "build")]
mod page;
#[cfg(feature = "build")]
mod toolchain;

pub use dist::{Dist, DistFile};
pub use fingerprint::{SOURCES, fingerprint};

#[cfg(feature = "build")]
pub use apt::install_packages;
#[cfg(feature = "build")]
pub use build::{WASM_BINDGEN_VERSION, bindgen, build_page, target_dir};
#[cfg(feature = "build")]
pub use toolchain::{InstallPolicy, WasmToolchain};
