//! One side of a JSON-RPC connection: numbered requests, and who waits for which answer.

use super::lock;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// The sending half, shared by all threads of one side.
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
