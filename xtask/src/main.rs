//! Set-up, web build, run and test.
fn main() {}
