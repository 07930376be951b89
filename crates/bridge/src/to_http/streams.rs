//! Sessions, and the streams beside the requests.

use super::message::{Message, Step};
use super::request::request;
use super::{Bridge, Failure, Headers, body_of};
use crate::client::Response;
use crate::connection::Item;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::text::masked_url;
use std::collections::HashSet;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::oneshot::{Sender, channel};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

/// How long to wait before a stream is taken up again, where the server does not say.
const PAUSE: Duration = Duration::from_secs(1);

/// How often in a row that is tried in vain.
const TRIES: u32 = 5;

/// How long a server of 2024-11-05 has to name its endpoint.
const ENDPOINT_WITHIN: Duration = Duration::from_secs(10);

impl Bridge {
    /// Takes in the session that the server assigns with its answer to `initialize`.
    pub(super) fn keep_session(&self, message: &Rc<Message>, response: &Response<'_>) {
        let mut state = self.state.borrow_mut();
        state.is_streamable = true;
        if message.step == Step::Initialize {
            state.session = response.head.get("mcp-session-id").map(String::from);
            state.initialize = Some(Rc::clone(message));
        }
    }

    /// Begins a new session in place of `lost`, with the `initialize` of the host, which does not notice.
    pub(super) async fn begin_again(self: &Rc<Self>, lost: Option<&str>) -> Result<(), Failure> {
        let turn = self.turn.lock().await;
        let initialize = {
            let mut state = self.state.borrow_mut();
            if state.session.as_deref() != lost {
                return Ok(());
            }
            state.session = None;
            state.initialize.clone()
        };
        let Some(initialize) = initialize else {
            return Err(Failure::SessionLost(None));
        };
        let (url, target) = (&self.url, self.target());
        let initialized: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        for line in [&initialize.line, initialized] {
            let request = request("POST", &target, self.session_headers(), Some(line));
            let sent = self.client.send(&request).await;
            let mut response = sent.map_err(|error| self.unreachable(&error))?;
            if !response.is_success() {
                let body = body_of(&mut response).await;
                return Err(self.refusal(&response, &body));
            }
            if line == &*initialize.line {
                self.keep_session(&initialize, &response);
            }
            body_of(&mut response).await;
        }
        (self.say)(&format!("{url} had lost the session; a new one has begun"));
        drop(turn);
        self.listen();
        Ok(())
    }

    /// Ends the session (2025-03-26, "Session Management").
    pub(super) async fn leave(&self) {
        let headers = self.session_headers();
        if self.state.borrow().session.is_some() {
            let target = self.target();
            let leave = request("DELETE", &target, headers, None);
            if let Ok(mut response) = self.client.send(&leave).await {
                let _ = response.body().await;
            }
        }
    }

    /// Opens the stream of what the server says by itself.
    pub(super) fn listen(self: &Rc<Self>) {
        let bridge = Rc::clone(self);
        let listening = tokio::task::spawn_local(async move {
            // A server without such a stream refuses it.
            let _ = bridge.stream(Resumption::default(), None).await;
        });
        let mut state = self.state.borrow_mut();
        let before = state.listening.replace(listening.abort_handle());
        before.iter().for_each(AbortHandle::abort);
    }

    /// Reads a stream of the session, and takes it up again where it breaks, until all of `open` are
    /// answered; without `open` for as long as the server has such a stream.
    pub(super) async fn stream(
        &self,
        mut last: Resumption,
        mut open: Option<&mut HashSet<RequestId>>,
    ) -> Result<(), Failure> {
        let (mut none_open, mut tries) = (HashSet::new(), 0);
        loop {
            if last.id.is_some() || tries > 0 {
                sleep(last.pause.unwrap_or(PAUSE)).await;
            }
            let mut headers = self.session_headers();
            headers.extend(last.id.clone().map(|id| ("Last-Event-ID".into(), id)));
            let target = self.target();
            let request = request("GET", &target, headers, None);
            tries += 1;
            match self.client.send(&request).await {
                Ok(mut response) if response.is_success() && response.head.is_event_stream() => {
                    tries = 0;
                    let open = open.as_deref_mut().unwrap_or(&mut none_open);
                    self.read(&mut response, open, &mut last).await?;
                }
                Ok(mut response) => {
                    let body = body_of(&mut response).await;
                    return Err(self.refusal(&response, &body));
                }
                Err(error) if tries >= TRIES => return Err(self.unreachable(&error)),
                Err(_) => {}
            }
            if open.as_ref().is_some_and(|open| open.is_empty()) {
                return Ok(());
            }
            tries = tries.max(1);
        }
    }

    /// Opens the stream of HTTP+SSE (2024-11-05). Returns whether the server has one that can be used.
    pub(super) async fn open_events(self: &Rc<Self>) -> Result<bool, Failure> {
        if let Some(refused) = &self.state.borrow().refused_endpoint {
            return Err(Failure::Text(refused.clone()));
        }
        let (bridge, (named, name)) = (Rc::clone(self), channel());
        let listening = tokio::task::spawn_local(async move {
            let was_open = bridge.events(named).await;
            if was_open {
                let waiting = std::mem::take(&mut bridge.state.borrow_mut().waiting);
                let text = format!("{} ended the stream of its answers", bridge.url);
                (bridge.say)(&text);
                bridge.fail(&waiting, &Failure::Text(text)).await;
                bridge.lost.notify_one();
            }
        });
        let Ok(Ok(named)) = timeout(ENDPOINT_WITHIN, name).await else {
            listening.abort();
            return Ok(false);
        };
        let endpoint = self.own_target(&named);
        let mut state = self.state.borrow_mut();
        let Some(endpoint) = endpoint else {
            listening.abort();
            let (url, named) = (&self.url, masked_url(&named));
            let text = format!(
                "{url} names an endpoint on another server, {named}. mcpreel sends nothing there. If you \
                 trust that server, use its URL instead"
            );
            if state.refused_endpoint.replace(text.clone()).is_none() {
                (self.say)(&text);
            }
            return Err(Failure::Text(text));
        };
        state.endpoint = Some(endpoint);
        state.listening = Some(listening.abort_handle());
        Ok(true)
    }

    /// Reads that stream to its end; `named` gets the endpoint. Returns whether there was one.
    async fn events(&self, named: Sender<String>) -> bool {
        let target = self.target();
        let request = request("GET", &target, Headers::new(), None);
        let Ok(mut response) = self.client.send(&request).await else {
            return false;
        };
        let Ok(Some(Item::Event(event))) = response.next().await else {
            return false;
        };
        if event.name.as_deref() != Some("endpoint") {
            return false;
        }
        let endpoint = String::from_utf8_lossy(&event.data);
        let _ = named.send(endpoint.trim().to_owned());
        let (mut none_open, mut last) = (HashSet::new(), Resumption::default());
        let _ = self.read(&mut response, &mut none_open, &mut last).await;
        true
    }
}

/// Where and when a broken stream is taken up again.
#[derive(Default)]
pub struct Resumption {
    /// The id of the last event.
    pub id: Option<String>,
    pub pause: Option<Duration>,
}
