//! A session whose three streams carry the same bytes.

use crate::support::account::{missing_bytes, split_warnings};
use crate::support::host_session::Session;
use crate::support::pieces::Pieces;
use crate::support::{Library, wait_for};
use std::process::Command;

/// Sends back what it gets, on stdout and on stderr.
pub const ECHO: [&str; 2] = ["tee", "/dev/stderr"];

/// A session with [`ECHO`].
pub struct Echo {
    session: Session,
    pub sent: Vec<u8>,
}

/// How it ended.
pub struct Ended {
    pub sent: Vec<u8>,
    /// Our own lines on stderr.
    pub warnings: Vec<String>,
}

impl Echo {
    /// Starts `run`, a recorder with [`ECHO`] as its server.
    pub fn start(run: &mut Command) -> Self {
        Self {
            session: Session::start(run),
            sent: Vec::new(),
        }
    }

    /// The recorder.
    pub fn pid(&self) -> u32 {
        self.session.child.id()
    }

    /// Sends numbered lines of about 100 bytes, and waits until all of them have come back.
    pub fn exchange(&mut self, lines: usize) {
        let from = self.sent.len();
        for n in 0..lines {
            let line = format!(
                "{{\"line\":{n},\"at\":{},\"fill\":\"{}\"}}\n",
                self.sent.len(),
                "f".repeat(60)
            );
            self.sent.extend(line.as_bytes());
        }
        self.session.send(&Pieces(vec![self.sent[from..].to_vec()]));
        let Session { out, err, .. } = &self.session;
        wait_for("the echo", || {
            (out.len().min(err.len()) >= self.sent.len()).then_some(())
        });
    }

    /// Whether a line of our own has come.
    pub fn is_warned(&self) -> bool {
        self.session.err.contains(b"mcpreel: ")
    }

    /// Ends the session, and fails unless every byte came back on both streams.
    pub fn end(self) -> Ended {
        let received = self.session.end();
        assert!(received.status.success(), "{}", received.status);
        assert!(received.out == self.sent, "what came from stdout");
        let (warnings, stderr) = split_warnings(&received.err);
        assert!(stderr == self.sent, "what came from stderr");
        Ended {
            sent: self.sent,
            warnings,
        }
    }
}

impl Ended {
    /// Fails unless the recording says exactly what it lacks; returns how much that is, by stream.
    pub fn missing(&self, library: &Library) -> [usize; 3] {
        // Where its file was damaged, or there is no spool any more, readers do not wait for the
        // indexer, which on a busy machine has little time.
        wait_for("a complete recording", || {
            let shown = library
                .mcpreel("show")
                .args(["@", "--json"])
                .output()
                .ok()?;
            let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).ok()?;
            ["complete", "recovered"]
                .contains(&shown["state"].as_str()?)
                .then_some(())
        });
        ["c2s", "s2c", "stderr"].map(|stream| missing_bytes(library, stream, &self.sent))
    }

    /// Fails unless exactly one line was said, with all of `words` in it.
    pub fn assert_one_warning(&self, words: &[&str]) {
        assert_eq!(self.warnings.len(), 1, "{:?}", self.warnings);
        for word in words {
            assert!(self.warnings[0].contains(word), "{:?}", self.warnings);
        }
    }
}
