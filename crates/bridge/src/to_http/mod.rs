//! A stdio server in front of one that is reached by HTTP: each line is a request of its own.
//!
//! ```text
//!  line ──▶ POST ──▶ body, or events ──▶ lines
//!           GET (legacy: what the server says by itself; HTTP+SSE: all that it says)
//! ```
//!
//! * **Order.** Requests are sent as they come, side by side. `initialize`, and messages without an answer,
//!   are with the server before the next message is sent; over HTTP+SSE every message is.
//! * **Legacy sessions** (2025-03-26 to 2025-11-25, "Session Management"): their id and version go with
//!   every request. Where the server has lost the session, a new one is begun with the same
//!   `initialize`, and the message sent again. Streams that break are taken up again with
//!   `Last-Event-ID`.
//! * **Modern era** (2026-07-28): headers repeat what the message says; to cancel is to close the stream.
//! * **HTTP+SSE** (2024-11-05): where the first request is refused without a JSON-RPC answer.
//! * A request that gets no answer gets an error that says why; so does one that is still under way
//!   some time (`ANSWERED_WITHIN`) after the host has closed its side.

mod message;
mod request;
mod streams;

use crate::client::{Client, Headers, Response, too_long};
use crate::connection::{Event, Item};
use crate::request_headers::MirroredArguments;
use crate::{BRIDGE_ERROR, beginning_of, error_response, own_error};
use mcpreel_wire::framing::as_line;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::{Document, follow};
use mcpreel_wire::message::{Body, classify};
use message::{Message, Step};
use request::{Failure, request};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::time::Duration;
use streams::Resumption;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::sync::{Mutex, Notify};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

/// How long requests may go on after the host has closed its side.
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);

/// How long a message that is sent in its turn may hold up what comes after it.
const IN_ORDER_WITHIN: Duration = Duration::from_secs(1);

/// How long the end of a session may take.
const LEAVE_WITHIN: Duration = Duration::from_secs(2);

/// Both ends of a bridge.
pub struct Bridge {
    client: Client,
    /// The URL, for people.
    url: String,
    /// Scheme, host and port of the server.
    origin: String,
    /// Path and query of the URL.
    target: String,
    lines: Sender<Vec<u8>>,
    /// Tells the user something.
    say: Box<dyn Fn(&str)>,
    /// Locked while a message is sent that the server must have before the next one.
    turn: Mutex<()>,
    /// Notified of an answer that came on another stream than that of its request.
    answered: Notify,
    /// Notified when the stream of all answers has ended (2024-11-05).
    lost: Notify,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    /// Whether the server has answered in streamable HTTP.
    is_streamable: bool,
    /// The path to which the server has redirected.
    moved: Option<String>,
    /// Where messages go in HTTP+SSE (2024-11-05).
    endpoint: Option<String>,
    /// Why the endpoint that the server names is refused, which was said.
    refused_endpoint: Option<String>,
    /// Requests whose answers come on its stream.
    waiting: HashSet<RequestId>,
    session: Option<String>,
    /// The version that the session has settled on.
    version: Option<String>,
    /// What began the session.
    initialize: Option<Rc<Message>>,
    /// The stream of what the server says by itself, or (2024-11-05) of all that it says.
    listening: Option<AbortHandle>,
    mirrored: MirroredArguments,
    /// Requests under way.
    open: HashMap<RequestId, Open>,
}

struct Open {
    task: AbortHandle,
    message: Rc<Message>,
    /// Whether the server may never end it: a subscription, or a request that the host cancelled.
    is_endless: bool,
}

impl Bridge {
    /// A bridge to what `client` reaches at `target`, which writes what comes to `lines`. To `origin` go
    /// the URLs in which the server names itself.
    pub fn new(
        client: Client,
        (url, origin, target): (String, String, String),
        lines: Sender<Vec<u8>>,
        say: Box<dyn Fn(&str)>,
    ) -> Self {
        Self {
            client,
            url,
            origin,
            target,
            lines,
            say,
            turn: Mutex::default(),
            answered: Notify::new(),
            lost: Notify::new(),
            state: RefCell::default(),
        }
    }

