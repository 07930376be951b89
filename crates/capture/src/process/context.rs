//! Who asked for what, where: the start event.

use super::inspect;
use mcpreel_trace::event::ProcessContext;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where the C library searches when `PATH` is unset.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// The context of this process, for `command`. The fields that the caller knows better
/// (recording, name, origin) are left empty.
pub fn of(command: &[OsString], wall_ns: u64) -> ProcessContext {
    let mut env_names: Vec<String> = std::env::vars_os().map(|(name, _)| lossy(&name)).collect();
    env_names.sort();
    ProcessContext {
        wall_ns,
        transport: "stdio".into(),
        argv: command.iter().map(|word| lossy(word)).collect(),
        executable: command
            .first()
            .and_then(|p| resolve(p))
            .map(|p| lossy(p.as_os_str())),
        cwd: std::env::current_dir()
            .ok()
            .map(|dir| lossy(dir.as_os_str())),
        path: std::env::var_os("PATH").map(|path| lossy(&path)),
        env_names,
        pid: std::process::id(),
        host: inspect::name_of(std::os::unix::process::parent_id()),
        mcpreel: env!("CARGO_PKG_VERSION").into(),
        ..ProcessContext::default()
    }
}

/// The executable file that `program` stands for: itself if it has a slash, else the first in
/// `PATH`.
pub fn resolve(program: &OsStr) -> Option<PathBuf> {
    if program.as_encoded_bytes().contains(&b'/') {
        return std::path::absolute(program)
            .ok()
            .filter(|path| is_executable(path));
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
    std::env::split_paths(&path)
        .map(|dir| dir.join(program))
        .find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

fn lossy(text: &OsStr) -> String {
    text.to_string_lossy().into_owned()
}
