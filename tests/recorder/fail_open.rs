//! A recording that the kernel refuses never stops or changes the session: it is said once, and
//! what is missing is stated exactly.

pub mod echo;
mod fail_open_folder;
mod file_in_use;
#[cfg(target_os = "linux")]
pub mod indexer_process;
mod limits;
#[cfg(all(feature = "long-tests", target_os = "linux"))]
mod small_disk;