    /// Carries the lines of the host until there are no more, and all are answered. Returns whether the
    /// server was there to the end. To be run in a `LocalSet`.
    pub async fn run(self: Rc<Self>, mut host: Receiver<Vec<u8>>) -> bool {
        let mut tasks = JoinSet::new();
        loop {
            tokio::select! {
                line = host.recv() => match line {
                    Some(line) => self.begin(line, &mut tasks),
                    None => break,
                },
                Some(_) = tasks.join_next() => {}
                () = self.lines.closed() => break,
                () = self.lost.notified() => return false,
            }
        }
        self.stop_streams();
        let mut is_overdue = false;
        let waits = async {
            while tasks.join_next().await.is_some() {}
            while !self.state.borrow().waiting.is_empty() {
                self.answered.notified().await;
            }
        };
        tokio::select! {
            // A host that has closed its side gets the answers that come within a limit.
            waited = timeout(ANSWERED_WITHIN, waits) => is_overdue = waited.is_err(),
            () = self.lines.closed() => {}
            () = self.lost.notified() => return false,
        }
        if is_overdue {
            tasks.abort_all();
            // A host that reads no more gets none of these errors.
            let _ = timeout(LEAVE_WITHIN, self.give_up()).await;
        }
        // Else it may be opened again while the session ends.
        let listening = self.state.borrow_mut().listening.take();
        listening.iter().for_each(AbortHandle::abort);
        let _ = timeout(LEAVE_WITHIN, self.leave()).await;
        true
    }

    /// Sends a line, unless it cancels a request of the modern era.
    fn begin(self: &Rc<Self>, line: Vec<u8>, tasks: &mut JoinSet<()>) {
        if line.trim_ascii().is_empty() {
            return;
        }
        let message = Rc::new(Message::new(line));
        let mut state = self.state.borrow_mut();
        let cancelled = message.cancels.as_ref();
        if let Some(id) = cancelled {
            // It need not be answered any more.
            state.waiting.remove(id);
        }
        if let Some(open) = cancelled.and_then(|id| state.open.get_mut(id)) {
            open.is_endless = true;
            if open.message.is_modern() {
                let (task, call) = (open.task.clone(), Rc::clone(&open.message));
                state.open.retain(|_, it| !Rc::ptr_eq(&it.message, &call));
                return task.abort();
            }
        }
        let (bridge, sent) = (Rc::clone(self), Rc::clone(&message));
        let task = tasks.spawn_local(async move { bridge.carry(&sent).await });
        for id in &message.requests {
            let open = Open {
                task: task.clone(),
                message: Rc::clone(&message),
                is_endless: message.step == Step::Listen,
            };
            state.open.insert(id.clone(), open);
        }
    }

    /// Closes the streams that would go on for ever.
    fn stop_streams(&self) {
        let state = self.state.borrow();
        let open = state.open.values();
        let endless = open.filter(|it| it.is_endless);
        endless.for_each(|it| it.task.abort());
    }

    /// Answers the calls that are still under way with an error, because the host has left.
    async fn give_up(&self) {
        let calls = {
            let mut state = self.state.borrow_mut();
            let mut calls = std::mem::take(&mut state.waiting);
            let open = state.open.drain().filter(|(_, it)| !it.is_endless);
            calls.extend(open.map(|(id, _)| id));
            calls
        };
        if calls.is_empty() {
            return;
        }
        let (url, seconds) = (&self.url, ANSWERED_WITHIN.as_secs());
        let text =
            format!("{url} had not answered {seconds} seconds after the host closed its side");
        self.fail(&calls, &Failure::Text(text)).await;
    }

    /// Sends a message and hands on what comes for it. Requests that get no answer get an error.
    async fn carry(self: &Rc<Self>, message: &Rc<Message>) {
        let mut turn = Some(self.turn.lock().await);
        let is_first = matches!(message.step, Step::Initialize | Step::Initialized);
        // Over HTTP+SSE a POST is only accepted, and answers come on the stream: waiting for it keeps the order.
        let is_in_turn = is_first || self.state.borrow().endpoint.is_some();
        if !is_in_turn && !message.requests.is_empty() {
            turn = None;
        }
        let mut open: HashSet<_> = message.requests.iter().cloned().collect();
        let mut sent = {
            let mut sending = std::pin::pin!(self.send(message, &mut open));
            if let Ok(sent) = timeout(IN_ORDER_WITHIN, &mut sending).await {
                sent
            } else {
                turn = turn.filter(|_| is_first);
                sending.await
            }
        };
        if let Err(Failure::SessionLost(lost)) = &sent {
            turn = None;
            sent = match self.begin_again(lost.as_deref()).await {
                Ok(()) => self.send(message, &mut open).await,
                Err(failure) => Err(failure),
            };
        }
        drop(turn);
        if let Err(failure) = sent {
            self.fail(&open, &failure).await;
        }
        let mut state = self.state.borrow_mut();
        message.requests.iter().for_each(|id| {
            state.open.remove(id);
        });
    }

