//! The `hangscope` command.

mod view;

fn main() {}
