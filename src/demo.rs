//! The built-in host and server: traffic worth looking at, without anything installed.
//!
//! ```text
//!  mcpreel demo-host ──▶ mcpreel run ──▶ mcpreel demo-server
//! ```
//!
//! They are real processes that speak MCP (revision 2025-11-25) over real pipes, so that the demo
//! is recorded by the real recorder. The story: an assistant plans a trip with a weather server
//! that is helpful, slow, wrong, noisy and chatty in turn. About 15 seconds at normal speed.
//!
//! * [`server`]: the weather server; `tools`: what its tools do;
//! * [`host`]: the host that starts it and follows a script.

pub mod host;
pub mod server;
mod tools;

use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The revision of MCP that both sides speak.
pub const PROTOCOL_VERSION: &str = "2025-11-25";

/// How fast the story is told: all its pauses are divided by this.
#[derive(Clone, Copy, Debug)]
pub struct Pace(u32);

impl Pace {
    /// `speed` times as fast as the story is meant to be; zero counts as one.
    pub fn new(speed: u32) -> Self {
        Self(speed.max(1))
    }

    /// How long a pause of `millis` takes at this pace.
    pub fn of(self, millis: u64) -> Duration {
        Duration::from_millis(millis) / self.0
    }

    pub fn pause(self, millis: u64) {
        std::thread::sleep(self.of(millis));
    }
}

/// The lock of a value that stays usable although a thread panicked while it held it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One side of a JSON-RPC connection, shared by its threads: numbered requests, and who waits for
/// which answer.
pub struct Connection<'a> {
    out: Mutex<Option<Box<dyn Write + Send + 'a>>>,
    asked: Mutex<Asked>,
}

/// Requests that wait for their answers, until the other side has gone.
#[derive(Default)]
struct Asked {
    last_id: u64,
    waiting: HashMap<u64, SyncSender<Value>>,
    over: bool,
}

pub struct Pending {
    pub id: u64,
    answer: Receiver<Value>,
}

impl Pending {
    /// The response, a whole JSON-RPC object; `None` if the other side has gone.
    pub fn wait(self) -> Option<Value> {
        self.answer.recv().ok()
    }
}

impl<'a> Connection<'a> {
    /// A connection that writes to `out`. Ids count from 1.
    pub fn new(out: impl Write + Send + 'a) -> Self {
        Self {
            out: Mutex::new(Some(Box::new(out))),
            asked: Mutex::default(),
        }
    }

    pub fn request(&self, method: &str, params: &Value) -> io::Result<Pending> {
        let (sender, answer) = sync_channel(1);
        let id = {
            let mut asked = lock(&self.asked);
            asked.last_id += 1;
            let id = asked.last_id;
            if !asked.over {
                asked.waiting.insert(id, sender);
            }
            id
        };
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        Ok(Pending { id, answer })
    }

    pub fn notify(&self, method: &str, params: Option<&Value>) -> io::Result<()> {
        let mut message = json!({"jsonrpc": "2.0", "method": method});
        if let Some(params) = params {
            message["params"] = params.clone();
        }
        self.send(&message)
    }

    pub fn respond(&self, id: &Value, result: &Value) -> io::Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }

    /// Answers a request with an error.
    pub fn fail(&self, id: &Value, code: i64, message: &str) -> io::Result<()> {
        let error = json!({"code": code, "message": message});
        self.send(&json!({"jsonrpc": "2.0", "id": id, "error": error}))
    }

    /// Writes a line that is no message.
    pub fn noise(&self, line: &str) -> io::Result<()> {
        let mut guard = lock(&self.out);
        let out = guard.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        out.write_all(format!("{line}\n").as_bytes())?;
        out.flush()
    }

    pub fn close(&self) {
        *lock(&self.out) = None;
    }

    /// Hands a response to whoever waits for it.
    pub fn settle(&self, response: Value) {
        let id = response["id"].as_u64().unwrap_or_default();
        let waiting = lock(&self.asked).waiting.remove(&id);
        if let Some(waiting) = waiting {
            // Whoever cancelled no longer waits.
            let _ = waiting.try_send(response);
        }
    }

    /// The other side has gone: nobody waits any longer, now or later.
    pub fn end(&self) {
        let mut asked = lock(&self.asked);
        asked.over = true;
        asked.waiting.clear();
    }

    /// Whether the other side has gone.
    pub fn is_over(&self) -> bool {
        lock(&self.asked).over
    }

    fn send(&self, message: &Value) -> io::Result<()> {
        self.noise(&message.to_string())
    }
}
