//! Who asked for what, where: the start event.

use mcpreel_trace::event::{ProcessContext, ProcessName};
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
        recorder_pid: std::process::id(),
        host: name_of(std::os::unix::process::parent_id()),
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

// Looking at other processes. Complete on Linux (`/proc`); elsewhere what cannot be had is left
// out.

/// The name and command line of process `pid`; empty where they cannot be had.
pub fn name_of(pid: u32) -> ProcessName {
    let read = |file: &str| std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let name = String::from_utf8_lossy(&read("comm")).trim_end().to_owned();
    let command = read("cmdline")
        .split_inclusive(|byte| *byte == 0)
        .map(|word| String::from_utf8_lossy(word.strip_suffix(&[0]).unwrap_or(word)).into_owned())
        .collect();
    ProcessName { pid, name, command }
}

/// Signals as a set of bits, as `/proc/PID/status` writes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignalSet(u64);

impl SignalSet {
    /// Whether signal number `signal` is in the set.
    pub fn contains(self, signal: i32) -> bool {
        (1..=64).contains(&signal) && self.0 >> (signal - 1) & 1 == 1
    }

    pub fn without(self, signal: i32) -> Self {
        Self(self.0 & !(1 << (signal - 1)))
    }
}

/// The signals that process `pid` (`self` for our own) ignores and catches, in this order.
/// `None` where that cannot be had.
pub fn dispositions(pid: &str) -> Option<(SignalSet, SignalSet)> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let set = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key))?;
        u64::from_str_radix(line.trim(), 16).ok().map(SignalSet)
    };
    Some((set("SigIgn:")?, set("SigCgt:")?))
}

/// Other processes that hold one of the pipes with these inode numbers open.
pub fn holders(inodes: &[u64]) -> Vec<ProcessName> {
    let links: Vec<String> = inodes
        .iter()
        .map(|inode| format!("pipe:[{inode}]"))
        .collect();
    let own = std::process::id();
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| *pid != own && holds_one_of(*pid, &links))
        .map(name_of)
        .collect()
}

fn holds_one_of(pid: u32, links: &[String]) -> bool {
    let Ok(descriptors) = std::fs::read_dir(format!("/proc/{pid}/fd")) else {
        return false;
    };
    descriptors.flatten().any(|entry| {
        std::fs::read_link(entry.path())
            .is_ok_and(|target| links.iter().any(|link| target == Path::new(link)))
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_process_is_known_by_name_and_command_line() {
        let own = name_of(std::process::id());
        let args: Vec<String> = std::env::args().collect();
        assert_eq!(own.command, args);
        assert!(!own.name.is_empty());
    }

    #[test]
    fn the_holder_of_a_pipe_is_found() {
        let (reader, writer) = std::io::pipe().unwrap();
        let inode = nix::sys::stat::fstat(reader.as_fd()).unwrap().st_ino;
        let mut child = std::process::Command::new("cat")
            .stdin(reader)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let found = holders(&[inode]);
        assert_eq!(
            found.iter().map(|p| p.pid).collect::<Vec<_>>(),
            [child.id()]
        );
        drop(writer);
        child.wait().unwrap();
    }
}
