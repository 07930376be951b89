//! A server of streamable HTTP in front of stdio servers: a process for each session.
//!
//! ```text
//!  POST ──▶ a line of the process, whose answer is the response: JSON, or events if more comes first
//!  GET ───▶ what the process says by itself (legacy)
//!  DELETE ▶ the end of the session, and of its process
//! ```
//!
//! A session begins with `initialize` (2025-03-26 to 2025-11-25). Requests of the modern era (2026-07-28),
//! which has no sessions, share one process, as long as no two of them have the same id at once. What a
//! process says that names no request goes to the GET stream, or where there is none to the request that
//! came last; else it waits.
//!
//! Requests of web pages and under foreign names are refused where only this machine is meant
//! ("Security Warning" of the transport).

mod process;

use crate::connection::{Connection, Item};
use crate::{error_response, own_error};
use mcpreel_wire::http::Head;
use mcpreel_wire::http::guard::{foreign, host_of};
use mcpreel_wire::http::head::status_line;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::message::{Body, Content, Direction, classify};
use mcpreel_wire::text::plural;
use process::{Outgoing, Process};
use serde_json::json;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::rc::Rc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::Receiver;
use tokio::time::timeout;

/// The error of the transport for a session that nobody knows.
const NO_SESSION: i32 = -32001;
const INVALID_REQUEST: i32 = -32600;
const PARSE_ERROR: i32 = -32700;

/// How long processes have to end after their input did.
const LEAVE_WITHIN: Duration = Duration::from_secs(5);

/// Sessions at once: each is a process.
const MOST_SESSIONS: usize = 100;

/// Why a request is refused: the code of the error, the status of HTTP, and words.
type Refusal = (i32, u16, String);

/// A server of the sessions of one command.
pub struct Sessions {
    command: Vec<OsString>,
    /// The path at which it serves.
    path: String,
    /// Tells the user something.
    say: Rc<dyn Fn(&str)>,
    /// How many messages of processes were lost, because no client listened for them.
    lost: Rc<Cell<u64>>,
    /// Refuse web pages and foreign names.
    is_guarded: bool,
    running: RefCell<BTreeMap<String, Rc<Process>>>,
    /// The worst exit code of a process so far.
    worst: Cell<i32>,
    /// How often a process was used.
    uses: Cell<u64>,
}

impl Sessions {
    /// Sessions of `command` at `path`; with `is_guarded` for this machine alone.
    pub fn new(
        command: Vec<OsString>,
        path: String,
        is_guarded: bool,
        say: Rc<dyn Fn(&str)>,
    ) -> Rc<Self> {
        Rc::new(Self {
            command,
            path,
            say,
            lost: Rc::default(),
            is_guarded,
            running: RefCell::default(),
            worst: Cell::default(),
            uses: Cell::default(),
        })
    }

    /// Serves clients for ever. To be run in a `LocalSet`.
    pub async fn serve(self: &Rc<Self>, listener: TcpListener) {
        loop {
            // Without a descriptor for it a connection waits until there is one.
            let Ok((socket, _)) = listener.accept().await else {
                tokio::time::sleep(Duration::from_millis(10)).await;
                continue;
            };
            let sessions = Rc::clone(self);
            tokio::task::spawn_local(async move {
                // A client that goes away is no failure of ours.
                let _ = sessions.connection(socket).await;
            });
        }
    }

    /// Ends all sessions. Returns the worst exit code of their processes.
    pub async fn end(&self) -> i32 {
        let running: Vec<_> = self
            .running
            .borrow_mut()
            .split_off("")
            .into_values()
            .collect();
        for process in &running {
            process.close_input();
        }
        for process in &running {
            let ended = timeout(LEAVE_WITHIN, process.ended()).await;
            self.count(ended.unwrap_or(1));
        }
        let lost = self.lost.get();
        if lost > 0 {
            let (messages, were) = (
                plural(lost, "message"),
                if lost == 1 { "was" } else { "were" },
            );
            (self.say)(&format!(
                "{messages} of the server {were} lost, because no client listened for them"
            ));
        }
        self.worst.get()
    }

    /// Marks the process as the one that was used last.
    fn mark_used(&self, process: &Process) {
        self.uses.set(self.uses.get() + 1);
        process.last_use.set(self.uses.get());
    }

    fn count(&self, code: i32) {
        self.worst.set(code.max(self.worst.get()));
    }

