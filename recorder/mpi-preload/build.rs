//! The preloaded library is never unloaded: threads and fork handlers run in it as long as the process lives.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
