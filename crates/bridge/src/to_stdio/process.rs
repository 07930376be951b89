//! A stdio server, and the clients that get its messages.

use mcpreel_wire::framing::as_line;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::message::{Body, Notification, Subject, classify};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::process::Stdio;
use std::rc::Rc;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::watch;

/// Messages that wait for a client; with more of them the process waits.
const WAITING: usize = 64;

/// Messages that wait for a client that listens.
const UNHEARD: usize = 256;

/// A message of the process on its way to a client.
pub struct Outgoing {
    pub message: Vec<u8>,
    pub is_response: bool,
}

/// A running server.
pub struct Process {
    /// Lines for its input; `None` once that is to end.
    input: RefCell<Option<Sender<Vec<u8>>>>,
    /// HTTP requests that wait, in the order in which they came.
    open: RefCell<BTreeMap<u64, Waiting>>,
    last: Cell<u64>,
    /// Whether it serves requests of the modern era, which have no session.
    pub is_shared: bool,
    /// The number of its last use, counted over all processes.
    pub last_use: Cell<u64>,
    /// Whether its output has ended.
    is_silent: Cell<bool>,
    /// Messages for which there was no client yet.
    unheard: RefCell<Vec<Vec<u8>>>,
    /// How many messages of all processes were lost, because more of them came than are kept.
    lost: Rc<Cell<u64>>,
    /// Tells the user something.
    say: Rc<dyn Fn(&str)>,
    /// Its exit code, once it has ended.
    code: watch::Receiver<Option<i32>>,
}

struct Waiting {
    to: Sender<Outgoing>,
    requests: Vec<RequestId>,
    tokens: Vec<RequestId>,
}

impl Waiting {
    /// Whether it is a stream of what the server says by itself.
    fn is_listening(&self) -> bool {
        self.requests.is_empty()
    }
}

impl Process {
    /// Starts `command`. Its stderr is ours.
    pub fn start(
        command: &[OsString],
        is_shared: bool,
        say: Rc<dyn Fn(&str)>,
        lost: Rc<Cell<u64>>,
    ) -> io::Result<Rc<Self>> {
        let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C is for us: a process ends when its input does.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (input, lines) = channel(WAITING);
        let (ended, code) = watch::channel(None);
        let process = Rc::new(Self {
            input: RefCell::new(Some(input)),
            open: RefCell::default(),
            last: Cell::default(),
            is_shared,
            last_use: Cell::default(),
            is_silent: Cell::default(),
            unheard: RefCell::default(),
            lost,
            say,
            code,
        });
        tokio::task::spawn_local(write(lines, stdin));
        let one = Rc::clone(&process);
        tokio::task::spawn_local(async move {
            one.read(stdout).await;
            let _ = ended.send(Some(exit_code(child).await));
        });
        Ok(process)
    }

    /// Waits for its end: its exit code.
    pub async fn ended(&self) -> i32 {
        let mut code = self.code.clone();
        let code = code.wait_for(Option::is_some).await;
        code.ok().and_then(|code| *code).unwrap_or(1)
    }

    /// Writes a message as a line.
    pub async fn send(&self, message: &[u8]) {
        let input = self.input.borrow().clone();
        if let Some(input) = input {
            // A process that has ended reads nothing.
            let _ = input.send(as_line(message)).await;
        }
    }

