//! Starting the server.

use super::context;
use mcpreel_trace::event::EventKind;
use std::ffi::OsString;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Why the server could not be started; the text is one helpful line.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    #[error("{program}: command not found{hint}")]
    NotFound {
        program: String,
        /// Where it was looked for.
        searched: String,
        /// A likely mistake, where there is one.
        hint: &'static str,
    },
    /// The file is there, but what is to run it is not.
    #[error(
        "{program}: found at {executable}, but what its first line names does not exist: {interpreter}"
    )]
    NoInterpreter {
        program: String,
        executable: String,
        interpreter: String,
    },
    /// It may not be executed, or is no program.
    #[error("{program}: cannot be executed: {source}{hint}")]
    NotExecutable {
        program: String,
        source: io::Error,
        /// The way out, where it is known.
        hint: String,
    },
    #[error("could not start {program}: {source}")]
    Failed { program: String, source: io::Error },
}

impl SpawnError {
    /// The exit code that shells use for it: 127, 126, or 125 for our own failures.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::NotFound { .. } | Self::NoInterpreter { .. } => 127,
            Self::NotExecutable { .. } => 126,
            Self::Failed { .. } => 125,
        }
    }

    /// The line for the user, which also says where the command was looked for.
    pub fn line(&self) -> String {
        match self {
            Self::NotFound { searched, .. } => format!("{self} (searched {searched})"),
            _ => self.to_string(),
        }
    }

    /// The event that puts it on record.
    pub fn event(&self) -> EventKind {
        let searched = match self {
            Self::NotFound { searched, .. } => Some(searched.clone()),
            _ => None,
        };
        EventKind::SpawnFailed {
            exit_code: self.exit_code(),
            message: self.to_string(),
            searched,
        }
    }
}

/// The server's side of its pipes. Where it is to have one pipe for stdout and stderr, both are
/// descriptors of that one.
#[derive(Debug)]
pub struct ServerEnds {
    pub stdin: OwnedFd,
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
}

/// Starts `command` with `ends` as its standard streams, in our process group, environment and
/// working directory untouched. It must be called by a thread that lives to the end: on Linux the
/// server is killed when that thread goes, so that killing us leaves no server behind.
pub fn spawn(command: &[OsString], ends: ServerEnds) -> Result<Child, SpawnError> {
    spawn_in(None, command, ends)
}

/// The same with another working directory.
pub fn spawn_in(
    dir: Option<&Path>,
    command: &[OsString],
    ends: ServerEnds,
) -> Result<Child, SpawnError> {
    let program = command
        .first()
        .map_or_else(String::new, |p| p.to_string_lossy().into_owned());
    let mut server = Command::new(
        command
            .first()
            .map_or_else(Default::default, OsString::clone),
    );
    server
        .args(command.iter().skip(1))
        .stdin(Stdio::from(ends.stdin))
        .stdout(Stdio::from(ends.stdout))
        .stderr(Stdio::from(ends.stderr));
    if let Some(dir) = dir {
        server.current_dir(dir);
    }
    die_with_us(&mut server);
    server
        .spawn()
        .map_err(|source| explain(command, program, source))
}

fn explain(command: &[OsString], program: String, source: io::Error) -> SpawnError {
    use nix::libc::{EACCES, EISDIR, ELIBBAD, ENOEXEC, ENOTDIR, ETXTBSY};
    let executable = command.first().and_then(|p| context::resolve(p));
    match (source.raw_os_error(), executable) {
        (_, Some(path)) if source.kind() == io::ErrorKind::NotFound => SpawnError::NoInterpreter {
            program,
            interpreter: first_line(&path),
            executable: path.display().to_string(),
        },
        (_, None) if source.kind() == io::ErrorKind::NotFound => {
            let searched = searched(&program);
            let hint = if program.contains(' ') {
                "; it is one word with spaces in it: each word of a command is a word of its own"
            } else {
                ""
            };
            SpawnError::NotFound {
                program,
                searched,
                hint,
            }
        }
        (Some(EACCES | EISDIR | ELIBBAD | ENOEXEC | ENOTDIR | ETXTBSY), _) => {
            let hint = why_not_executable(&program);
            SpawnError::NotExecutable {
                program,
                source,
                hint,
            }
        }
        _ => SpawnError::Failed { program, source },
    }
}

/// The first line of a script, escaped, and what is often wrong with it.
fn first_line(path: &Path) -> String {
    let mut start = [0; 128];
    let read = std::fs::File::open(path)
        .and_then(|mut file| file.read(&mut start))
        .unwrap_or(0);
    let line = start[..read]
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let shown = line.strip_suffix(b"\r").unwrap_or(line).escape_ascii();
    let note = if line.ends_with(b"\r") {
        " (it ends with a Windows line ending)"
    } else {
        ""
    };
    format!("{shown}{note}")
}

fn why_not_executable(program: &str) -> String {
    match std::fs::metadata(program) {
        Ok(file) if file.is_dir() => String::from("; it is a folder"),
        Ok(file) if file.permissions().mode() & 0o111 == 0 => {
            format!("; it has no execute permission: chmod +x {program}")
        }
        _ => String::new(),
    }
}

fn searched(program: &str) -> String {
    if program.contains('/') {
        let cwd = std::env::current_dir().map_or_else(|_| "?".into(), |d| d.display().to_string());
        return format!("as a path, from {cwd}");
    }
    match std::env::var("PATH") {
        Ok(path) if path.is_empty() => String::from("PATH, which is empty"),
        Ok(path) => format!("PATH={path}"),
        Err(_) => String::from("the default directories; PATH is not set"),
    }
}

/// If we are killed so that we cannot do anything any more, the server is killed too (Linux).
fn die_with_us(server: &mut Command) {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::process::CommandExt;
        let our_pid = std::process::id();
        let arm = move || {
            nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL)?;
            // Killed between fork and here, we would not be the parent any more.
            if std::os::unix::process::parent_id() == our_pid {
                Ok(())
            } else {
                Err(io::ErrorKind::Interrupted.into())
            }
        };
        #[expect(
            unsafe_code,
            reason = "there is no other way to run code between fork and exec"
        )]
        // SAFETY: `arm` only makes two system calls (prctl, getppid) and compares numbers: it
        // allocates nothing, takes no lock and touches no memory of other threads.
        unsafe {
            server.pre_exec(arm);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = server;
}
