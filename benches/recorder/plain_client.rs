//! A client as people write one: it makes each request of a value, writes it as a line, reads line
//! by line, parses every answer, and finds in a map what it had asked.

use crate::plain_server;
use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A client and its server.
pub struct Client {
    server: Child,
    to_server: ChildStdin,
    from_server: BufReader<ChildStdout>,
    line: String,
    last_id: u64,
    /// The methods of the requests that were not answered yet.
    open: HashMap<u64, &'static str>,
}

impl Client {
    /// Starts a server and opens the session.
    pub fn start() -> anyhow::Result<Self> {
        let mut server = Command::new(std::env::current_exe()?)
            .arg(plain_server::ARGUMENT)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut client = Self {
            to_server: server.stdin.take().context("piped")?,
            from_server: BufReader::new(server.stdout.take().context("piped")?),
            server,
            line: String::new(),
            last_id: 0,
            open: HashMap::new(),
        };
        client.request("initialize", &initialize())?;
        client.receive()?;
        client.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(client)
    }

    /// Calls the tool `echo`, and does not wait for the answer.
    pub fn call(&mut self, text: &str) -> anyhow::Result<()> {
        self.request("tools/call", &echo(text))
    }

    /// How many requests were not answered yet.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// Receives an answer to something that was asked.
    pub fn receive(&mut self) -> anyhow::Result<Value> {
        self.line.clear();
        self.from_server.read_line(&mut self.line)?;
        let mut answer: Value = serde_json::from_str(&self.line)?;
        let asked = answer["id"].as_u64().and_then(|id| self.open.remove(&id));
        let method = asked.context("an answer to nothing")?;
        ensure!(answer.get("error").is_none(), "{method} failed: {answer}");
        Ok(answer["result"].take())
    }

    /// Closes the server's input, and waits for it to end.
    pub fn close(mut self) -> anyhow::Result<()> {
        drop(self.to_server);
        let status = self.server.wait()?;
        ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }

    fn request(&mut self, method: &'static str, params: &Value) -> anyhow::Result<()> {
        self.last_id += 1;
        self.open.insert(self.last_id, method);
        self.write(&request(self.last_id, method, params))
    }

    fn write(&mut self, message: &Value) -> anyhow::Result<()> {
        Ok(self.to_server.write_all(&line(message)?)?)
    }
}

/// What it says and hears with each call of `echo` after the handshake, line by line.
pub fn calls(text: &str) -> impl Iterator<Item = anyhow::Result<[Vec<u8>; 2]>> {
    (2..).map(move |id| {
        let call = request(id, "tools/call", &echo(text));
        let answer = plain_server::answer(&call).context("a call is answered")?;
        Ok([line(&call)?, line(&answer)?])
    })
}

fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn initialize() -> Value {
    json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    })
}

fn echo(text: &str) -> Value {
    json!({"name": "echo", "arguments": {"text": text}})
}

/// A message as it is written.
fn line(message: &Value) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}
