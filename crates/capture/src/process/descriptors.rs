//! Descriptors that we were given beside the three standard ones.
//!
//! They are the server's: it inherits them. Kept open by us as well, they would hide from the host
//! that the server has closed its own.

use std::os::fd::RawFd;

/// The descriptors above 2 that are open now. To be asked before we open any ourselves.
pub fn inherited() -> Vec<RawFd> {
    let dir = if cfg!(target_os = "linux") {
        "/proc/self/fd"
    } else {
        "/dev/fd"
    };
    let Ok(entries) = std::fs::read_dir(dir) else {
        return Vec::new();
    };
    let numbers: Vec<RawFd> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|number| *number > 2)
        .collect();
    // The listing was read through a descriptor that is closed by now.
    let is_open = |number: &RawFd| std::fs::metadata(format!("{dir}/{number}")).is_ok();
    numbers.into_iter().filter(is_open).collect()
}

/// Closes our copies of what [`inherited`] listed, once the server has its own.
pub fn release(descriptors: Vec<RawFd>) {
    for descriptor in descriptors {
        // Nothing of ours has these numbers: they were taken before we opened anything.
        let _ = nix::unistd::close(descriptor);
    }
}
