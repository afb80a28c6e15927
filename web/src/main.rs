//! The hangscope page.
fn main() {}
