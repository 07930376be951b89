//! Requests of an era or version that the recording is not of.

use super::play::Live;
use super::{Action, Server, own};
use crate::mock::matcher::Reason;
use crate::mock::reel::Reel;
use crate::mock::report::Missed;
use crate::mock::wanted::{self, Wanted};
use mcpreel_wire::json::{Edit, edit};
use mcpreel_wire::mcp::keys;
use mcpreel_wire::message::{Message, Request};
use serde_json::json;

impl<R: Reel> Server<R> {
    /// What a request gets if it is of an era or version that the recording is not of.
    pub(super) fn refusal(
        &mut self,
        wanted: &Wanted,
        live: &Live,
        request: &Request,
        message: &Message,
    ) -> Option<Vec<u8>> {
        let method = &*wanted.method;
        let probes = matches!(method, "server/discover" | "initialize");
        if probes && self.is_on_record(method) {
            self.compare_version(request);
            return None;
        }
        let identity = message.meta.identity.as_deref();
        let refusal = match identity.and_then(|it| it.protocol_version.as_deref()) {
            Some(_) if !self.index.modern => self.not_modern(method, live),
            Some(version) if self.index.versions.contains(version) => return None,
            Some(version) => self.unsupported(version, live),
            None if self.index.legacy => return None,
            None if method == "initialize" => {
                let asked = request.identity.as_deref();
                let asked = asked.and_then(|identity| identity.protocol_version.as_deref());
                self.unsupported(asked.unwrap_or_default(), live)
            }
            None => self.not_legacy(live),
        };
        if !probes {
            self.tally.miss(Missed {
                method: own::quoted(method).into(),
                name: wanted.name.as_deref().map(|name| own::quoted(name).into()),
                reason: Reason::Version,
                nearest: None,
            });
        }
        self.warn_of_version();
        Some(refusal)
    }

    fn is_on_record(&self, method: &str) -> bool {
        let digest = wanted::digest(method, "");
        let mut entries = self.index.entries.iter();
        entries.any(|entry| entry.method == digest)
    }

    /// A request without a handshake, to a recording of sessions with one.
    fn not_modern(&self, method: &str, live: &Live) -> Vec<u8> {
        let (code, message) = match method {
            // As any server of that era says it; clients fall back to a handshake then.
            "server/discover" => (own::METHOD_NOT_FOUND, "Method not found".to_owned()),
            _ => (own::INVALID_REQUEST, self.versions()),
        };
        own::error(Some(&live.id), &code.to_string(), &message, None)
    }

    /// A request as it is sent after a handshake, to a recording without one.
    fn not_legacy(&self, live: &Live) -> Vec<u8> {
        let message = format!(
            "params._meta lacks {}; {}",
            keys::PROTOCOL_VERSION,
            self.versions()
        );
        own::error(
            Some(&live.id),
            &own::INVALID_PARAMS.to_string(),
            &message,
            None,
        )
    }

    /// A version that is not on record: as the recorded server said it, if it did.
    fn unsupported(&mut self, version: &str, live: &Live) -> Vec<u8> {
        let requested = serde_json::Value::from(own::quoted(version)).to_string();
        let refused = &self.index.refused;
        let unused = refused.iter().find(|it| !self.matcher.is_used(**it));
        if let Some(entry) = unused.or(refused.last()).copied() {
            self.take_entry(entry);
            let place = self.index.entry(entry).response;
            let said = place.and_then(|place| self.reel.said(place).ok());
            let edits = [
                Edit::Replace(&["id"], live.id.json()),
                Edit::ReplaceString(&["error", "data", "requested"], &requested),
            ];
            if let Some(error) = said.and_then(|said| edit(&said.message, &edits)) {
                return error;
            }
        }
        let data = json!({"supported": self.index.versions, "requested": own::quoted(version)});
        let code = own::UNSUPPORTED_VERSION.to_string();
        own::error(
            Some(&live.id),
            &code,
            "Unsupported protocol version",
            Some(data),
        )
    }

    /// Which versions the recording is of.
    fn versions(&self) -> String {
        let versions = self.index.versions.iter().map(AsRef::as_ref);
        let mut versions: Vec<&str> = versions.collect();
        versions.extend(self.index.agreed.as_deref().filter(|_| self.index.legacy));
        let handshake = if self.index.legacy {
            "begins with a handshake"
        } else {
            "has no handshake"
        };
        format!(
            "this is a recording of {}, which {handshake}",
            versions.join(", ")
        )
    }

    /// Says once that the host does not speak what the recording does.
    fn warn_of_version(&mut self) {
        if !std::mem::replace(&mut self.warned_of_version, true) {
            let text = format!("the host speaks another version: {}", self.versions());
            self.act(Action::Say(text));
        }
    }

    /// The recorded version is answered whatever the host asks for.
    fn compare_version(&mut self, request: &Request) {
        let asked = request.identity.as_deref();
        let asked = asked.and_then(|identity| identity.protocol_version.as_deref());
        if let (Some(asked), Some(agreed)) = (asked, self.index.agreed.as_deref())
            && asked != agreed
            && !std::mem::replace(&mut self.warned_of_version, true)
        {
            let asked = own::quoted(asked);
            let text = format!("the host asks for {asked}, the recording answers {agreed}");
            self.act(Action::Say(text));
        }
    }
}
