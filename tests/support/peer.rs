//! Servers and hosts that misbehave on purpose.
fn main() {}
