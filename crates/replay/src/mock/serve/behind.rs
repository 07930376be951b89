//! The process behind us that requests are passed to.

use super::{Notice, lines, start};
use lines::{Line, Lines};
use mcpreel_capture::process::ending::wait_without_reaping;
use mcpreel_capture::process::spawn::{ServerEnds, SpawnError, spawn};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// Writes that wait while it does not read.
const WRITES: usize = 64;

/// How long it has to leave after its input is closed, and again after SIGTERM.
const LEAVING: Duration = Duration::from_secs(2);

/// How often we look whether it has left.
const LOOK: Duration = Duration::from_millis(5);

pub struct Behind {
    child: Child,
    is_told: bool,
    input: Option<SyncSender<Vec<u8>>>,
}

impl Behind {
    pub fn start(command: &[OsString], notify: &SyncSender<Notice>) -> Result<Self, SpawnError> {
        let failed = |source| SpawnError::Failed {
            program: command
                .first()
                .map_or_else(String::new, |it| it.to_string_lossy().into_owned()),
            source,
        };
        let (stdin, input) = io::pipe().map_err(failed)?;
        let (output, stdout) = io::pipe().map_err(failed)?;
        let (errors, stderr) = io::pipe().map_err(failed)?;
        let ends = ServerEnds {
            stdin: stdin.into(),
            stdout: stdout.into(),
            stderr: stderr.into(),
        };
        let child = spawn(command, ends)?;
        let pid = child.id();
        let (sender, writes) = sync_channel(WRITES);
        let behind = Self {
            child,
            is_told: false,
            input: Some(sender),
        };
        start("behind-input", notify, move |_| write(input, &writes)).map_err(failed)?;
        start("behind-output", notify, move |notify| read(output, &notify)).map_err(failed)?;
        start("behind-stderr", notify, move |notify| {
            overhear(errors, &notify);
        })
        .map_err(failed)?;
        // Its output ends before it does, or long after it where it leaves processes behind.
        start("behind-reaper", notify, move |notify| {
            wait_without_reaping(pid);
            drop(notify.send(Notice::BehindExited));
        })
        .map_err(failed)?;
        Ok(behind)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, if it has and nobody was told.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        let status = self.child.try_wait().ok().flatten();
        let told = status.is_some() && std::mem::replace(&mut self.is_told, true);
        status.filter(|_| !told)
    }

    /// Passes something on. `false`: it does not read.
    pub fn pass(&mut self, bytes: Vec<u8>) -> bool {
        let input = self.input.as_ref();
        input.is_some_and(|input| input.try_send(bytes).is_ok())
    }

    /// Ends it: by closing its input, then by signals; at once if we were ended so ourselves.
    /// Returns how it ended, unless that was told before.
    pub fn end(mut self, hurry: bool) -> Option<ExitStatus> {
        self.input = None;
        // One whose end was told is reaped: its process id may be somebody else's by now.
        let has_left = self.is_told || !hurry && self.has_left();
        if !has_left && !self.signal(Signal::SIGTERM) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        self.ended()
    }

    /// Sends a signal. Returns whether it has left then.
    fn signal(&mut self, signal: Signal) -> bool {
        let pid = i32::try_from(self.child.id()).map(Pid::from_raw);
        // It may have ended just now; it was not reaped, so that nobody else has its number.
        let _ = pid.map(|pid| kill(pid, signal));
        self.has_left()
    }

    fn has_left(&mut self) -> bool {
        let looks = LEAVING.as_millis() / LOOK.as_millis();
        for _ in 0..looks {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return true;
            }
            thread::sleep(LOOK);
        }
        false
    }
}

fn write(mut input: PipeWriter, writes: &Receiver<Vec<u8>>) {
    for bytes in writes {
        if input.write_all(&bytes).is_err() {
            return;
        }
    }
}

fn read(mut output: PipeReader, notify: &SyncSender<Notice>) {
    let mut lines = Lines::default();
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = output.read(&mut buffer) {
        let mut rest = &buffer[..count];
        while let Some((line, after)) = lines.push(rest) {
            rest = after;
            if let Line::Whole(line) = line
                && notify.send(Notice::Behind(line)).is_err()
            {
                return;
            }
        }
    }
    drop(notify.send(Notice::BehindSilent));
}

fn overhear(mut errors: PipeReader, notify: &SyncSender<Notice>) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = errors.read(&mut buffer) {
        if notify
            .send(Notice::BehindSays(buffer[..count].to_vec()))
            .is_err()
        {
            return;
        }
    }
}