    async fn fail(&self, open: &HashSet<RequestId>, failure: &Failure) {
        let text = match failure {
            Failure::Error(json) => json.clone(),
            Failure::Text(text) => text.clone(),
            Failure::SessionLost(_) => format!("{} does not know the session any more", self.url),
        };
        let is_said = self.state.borrow().refused_endpoint.as_ref() == Some(&text);
        if open.is_empty() && !is_said {
            (self.say)(&text);
        }
        let error = match failure {
            Failure::Error(json) => json.clone(),
            _ => own_error(BRIDGE_ERROR, &text),
        };
        for id in open {
            self.give(&error_response(Some(id), &error)).await;
        }
    }

    /// Sends a message; returns once it is dealt with. Requests that were answered leave `open`.
    async fn send(
        self: &Rc<Self>,
        message: &Rc<Message>,
        open: &mut HashSet<RequestId>,
    ) -> Result<(), Failure> {
        let (endpoint, session) = {
            let state = self.state.borrow();
            (state.endpoint.clone(), state.session.clone())
        };
        let target = endpoint.clone().unwrap_or_else(|| self.target());
        let headers = self.headers(message);
        if endpoint.is_some() {
            if message.is_modern() {
                // A client that reaches the server by itself does not ask it so either.
                let text = format!("{} is reached by HTTP+SSE, of 2024-11-05", self.url);
                return Err(Failure::Error(own_error(-32601, &text)));
            }
            // The answer may come before the server has said that it will, unless it was cancelled meanwhile.
            let mut state = self.state.borrow_mut();
            let is_cancelled = |id: &RequestId| state.open.get(id).is_some_and(|it| it.is_endless);
            let waiting: Vec<_> = open
                .iter()
                .filter(|id| !is_cancelled(id))
                .cloned()
                .collect();
            state.waiting.extend(waiting);
        }
        let request = request("POST", &target, headers, Some(&message.line));
        let sent = self.client.send(&request).await;
        let is_refused = !sent.as_ref().is_ok_and(Response::is_success);
        if endpoint.is_some() && is_refused {
            let mut state = self.state.borrow_mut();
            open.retain(|id| state.waiting.remove(id));
        }
        let mut response = sent.map_err(|error| self.unreachable(&error))?;
        if is_refused {
            return self.refused(message, open, (&mut response, session)).await;
        }
        if endpoint.is_some() {
            open.clear();
            response.body().await?;
            return Ok(());
        }
        self.keep_session(message, &response);
        self.answer(message, &mut response, open).await?;
        if message.step == Step::Initialized {
            self.listen();
        }
        Ok(())
    }

