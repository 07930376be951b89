//! What the client itself chose, and may choose anew: ids, spans, its version.

use super::{Binder, Edits, fresh};
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::keys;

impl Binder {
    /// What the client itself chose: ids, spans, its version.
    pub(super) fn edit_request(&mut self, message: Value<'_>, edits: &mut Edits) {
        let params = message.get("params");
        let meta = params.and_then(|params| params.get("_meta"));
        let in_meta = |key: &str| meta.and_then(|meta| meta.get(key));
        if self.fresh_ids {
            for id in [message.get("id"), in_meta(keys::PROGRESS_TOKEN)] {
                fresh_value(id, edits);
            }
        }
        if let (Some(seed), Some(traceparent)) = (self.span_seed, in_meta(keys::TRACEPARENT)) {
            self.spans_made += 1;
            let random = fresh::random(seed, self.spans_made);
            let recorded = traceparent.as_str().unwrap_or_default();
            if let Some(fresh) = fresh::with_fresh_span(&recorded, random) {
                edits.replace_string(traceparent, &fresh);
            }
        }
        if let Some(version) = &self.protocol {
            let asked = params
                .filter(|_| {
                    message
                        .get("method")
                        .is_some_and(|it| it.is_str("initialize"))
                })
                .and_then(|params| params.get("protocolVersion"));
            for recorded in [asked, in_meta(keys::PROTOCOL_VERSION)]
                .into_iter()
                .flatten()
            {
                edits.replace_string(recorded, version);
            }
        }
    }

    pub(super) fn edit_notification(&self, message: Value<'_>, method: &str, edits: &mut Edits) {
        if self.fresh_ids && method == "notifications/cancelled" {
            let params = message.get("params");
            fresh_value(params.and_then(|params| params.get("requestId")), edits);
        }
    }
}

fn fresh_value(value: Option<Value<'_>>, edits: &mut Edits) {
    if let Some(value) = value {
        let id = RequestId::from_value(value);
        edits.replace(value, fresh::fresh_id(&id).json());
    }
}
