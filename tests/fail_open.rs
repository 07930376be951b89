//! A recording that the kernel refuses never stops or changes the session: it is said once, and
//! what is missing is stated exactly.

mod support;

#[path = "fail_open/echo.rs"]
mod echo;
#[path = "fail_open/file_in_use.rs"]
mod file_in_use;
#[path = "fail_open/folder.rs"]
mod folder;
#[path = "fail_open/limits.rs"]
mod limits;
#[cfg(all(feature = "long-tests", target_os = "linux"))]
#[path = "fail_open/small_disk.rs"]
mod small_disk;