    async fn connection(self: &Rc<Self>, socket: TcpStream) -> io::Result<()> {
        let mut client = Connection::new(socket, Direction::ClientToServer);
        while let Some(item) = client.next().await? {
            let Item::Head(head) = item else { continue };
            if head.get("expect").is_some() {
                client.write(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
            }
            let mut body = Vec::new();
            loop {
                match client.next().await? {
                    Some(Item::Body(bytes)) => body = bytes,
                    Some(Item::TooLong) => return status(&mut client, 413, "").await,
                    Some(Item::End { is_whole: true }) => break,
                    Some(Item::End { is_whole: false }) | None => return Ok(()),
                    Some(_) => {}
                }
            }
            let is_ours = |authority: &str| host_of(authority) == "localhost";
            let [host, origin, site] =
                ["host", "origin", "sec-fetch-site"].map(|name| head.get(name));
            let refused = foreign(host, origin, site, is_ours);
            if let Some(why) = refused.filter(|_| self.is_guarded) {
                return status(&mut client, 403, &format!("mcpreel: {why}\n")).await;
            }
            match head.method() {
                _ if !self.is_here(&head) => {
                    let text = format!("nothing is here: MCP is served at {}", self.path);
                    let error = json!({"error": text}).to_string();
                    json(&mut client, 404, None, error.as_bytes()).await?;
                }
                Some("POST") => self.post(&mut client, &head, &body).await?,
                Some("GET") => self.get(&mut client, &head).await?,
                Some("DELETE") => self.delete(&mut client, &head).await?,
                _ => status(&mut client, 405, "").await?,
            }
            if head
                .list("connection")
                .any(|it| it.eq_ignore_ascii_case("close"))
            {
                break;
            }
        }
        Ok(())
    }

    /// Whether a request is for the path at which it serves. Some clients add a slash.
    fn is_here(&self, head: &Head) -> bool {
        let path = head.target().and_then(|target| target.split('?').next());
        path.is_some_and(|path| path.trim_end_matches('/') == self.path.trim_end_matches('/'))
    }

    async fn post(
        self: &Rc<Self>,
        client: &mut Connection,
        head: &Head,
        body: &[u8],
    ) -> io::Result<()> {
        let content = classify(body);
        if content.messages.is_empty() {
            let error = own_error(PARSE_ERROR, "the body is no JSON-RPC message");
            return json(client, 400, None, &error_response(None, &error)).await;
        }
        let (process, session) = match self.process_for(head, &content) {
            Ok(found) => found,
            Err((code, status, text)) => {
                let error = error_response(None, &own_error(code, &text));
                return json(client, status, None, &error).await;
            }
        };
        let requests = requests(&content);
        if requests.is_empty() {
            process.send(body).await;
            return status(client, 202, "").await;
        }
        let (number, answers) = process.open(&requests, tokens(&content));
        process.send(body).await;
        let is_modern = session.is_none();
        let answered = respond(client, session.as_deref(), answers, Some(requests.len())).await;
        process.close(number);
        if answered.is_err() && is_modern {
            // To close the stream is to cancel (2026-07-28, "Cancellation").
            for id in &requests {
                process.cancel(id).await;
            }
        }
        answered
    }

    async fn get(&self, client: &mut Connection, head: &Head) -> io::Result<()> {
        let accepts = head
            .list("accept")
            .any(|it| it.starts_with("text/event-stream"));
        let Some(session) = head.get("mcp-session-id").filter(|_| accepts) else {
            return status(client, 405, "").await;
        };
        let process = self.running.borrow().get(session).cloned();
        let Some(process) = process else {
            return no_session(client).await;
        };
        let (number, messages) = process.listen();
        let listened = respond(client, Some(session), messages, None).await;
        process.close(number);
        listened
    }

    async fn delete(&self, client: &mut Connection, head: &Head) -> io::Result<()> {
        let session = head.get("mcp-session-id").unwrap_or_default();
        let process = self.running.borrow_mut().remove(session);
        let Some(process) = process else {
            return no_session(client).await;
        };
        process.close_input();
        self.count(process.ended().await);
        status(client, 200, "").await
    }

    /// The process that a POST is for, and its session in the legacy era; else the code and the status
    /// of the error, and why.
    fn process_for(
        self: &Rc<Self>,
        head: &Head,
        content: &Content,
    ) -> Result<(Rc<Process>, Option<String>), Refusal> {
        let messages = content.messages.iter();
        let is_modern = messages.clone().any(|it| it.meta.identity.is_some());
        let begins = messages.clone().any(
            |it| matches!(&it.body, Body::Request(request) if &*request.method == "initialize"),
        );
        if is_modern && !begins {
            let requests = requests(content);
            let running = self.running.borrow();
            let mut shared = running.values().filter(|it| it.is_shared);
            let free = shared.find(|it| !requests.iter().any(|id| it.is_open(id)));
            let free = free.cloned();
            drop(running);
            let process = free.map_or_else(|| self.begin(true).map(|(_, it)| it), Ok)?;
            self.mark_used(&process);
            return Ok((process, None));
        }
        if begins {
            let (session, process) = self.begin(false)?;
            return Ok((process, Some(session)));
        }
        let Some(session) = head.get("mcp-session-id") else {
            let text = "the request names no session, and does not begin one with initialize";
            return Err((INVALID_REQUEST, 400, text.to_owned()));
        };
        let process = self.running.borrow().get(session).cloned();
        if let Some(process) = &process {
            self.mark_used(process);
        }
        let known = process.map(|process| (process, Some(session.to_owned())));
        known.ok_or_else(|| (NO_SESSION, 404, "there is no such session".to_owned()))
    }

    /// Starts a process for a new session, or one that is shared by requests without a session.
    fn begin(self: &Rc<Self>, is_shared: bool) -> Result<(String, Rc<Process>), Refusal> {
        let failed = |text: String| (crate::BRIDGE_ERROR, 500, text);
        // Few clients end their sessions: the one that was not used for longest makes room.
        let running = self.running.borrow();
        if running.len() >= MOST_SESSIONS
            && let Some(oldest) = running.values().min_by_key(|it| it.last_use.get())
        {
            oldest.close_input();
        }
        drop(running);
        let random = getrandom::u64().map_err(|error| failed(error.to_string()))?;
        let session = format!("{random:016x}");
        let (say, lost) = (Rc::clone(&self.say), Rc::clone(&self.lost));
        let process = Process::start(&self.command, is_shared, say, lost);
        let process = process.map_err(|error| failed(error.to_string()))?;
        self.mark_used(&process);
        let (sessions, name, one) = (Rc::clone(self), session.clone(), Rc::clone(&process));
        tokio::task::spawn_local(async move {
            let code = one.ended().await;
            // `end` and `delete` have counted the code of a process that they ended.
            if sessions.running.borrow_mut().remove(&name).is_some() {
                sessions.count(code);
            }
        });
        let running = &mut self.running.borrow_mut();
        running.insert(session.clone(), Rc::clone(&process));
        Ok((session, process))
    }
}

fn requests(content: &Content) -> Vec<RequestId> {
    let requests = content.messages.iter().filter_map(|it| match &it.body {
        Body::Request(request) => Some(request.id.clone()),
        _ => None,
    });
    requests.collect()
}

fn tokens(content: &Content) -> Vec<RequestId> {
    let tokens = content.messages.iter();
    tokens
        .filter_map(|it| it.meta.progress_token.clone())
        .collect()
}

/// Sends the client what comes of `messages`: as JSON if the first is the only response, else as events.
/// Ends with the last of the `missing` responses; without a number when the client leaves.
async fn respond(
    client: &mut Connection,
    session: Option<&str>,
    mut messages: Receiver<Outgoing>,
    mut missing: Option<usize>,
) -> io::Result<()> {
    let session = session.map_or(String::new(), |it| format!("Mcp-Session-Id: {it}\r\n"));
    let mut is_stream = missing.is_none();
    if is_stream {
        begin_events(client, &session).await?;
    }
    while missing != Some(0) {
        let message = tokio::select! {
            message = messages.recv() => message,
            () = client.gone() => None,
        };
        let Some(Outgoing {
            message,
            is_response,
        }) = message
        else {
            // The process has ended, or the client has gone.
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        if is_response && missing == Some(1) && !is_stream {
            return json(client, 200, Some(&session), &message).await;
        }
        if !is_stream {
            begin_events(client, &session).await?;
            is_stream = true;
        }
        event(client, &message).await?;
        missing = missing.map(|missing| missing - usize::from(is_response));
    }
    client.write(b"0\r\n\r\n").await
}

async fn begin_events(client: &mut Connection, session: &str) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n\
         X-Accel-Buffering: no\r\n{session}Transfer-Encoding: chunked\r\n\r\n"
    );
    client.write(head.as_bytes()).await
}

