//! A server, with nothing, a plain relay, or the recorder between it and us.

use crate::traffic::{self, Order};
use crate::{Setup, machine, peer};
use anyhow::{Context, ensure};
use mcpreel_trace::clock::wall_clock_ns;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// What stands between client and server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arm {
    /// Nothing.
    Direct,
    /// `cat` in either direction.
    Cat,
    /// The same, and what the server says is also written to a file: the least that a recorder does.
    Copy,
    /// `mcpreel run`.
    Recorder,
}

/// A running server and our ends of its pipes.
pub struct Session {
    to_server: Option<ChildStdin>,
    from_server: ChildStdout,
    /// The process that we are connected to comes first.
    processes: Vec<Child>,
    buffer: Vec<u8>,
}

impl Session {
    /// Starts a server behind `arm`.
    pub fn start(arm: Arm, setup: &Setup) -> anyhow::Result<Self> {
        let server = std::env::current_exe()?;
        let mut command = Command::new(&server);
        command.arg(peer::ARGUMENT);
        match arm {
            Arm::Direct => Self::around(vec![piped(&mut command).spawn()?]),
            Arm::Cat => Self::between(command, &mut Command::new("cat")),
            Arm::Copy => {
                let mut copy = Command::new(&server);
                copy.arg(peer::COPY).arg(setup.dir.join("copy"));
                Self::between(command, &mut copy)
            }
            Arm::Recorder => {
                let mut recorder = Command::new(env!("CARGO_BIN_EXE_mcpreel"));
                recorder.arg("run").arg("--dir").arg(&setup.dir).arg("--");
                recorder.arg(&server).arg(peer::ARGUMENT);
                Self::around(vec![piped(&mut recorder).spawn()?])
            }
        }
    }

    /// Puts `cat` in front of the server, and `back` behind it.
    fn between(mut server: Command, back: &mut Command) -> anyhow::Result<Self> {
        let mut there = piped(&mut Command::new("cat")).spawn()?;
        let to_server = there.stdin.take();
        let from_there = there.stdout.take().context("piped")?;
        let mut server = piped(&mut server).stdin(from_there).spawn()?;
        let from_server = server.stdout.take().context("piped")?;
        let mut back = piped(back).stdin(from_server).spawn()?;
        back.stdin = to_server;
        Self::around(vec![back, there, server])
    }

    fn around(mut processes: Vec<Child>) -> anyhow::Result<Self> {
        let first = processes.first_mut().context("there is a process")?;
        Ok(Self {
            to_server: first.stdin.take(),
            from_server: first.stdout.take().context("piped")?,
            processes,
            buffer: vec![0; 256 * 1024],
        })
    }

    /// Opens the session as MCP wants it.
    pub fn open(arm: Arm, setup: &Setup) -> anyhow::Result<Self> {
        let mut session = Self::start(arm, setup)?;
        session.initialize()?;
        session.send(&traffic::initialized())?;
        Ok(session)
    }

    /// Sends `initialize` and waits for the answer.
    pub fn initialize(&mut self) -> anyhow::Result<()> {
        self.send(&traffic::initialize())?;
        self.receive(traffic::initialized_result().len())
    }

    /// The process that we are connected to: the recorder, where there is one.
    pub fn pid(&self) -> u32 {
        self.processes[0].id()
    }

    /// Waits until the process that we are connected to, and its indexer, have nothing left to do.
    pub fn wait_until_quiet(&self) -> anyhow::Result<()> {
        machine::wait_until_quiet(self.pid())?;
        machine::indexer_of(self.pid()).map_or(Ok(()), machine::wait_until_quiet)
    }

    /// Sends bytes to the server.
    pub fn send(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.to_server
            .as_mut()
            .context("the session is open")?
            .write_all(bytes)?;
        Ok(())
    }

    /// Receives exactly so many bytes.
    pub fn receive(&mut self, mut bytes: usize) -> anyhow::Result<()> {
        while bytes > 0 {
            let n = self.from_server.read(&mut self.buffer)?;
            ensure!(
                n > 0 && n <= bytes,
                "the server sent something else than it was asked for"
            );
            bytes -= n;
        }
        Ok(())
    }

    /// Gives an order and receives all that comes back.
    pub fn obey(&mut self, order: &Order) -> anyhow::Result<()> {
        self.send(&order.call())?;
        self.receive(order.response_bytes())
    }

    /// Closes the server's stdin, receives the rest, and waits for the process that we are
    /// connected to. Returns how long after the server's last words it had ended.
    pub fn close(mut self) -> anyhow::Result<Duration> {
        self.to_server = None;
        let mut rest = Vec::new();
        self.from_server.read_to_end(&mut rest)?;
        let status = self.processes[0].wait()?;
        let now = wall_clock_ns();
        ensure!(status.success(), "the session ended with {status}");
        for process in &mut self.processes[1..] {
            process.wait()?;
        }
        let ended = traffic::ended_ns(&rest).context("the server did not say farewell")?;
        Ok(Duration::from_nanos(now.saturating_sub(ended)))
    }
}

fn piped(command: &mut Command) -> &mut Command {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
}
