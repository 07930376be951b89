//! A host: it writes in pieces to whatever runs, and keeps all that comes back.

use super::pieces::Pieces;
use super::{Library, peer};
use std::io::Read;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// A running session, its outputs being read.
pub struct Session {
    pub child: Child,
    /// `None` once the host has closed it.
    pub stdin: Option<ChildStdin>,
    pub out: Collected,
    pub err: Collected,
}

/// What came of it.
#[derive(Debug)]
pub struct Received {
    pub status: ExitStatus,
    pub out: Vec<u8>,
    pub err: Vec<u8>,
}

impl Session {
    /// Starts `command`, which has pipes on all three streams.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.spawn().expect("the program starts");
        let out = Collected::from(child.stdout.take().expect("stdout is a pipe"));
        let err = Collected::from(child.stderr.take().expect("stderr is a pipe"));
        Self {
            stdin: child.stdin.take(),
            child,
            out,
            err,
        }
    }

    /// Writes to the server.
    pub fn send(&self, pieces: &Pieces) {
        let stdin = self.stdin.as_ref().expect("stdin is open");
        pieces.write_to(stdin).expect("the other side reads");
    }

    /// Closes the input and waits for the end.
    pub fn end(mut self) -> Received {
        drop(self.stdin.take());
        self.wait()
    }

    /// Waits for the end.
    pub fn wait(mut self) -> Received {
        let (out, err) = (self.out.whole(), self.err.whole());
        Received {
            status: self.child.wait().expect("the child is ours"),
            out,
            err,
        }
    }
}

/// What comes out of a pipe, while it comes.
pub struct Collected {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Collected {
    /// Begins to read.
    pub fn from(mut source: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&bytes);
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(n @ 1..) = source.read(&mut buffer) {
                into.lock().expect("no thread panics").extend(&buffer[..n]);
            }
        });
        Self { bytes, reader }
    }

    /// How many bytes came so far.
    pub fn len(&self) -> usize {
        self.bytes.lock().expect("no thread panics").len()
    }

    /// What came so far.
    pub fn so_far(&self) -> Vec<u8> {
        self.bytes.lock().expect("no thread panics").clone()
    }

    /// How many lines came so far.
    pub fn lines(&self) -> usize {
        let bytes = self.bytes.lock().expect("no thread panics");
        memchr::memchr_iter(b'\n', &bytes).count()
    }

    /// Whether `part` has come.
    pub fn contains(&self, part: &[u8]) -> bool {
        let bytes = self.bytes.lock().expect("no thread panics");
        memchr::memmem::find(&bytes, part).is_some()
    }

    /// All bytes, once there are no more.
    pub fn whole(self) -> Vec<u8> {
        self.reader.join().expect("a reader does not panic");
        std::mem::take(&mut *self.bytes.lock().expect("no thread panics"))
    }
}

/// What each side writes in a session with the peer `pieces`.
#[derive(Clone, Debug, Default)]
pub struct Traffic {
    pub c2s: Pieces,
    pub s2c: Pieces,
    pub stderr: Pieces,
}

impl Traffic {
    /// The command `pieces` of the peer for this traffic, its files in `dir`.
    pub fn server(&self, dir: &Path) -> [std::ffi::OsString; 3] {
        self.s2c
            .save(&dir.join("s2c"))
            .expect("the folder can be written");
        self.stderr
            .save(&dir.join("stderr"))
            .expect("the folder can be written");
        [peer().into(), "pieces".into(), dir.into()]
    }

    /// Sends it all through the recorder and returns what the host got, and what the server got.
    pub fn through(&self, library: &Library) -> (Received, Vec<u8>) {
        let dir = tempfile::tempdir().expect("a temporary folder can be made");
        let session = Session::start(&mut library.run(self.server(dir.path())));
        session.send(&self.c2s);
        let received = session.end();
        let got = std::fs::read(dir.path().join("got")).expect("the peer has kept what it got");
        (received, got)
    }
}
