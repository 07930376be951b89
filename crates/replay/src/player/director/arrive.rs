//! What a live line is, and whom it concerns.

use super::{Director, Scene};
use crate::player::script::What;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::Value;
use mcpreel_wire::message::{Body, Content, Lines, Message, Subject, classify_outline};

/// Bytes of a line that is no message that are kept to be shown.
const SHOWN: usize = 200;

impl Director {
    /// A line of the server came, with its terminator.
    pub fn arrive(&mut self, line: &[u8], scene: &mut Scene<'_>) {
        if let Some(call) = self.expected(line) {
            self.answered_alike(call, line, scene);
        } else {
            let mut classifier = std::mem::take(&mut self.classifier);
            let (content, root) = classifier.read(line, Lines::OfProgress);
            self.content(line, &content, root, scene);
            classifier.give_back();
            self.classifier = classifier;
        }
        self.go(scene);
    }

    /// A line came that was too long to be held: its outline, empty where it is no JSON.
    pub fn arrive_outline(&mut self, outline: &[u8], scene: &mut Scene<'_>) {
        let content = classify_outline(outline);
        if content.messages.is_empty() {
            self.noise(outline);
        }
        for message in &content.messages {
            match &message.body {
                Body::Response(response) => {
                    let id = response.id.as_ref();
                    match id.and_then(|id| self.calls.by_id(id)) {
                        Some(call) => {
                            self.calls.close(call);
                            self.tally.answered += 1;
                            self.tally.uncompared += 1;
                        }
                        None => self.stray(id),
                    }
                }
                Body::Notification(_) => self.notices.tell(message, scene.now),
                Body::Request(request) => self.stray(Some(&request.id)),
                Body::Invalid => self.noise(outline),
            }
        }
        self.go(scene);
    }

    /// The call that a line answers which is, byte for byte, the answer that the walk waits for.
    fn expected(&self, line: &[u8]) -> Option<ExchangeId> {
        let step = self.walk.current().filter(|step| step.is_from_server())?;
        let Some(What::Answers(id)) = step.single() else {
            return None;
        };
        let call = self.calls.get(*id)?;
        let alike = step.raw.as_deref() == Some(line)
            && call.is_awaited()
            && call.id == call.exchange.rpc_id
            && self.calls.by_id(&call.id) == Some(*id);
        alike.then_some(*id)
    }

    fn content(
        &mut self,
        line: &[u8],
        content: &Content,
        root: Option<Value<'_>>,
        scene: &mut Scene<'_>,
    ) {
        if content.messages.is_empty() {
            return self.noise(line);
        }
        for message in &content.messages {
            let value = match (root, content.batch) {
                (Some(root), true) => root.index(message.part as usize),
                (root, _) => root,
            };
            let text = line.get(message.span.clone()).unwrap_or(line);
            self.message(message, (line, text), value, scene);
        }
    }

    fn message(
        &mut self,
        message: &Message,
        (line, text): (&[u8], &[u8]),
        value: Option<Value<'_>>,
        scene: &mut Scene<'_>,
    ) {
        match &message.body {
            Body::Response(response) => {
                let id = response.id.as_ref().filter(|id| !id.is_null());
                let call = id.and_then(|id| self.calls.by_id(id));
                match call {
                    Some(call) => self.answered(call, &response.outcome, text, value, scene),
                    None => self.stray(response.id.as_ref()),
                }
            }
            Body::Request(request) => match value {
                Some(value) => self.asked(request, value, scene),
                None => self.stray(Some(&request.id)),
            },
            Body::Notification(notification) => {
                if let Subject::Progress {
                    token: Some(token),
                    progress,
                    total,
                } = &notification.subject
                {
                    self.progressed(token, progress.as_deref(), total.as_deref());
                }
                self.notices.tell(message, scene.now);
                self.log(message, line, None, scene.now);
            }
            Body::Invalid => self.noise(text),
        }
    }

    fn noise(&mut self, line: &[u8]) {
        self.tally.noise[1] += 1;
        if self.tally.first_noise.is_none() {
            let line = line.trim_ascii_end();
            self.tally.first_noise = Some(line[..line.len().min(SHOWN)].into());
        }
    }

    /// An answer to nothing that is open.
    fn stray(&mut self, id: Option<&RequestId>) {
        self.tally.strays[1] += 1;
        if self.tally.first_stray.is_none() {
            self.tally.first_stray = id.map(|id| id.json().into());
        }
    }
}
