//! The `hangscope` command.
fn main() {}