    pub async fn cancel(&self, id: &RequestId) {
        let id = id.json();
        let params = format!("{{\"requestId\":{id},\"reason\":\"the client closed the stream\"}}");
        let method = "notifications/cancelled";
        let line = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{params}}}");
        self.send(line.as_bytes()).await;
    }

    pub fn close_input(&self) {
        self.input.borrow_mut().take();
    }

    /// Whether a request with this id waits for its answer.
    pub fn is_open(&self, id: &RequestId) -> bool {
        let open = self.open.borrow();
        open.values().any(|it| it.requests.contains(id))
    }

    /// Opens the way back for requests: its number, and what comes.
    pub fn open(
        &self,
        requests: &[RequestId],
        tokens: Vec<RequestId>,
    ) -> (u64, Receiver<Outgoing>) {
        let (to, messages) = channel(WAITING);
        let number = self.last.get() + 1;
        self.last.set(number);
        let waiting = Waiting {
            to,
            requests: requests.to_vec(),
            tokens,
        };
        // Nothing comes of a process whose output has ended.
        if !self.is_silent.get() {
            self.open.borrow_mut().insert(number, waiting);
        }
        (number, messages)
    }

    /// Opens a way for what the server says by itself.
    pub fn listen(self: &Rc<Self>) -> (u64, Receiver<Outgoing>) {
        let (number, messages) = self.open(&[], Vec::new());
        let unheard = std::mem::take(&mut *self.unheard.borrow_mut());
        let process = Rc::clone(self);
        tokio::task::spawn_local(async move {
            for message in unheard {
                process.route(message).await;
            }
        });
        (number, messages)
    }

    pub fn close(&self, number: u64) {
        self.open.borrow_mut().remove(&number);
    }

    async fn read(&self, stdout: Option<ChildStdout>) {
        if let Some(stdout) = stdout {
            let mut lines = BufReader::new(stdout).split(b'\n');
            while let Ok(Some(line)) = lines.next_segment().await {
                if !line.trim_ascii().is_empty() {
                    self.route(line).await;
                }
            }
        }
        // Requests that still wait get no answer.
        self.is_silent.set(true);
        self.open.borrow_mut().clear();
    }

    /// Gives a line to the client that it is for.
    async fn route(&self, message: Vec<u8>) {
        let (to, is_response) = self.recipient_of(&message);
        match to {
            // A client that has gone gets nothing.
            Some(to) => drop(
                to.send(Outgoing {
                    message,
                    is_response,
                })
                .await,
            ),
            None if is_response => {}
            None if self.unheard.borrow().len() < UNHEARD => {
                self.unheard.borrow_mut().push(message);
            }
            None => {
                if self.lost.replace(self.lost.get() + 1) == 0 {
                    (self.say)(&format!(
                        "no client listens for what the server says by itself in a session: after {UNHEARD} \
                         messages the rest is lost"
                    ));
                }
            }
        }
    }

    /// The client that gets the response to a request. Once it has all that it asked for, what comes next
    /// is not for it any more, though it may still be reading.
    fn answered(&self, id: &RequestId) -> Option<Sender<Outgoing>> {
        let mut open = self.open.borrow_mut();
        let mut newest = open.iter_mut().rev();
        let (&number, waiting) = newest.find(|(_, it)| it.requests.contains(id))?;
        waiting.requests.retain(|it| it != id);
        let (to, is_over) = (waiting.to.clone(), waiting.requests.is_empty());
        if is_over {
            open.remove(&number);
        }
        Some(to)
    }

    /// The client that gets a line, and whether the line is a response.
    fn recipient_of(&self, message: &[u8]) -> (Option<Sender<Outgoing>>, bool) {
        let open = self.open.borrow();
        let found = |is_it: &dyn Fn(&Waiting) -> bool| {
            let mut newest = open.values().rev();
            newest.find(|it| is_it(it)).map(|it| it.to.clone())
        };
        let content = classify(message);
        let first = content.messages.into_iter().next();
        let (body, meta) = first.map_or((Body::Invalid, None), |it| (it.body, Some(it.meta)));
        let named = match body {
            Body::Response(response) => {
                drop(open);
                return (response.id.and_then(|id| self.answered(&id)), true);
            }
            Body::Notification(Notification {
                subject: Subject::Progress { token, .. },
                ..
            }) => token.and_then(|token| found(&|it| it.tokens.contains(&token))),
            Body::Notification(_) => {
                let stream = meta.and_then(|meta| meta.subscription);
                stream.and_then(|id| found(&|it| it.requests.contains(&id)))
            }
            _ => None,
        };
        let way = named
            .or_else(|| found(&Waiting::is_listening))
            .or_else(|| found(&|_| true));
        (way, false)
    }
}

/// Writes lines until there are no more, or nobody reads them.
async fn write(mut lines: Receiver<Vec<u8>>, stdin: Option<ChildStdin>) {
    let Some(mut stdin) = stdin else { return };
    while let Some(line) = lines.recv().await {
        if stdin.write_all(&line).await.is_err() {
            return;
        }
    }
}

/// The exit code of a process; as shells say it where a signal ended it.
async fn exit_code(mut child: Child) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    let Ok(status) = child.wait().await else {
        return 1;
    };
    let signal = status.signal().map(|signal| 128 + signal);
    status.code().or(signal).unwrap_or(1)
}