    /// Deals with a refusal of a message that named `session`: sends it again where the server has moved,
    /// or has another transport.
    async fn refused(
        self: &Rc<Self>,
        message: &Rc<Message>,
        open: &mut HashSet<RequestId>,
        (response, session): (&mut Response<'_>, Option<String>),
    ) -> Result<(), Failure> {
        let (status, body) = (response.status(), response.body().await?);
        // The revision says 404; some servers say 400, and in words what they mean.
        let says_session = || {
            String::from_utf8_lossy(&body)
                .to_lowercase()
                .contains("session")
        };
        let is_lost = status == 404 || status == 400 && says_session();
        if is_lost && session.is_some() && message.step == Step::Other {
            return Err(Failure::SessionLost(session));
        }
        if self.moves(response) {
            return Box::pin(self.send(message, open)).await;
        }
        let refusal = self.refusal(response, &body);
        let is_known = {
            let state = self.state.borrow();
            state.is_streamable || state.endpoint.is_some()
        };
        let may_be_older = matches!(status, 400 | 404 | 405) && !is_known;
        if may_be_older && matches!(refusal, Failure::Text(_)) && self.open_events().await? {
            return Box::pin(self.send(message, open)).await;
        }
        Err(refusal)
    }

    /// Hands on the answer to a message.
    async fn answer(
        &self,
        message: &Message,
        response: &mut Response<'_>,
        open: &mut HashSet<RequestId>,
    ) -> Result<(), Failure> {
        let mut last = Resumption::default();
        self.read(response, open, &mut last).await?;
        if open.is_empty() {
            return Ok(());
        }
        if last.id.is_none() || message.is_modern() {
            let text = format!("{} ended its answer without a response", self.url);
            return Err(Failure::Text(text));
        }
        self.stream(last, Some(open)).await
    }

    /// Hands on the messages of a response. Ends when all of `open` are answered.
    async fn read(
        &self,
        response: &mut Response<'_>,
        open: &mut HashSet<RequestId>,
        last: &mut Resumption,
    ) -> Result<(), Failure> {
        let waits = !open.is_empty();
        loop {
            match response.next().await {
                Ok(Some(Item::Event(event))) => self.event(event, open, last).await,
                Ok(Some(Item::Body(body))) if classify(&body).messages.is_empty() => {
                    let kind = response.head.content_type().unwrap_or("a body");
                    let (url, said) = (&self.url, beginning_of(&body));
                    let text = format!("{url} answered with {kind} that is no message: {said}");
                    return Err(Failure::Text(text));
                }
                Ok(Some(Item::Body(body))) => self.deliver(&body, open).await,
                Ok(Some(Item::TooLong)) => return Err(too_long().into()),
                Ok(Some(Item::Head(_))) => {}
                Ok(Some(Item::End { .. }) | None) | Err(_) => return Ok(()),
            }
            // Some servers keep the stream open behind the answer.
            if waits && open.is_empty() && response.head.is_event_stream() {
                return Ok(());
            }
        }
    }

    /// Hands on the message of an event, and remembers where the stream goes on.
    async fn event(&self, event: Event, open: &mut HashSet<RequestId>, last: &mut Resumption) {
        last.id = event.id.or(last.id.take());
        last.pause = event.retry.map(Duration::from_millis).or(last.pause);
        let is_message = event.name.is_none_or(|name| name == "message");
        if !is_message || event.data.is_empty() {
            return;
        }
        if classify(&event.data).messages.is_empty() {
            let said = beginning_of(&event.data);
            return (self.say)(&format!("{} sent what is no message: {said}", self.url));
        }
        self.deliver(&event.data, open).await;
    }

    /// Hands on a message of the server.
    async fn deliver(&self, bytes: &[u8], open: &mut HashSet<RequestId>) {
        for one in classify(bytes).messages {
            let Body::Response(response) = one.body else {
                continue;
            };
            if let Some(id) = response.id {
                open.remove(&id);
                let mut state = self.state.borrow_mut();
                state.open.remove(&id);
                if state.waiting.remove(&id) {
                    self.answered.notify_one();
                }
            }
        }
        if let Ok(document) = Document::parse(bytes) {
            let (root, mut state) = (document.root(), self.state.borrow_mut());
            state.mirrored.learn(root);
            let version = follow(root, &["result", "protocolVersion"]);
            let version = version.and_then(|it| it.as_str().map(String::from));
            state.version = version.or(state.version.take());
        }
        self.give(bytes).await;
    }

    async fn give(&self, message: &[u8]) {
        // A host that has gone reads nothing.
        let _ = self.lines.send(as_line(message)).await;
    }
}

/// The body of a response whose messages nobody waits for.
async fn body_of(response: &mut Response<'_>) -> Vec<u8> {
    response.body().await.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc::channel;
    use tokio::task::LocalSet;

    /// Once they were kept as long as the bridge ran.
    #[tokio::test]
    async fn a_call_that_the_host_has_cancelled_is_forgotten() {
        let client = Client::new("127.0.0.1:1".parse().unwrap(), Headers::new());
        let (named, lines) = (<(String, String, String)>::default(), channel(1).0);
        let bridge = Rc::new(Bridge::new(client, named, lines, Box::new(|_| {})));
        let mut tasks = JoinSet::new();
        let version = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":META}}"#;
        let cancel =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        let local = LocalSet::new();
        let _inside = local.enter();
        bridge.begin(call.replace("META", version).into(), &mut tasks);
        assert_eq!(bridge.state.borrow().open.len(), 1);
        bridge.begin(cancel.into(), &mut tasks);
        assert!(bridge.state.borrow().open.is_empty());
    }
}
