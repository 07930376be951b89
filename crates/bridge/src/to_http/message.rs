//! A line of the host, and what the bridge needs to know of it.

use mcpreel_wire::id::RequestId;
use mcpreel_wire::message::{Body, Subject, classify};

/// A line of the host.
pub struct Message {
    pub line: Vec<u8>,
    pub requests: Vec<RequestId>,
    /// The version in `_meta`: of the modern era only.
    pub version: Option<String>,
    pub step: Step,
    pub cancels: Option<RequestId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Initialize,
    Initialized,
    Listen,
    Other,
}

impl Message {
    pub fn new(line: Vec<u8>) -> Self {
        let mut message = Self {
            requests: Vec::new(),
            version: None,
            step: Step::Other,
            cancels: None,
            line,
        };
        for one in classify(&message.line).messages {
            let identity = one.meta.identity;
            let version = identity.and_then(|it| it.protocol_version);
            message.version = message.version.or(version.map(Into::into));
            match one.body {
                Body::Request(request) => {
                    message.step = match &*request.method {
                        "initialize" => Step::Initialize,
                        "subscriptions/listen" => Step::Listen,
                        _ => message.step,
                    };
                    message.requests.push(request.id);
                }
                Body::Notification(it) => {
                    if &*it.method == "notifications/initialized" {
                        message.step = Step::Initialized;
                    }
                    if let Subject::Cancelled { request_id, .. } = it.subject {
                        message.cancels = request_id;
                    }
                }
                _ => {}
            }
        }
        message
    }

    pub fn is_modern(&self) -> bool {
        self.version.is_some()
    }
}
