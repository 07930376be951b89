//! Updates of resources, and who has subscribed to them.

use super::rules::UPDATED;
use crate::finding::Findings;
use crate::quote;
use crate::remembered::Remembered;
use crate::seen::Part;
use mcpreel_wire::brief;
use mcpreel_wire::message::{Body, Direction, Era, Subject};
use std::sync::Arc;

/// Resources whose subscription is remembered. Beyond it nothing is said about updates any more.
const SUBSCRIBED: usize = 1024;

/// The resources that the client has subscribed to.
#[derive(Debug)]
pub(super) struct Subscriptions {
    uris: Remembered<Arc<str>, ()>,
    /// A subscription is not known whole: what it is a part of nobody can tell.
    is_blind: bool,
}

impl Default for Subscriptions {
    fn default() -> Self {
        Self {
            uris: Remembered::new(SUBSCRIBED),
            is_blind: false,
        }
    }
}

impl Subscriptions {
    /// A request: it may be one that subscribes. Updates may come from then on.
    pub(super) fn request(&mut self, part: &Part<'_>) {
        let Body::Request(request) = &part.message.body else {
            return;
        };
        if &*request.method != "resources/subscribe" {
            return;
        }
        match &request.name {
            Some(uri) if !brief::is_brief(uri) && part.value.is_some() => {
                self.uris.insert((&**uri).into(), ());
            }
            _ => self.is_blind = true,
        }
    }

    /// A response: a subscription has ended when the server has said so.
    pub(super) fn response(&mut self, part: &Part<'_>) {
        if part.method() == Some("resources/unsubscribe")
            && let Some(uri) = part.asked().and_then(|asked| asked.name.as_deref())
        {
            self.uris.remove(uri);
        }
    }

    /// A notification: it may be an update.
    pub(super) fn notification(&self, part: &Part<'_>, findings: &mut Findings) {
        let Body::Notification(notification) = &part.message.body else {
            return;
        };
        let is_update = part.method() == Some("notifications/resources/updated")
            && part.direction() == Direction::ServerToClient
            && part.era() == Era::Legacy;
        if !is_update || self.is_blind || self.uris.has_forgotten() {
            return;
        }
        if let Subject::Other { name: Some(uri) } = &notification.subject
            && !brief::is_brief(uri)
            && !self.uris.contains(&**uri)
            && !self.uris.iter().any(|(known, ())| is_within(uri, known))
        {
            let finding = part.at(&UPDATED, quote::text(uri));
            findings.push(finding.path("params.uri"));
        }
    }
}

/// Whether a resource is `known` or a part of it: updates may name a part of what was subscribed.
pub(crate) fn is_within(uri: &str, known: &str) -> bool {
    uri.starts_with(known)
}