async fn event(client: &mut Connection, message: &[u8]) -> io::Result<()> {
    let message = message.trim_ascii();
    let event = [b"event: message\ndata: ", message, b"\n\n"].concat();
    let size = format!("{:x}\r\n", event.len());
    let chunk = [size.as_bytes(), &event, b"\r\n"].concat();
    client.write(&chunk).await
}

async fn json(
    client: &mut Connection,
    status: u16,
    session: Option<&str>,
    message: &[u8],
) -> io::Result<()> {
    let (message, session) = (message.trim_ascii(), session.unwrap_or_default());
    let head = format!(
        "HTTP/1.1 {}\r\nContent-Type: application/json\r\n{session}Content-Length: {}\r\n\r\n",
        status_line(status),
        message.len()
    );
    client.write(&[head.as_bytes(), message].concat()).await
}

async fn no_session(client: &mut Connection) -> io::Result<()> {
    let error = own_error(NO_SESSION, "there is no such session");
    json(client, 404, None, &error_response(None, &error)).await
}

async fn status(client: &mut Connection, status: u16, text: &str) -> io::Result<()> {
    let (status, length) = (status_line(status), text.len());
    let kind = if text.is_empty() {
        ""
    } else {
        "Content-Type: text/plain; charset=utf-8\r\n"
    };
    let head = format!("HTTP/1.1 {status}\r\n{kind}Content-Length: {length}\r\n\r\n{text}");
    client.write(head.as_bytes()).await
}
