//! When answers come.

use std::time::Duration;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Latency {
    #[default]
    None,
    /// As on record: everything with its distance from what it came after.
    Recorded,
    /// So long after their request; what belongs to it comes at once.
    Fixed(Duration),
}
