//! What happened to the process or to the recording itself.

use super::clock::Moment;
use super::frame::{Seq, StreamId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The default of `slow`: a second, after which a person who waits begins to wonder.
pub const DEFAULT_SLOW_NS: u64 = 1_000_000_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub t: Moment,
    /// The last frame that was complete before it.
    pub after_seq: Seq,
    pub kind: EventKind,
}

/// The kinds of events; as JSON an object with `kind` in kebab case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum EventKind {
    /// The recorder started: who asked for what, where.
    Start(Box<ProcessContext>),
    Spawned {
        pid: u32,
    },
    /// The server could not be started.
    SpawnFailed {
        /// The exit code that mcpreel ends with: 127, 126 or 125.
        exit_code: u8,
        message: String,
        /// Where its command was looked for and not found.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        searched: Option<String>,
    },
    Eof {
        stream: StreamId,
        by: Closer,
    },
    /// A write has been hanging for 100 ms: the reader of this stream does not read.
    StallBegan {
        stream: StreamId,
        bytes: u64,
    },
    StallEnded {
        stream: StreamId,
        lasted_ns: u64,
    },
    /// Bytes that were read but that the other side refused.
    Undelivered {
        stream: StreamId,
        /// How many at most: of a write that still hangs, nobody says how much was taken.
        bytes: u64,
    },
    Signal {
        /// Its name, for example `SIGTERM`.
        signal: String,
        /// The sender's process id, where known.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        sender: Option<u32>,
        passed: Passed,
    },
    Exit {
        /// Its exit code, absent if a signal ended it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        code: Option<i32>,
        /// The name of the signal that ended it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        signal: Option<String>,
        /// Peak resident memory, bytes; 0, like the times, where nobody measured: no process has
        /// none.
        #[serde(default)]
        max_rss_bytes: u64,
        /// CPU time in user mode, nanoseconds.
        #[serde(default)]
        user_ns: u64,
        /// CPU time in the kernel, nanoseconds.
        #[serde(default)]
        system_ns: u64,
    },
    /// Processes that still hold one of the server's pipes after it ended.
    Survivors {
        processes: Vec<ProcessName>,
    },
    /// The proxy accepts connections.
    Listening {
        /// The URL that a host has to use.
        url: String,
        /// The URL of the server behind it.
        upstream: String,
    },
    /// A client has connected, and its own connection to the server stands.
    Connected {
        connection: u32,
        /// The addresses of the client and of the server.
        client: String,
        server: String,
        /// How long the name took to be resolved, nanoseconds.
        name_ns: u64,
        /// How long the connection to the server took after that, nanoseconds.
        tcp_ns: u64,
        /// How long TLS took after that, nanoseconds; none where there is none.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        tls_ns: Option<u64>,
    },
    /// A client has connected, and the server could not be reached for it: the recorder answered.
    Unreachable {
        connection: u32,
        client: String,
        step: Step,
        /// The reason, one sentence.
        message: String,
    },
    /// The recorder itself refused what a client sent, and answered so.
    Refused {
        connection: u32,
        client: String,
        message: String,
    },
    /// The recorder passed on something else than it had read.
    Edited {
        stream: StreamId,
        /// The place in the stream of what was read.
        offset: u64,
        /// The name of the header, or `endpoint`.
        what: String,
        /// What was read; empty where it was added.
        old: String,
        /// What was passed on; empty where it was left out.
        new: String,
    },
    /// Both ways of a connection have ended.
    Disconnected {
        connection: u32,
        by: Party,
        /// Whether it was reset, instead of being closed.
        reset: bool,
        /// Bytes of both ways, from the client first, as they are counted on record.
        bytes: [u64; 2],
    },
    /// Bytes that were forwarded but are not on record.
    Gap {
        stream: StreamId,
        /// Where in the stream they begin.
        offset: u64,
        bytes: u64,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<String>,
    },
    /// Something that the user should know about the recording, one sentence.
    Warning {
        message: String,
    },
    /// The next line of a stream is not on record as it went over the wire: the log that the
    /// recording was made from has only a part of it.
    Shortened {
        stream: StreamId,
        /// The reason why it is shortened, one sentence.
        message: String,
    },
    /// Nobody knows when anything happened: everything stands at 0.
    Untimed {
        message: String,
    },
    /// Lines are missing here, of whatever stream: the log that the recording was made from does
    /// not have them.
    Skipped {
        lines: u64,
        /// How that is known, one sentence.
        message: String,
    },
    /// A line of the host's own log, in a recording that was imported from that log.
    HostLog {
        /// The level, in the log's own word.
        level: String,
        message: String,
    },
    /// The recording was copied here, while its session went on.
    Copied,
    /// The recording was completed from its spool after the recorder had gone.
    Recovered {
        /// All that it had then.
        frames: u64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Closer {
    Writer,
    Reader,
}

/// The steps of connecting to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    Name,
    Tcp,
    /// The handshake of TLS, but for the certificate.
    Tls,
    /// Whether somebody who is trusted has signed the certificate.
    CertificateTrust,
    /// Whether the certificate is for this name.
    CertificateName,
    /// Whether the certificate is valid at this time.
    CertificateTime,
}

/// Who ended a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Party {
    Client,
    Server,
    Recorder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Passed {
    /// The server has it already: it came from the terminal, or the server ended in time.
    NotNeeded,
    /// Passed on to the server, which had not had it.
    Once,
    /// Passed on to the server, which may have had it before as a member of the process group.
    PerhapsTwice,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessName {
    /// Its process id, 0 where it is not known.
    pub pid: u32,
    /// Its name, empty where it cannot be had.
    pub name: String,
    /// Its command line, empty where it cannot be had.
    pub command: Vec<String>,
}

/// The process that was started: command, folder, host. Unknown fields are empty, absent or 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessContext {
    /// The id of the recording, eight hex digits.
    pub recording: String,
    /// The name given with `--name`, else the command's.
    pub name: String,
    /// The command that made the recording: `live`, `demo`, `replay`, `minimised`, `mock` or `import`.
    pub origin: String,
    /// The id of the recording that this one was made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The id of the recording of the other side, where mcpreel stood between a host on pipes and a
    /// server with a URL: one has what passed on pipes, the other what went over the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_side: Option<String>,
    /// Whether it is a copy of a recording in another folder, which may have been anybody's.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub from_elsewhere: bool,
    /// Of a replay: the file that was played, where that is no recording that stays. The id of a
    /// cassette is made of all that it says, so it is not told here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub played: Option<String>,
    /// Wall clock of t = 0, nanoseconds since the Unix epoch; 0 where it is not known.
    pub wall_ns: u64,
    pub transport: String,
    /// The URL of the server, where it was reached over the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The command and its arguments. Words that are no UTF-8 are shown with U+FFFD.
    pub argv: Vec<String>,
    /// The executable that was found, absent if none was.
    pub executable: Option<String>,
    pub cwd: Option<String>,
    pub path: Option<String>,
    /// The names of the environment variables, sorted; never their values.
    pub env_names: Vec<String>,
    /// The process id of the recorder; that of the server is in `spawned`.
    pub recorder_pid: u32,
    pub host: ProcessName,
    /// Whether the recorder's stdout and stderr were one file: then the server wrote both on one pipe,
    /// which is recorded as stdout.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stderr_in_stdout: bool,
    pub mcpreel: String,
    /// Nanoseconds; an answer that takes longer is slow. [`DEFAULT_SLOW_NS`] where it is not said.
    pub slow_ns: Option<u64>,
    /// Of a replay: those of the tools it calls that only read, by the recording that was played.
    /// The list that says so may have been left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read_only_tools: Vec<String>,
    /// The selection from the original recording, where this one is only a part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection: Option<SelectionNote>,
    /// The redaction of the original recording, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redaction: Option<String>,
}

impl ProcessContext {
    /// The URL that `run --url` connected the host to, where this is the recording of the host's side: its
    /// command is mcpreel itself.
    pub fn bridged_url(&self) -> Option<&str> {
        let is_bridge = self.url.is_none() && self.argv.get(1..3)? == ["proxy", "--stdio"];
        self.argv.last().filter(|_| is_bridge).map(String::as_str)
    }
}

// A recording that holds a part of another one.

/// How a selection was asked for, so that whoever reads what was written knows that it is not all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SelectionNote {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
}

impl fmt::Display for SelectionNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let query = self.query.as_ref().map(|query| format!("-q {query}"));
        let from = self.from.map(|from| format!("from #{from}"));
        let to = self.to.map(|to| format!("to #{to}"));
        let parts: Vec<_> = [query, from, to].into_iter().flatten().collect();
        f.write_str(&parts.join(", "))
    }
}
