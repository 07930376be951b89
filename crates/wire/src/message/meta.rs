//! What `_meta` says, and who a side says it is.

use super::{Identity, InputRound, Meta};
use crate::brief;
use crate::id::RequestId;
use crate::json::Value;
use crate::mcp::keys;

/// What the `_meta` of `params` or `result` says.
pub(super) fn meta(holder: Option<Value<'_>>) -> Meta {
    let mut meta = Meta::default();
    let Some(object) = holder.and_then(|holder| holder.get("_meta")) else {
        return meta;
    };
    let mut identity = Identity::default();
    for (key, value) in object.members() {
        match key.as_str().as_deref().unwrap_or_default() {
            keys::PROGRESS_TOKEN => meta.progress_token = id(value),
            keys::TRACEPARENT => meta.trace_id = trace_id(value),
            keys::SUBSCRIPTION_ID => meta.subscription = id(value),
            keys::RELATED_TASK => meta.related_task = text(value.get("taskId")),
            keys::PROTOCOL_VERSION => identity.protocol_version = text(Some(value)),
            keys::CLIENT_CAPABILITIES => identity.capabilities = Some(raw(value)),
            keys::CLIENT_INFO | keys::SERVER_INFO => named(&mut identity, value),
            _ => {}
        }
    }
    meta.identity = some_identity(identity);
    meta
}

/// Versions that a server offers and that are looked at: there are five. A hostile one could offer
/// as many as a line holds.
const VERSIONS: usize = 64;

/// Who the client of an `initialize` request is.
pub(super) fn client(params: Value<'_>) -> Option<Box<Identity>> {
    let mut identity = Identity {
        protocol_version: text(params.get("protocolVersion")),
        capabilities: params.get("capabilities").map(raw),
        ..Identity::default()
    };
    if let Some(info) = params.get("clientInfo") {
        named(&mut identity, info);
    }
    some_identity(identity)
}

/// Who the server is, if `result` is one of `initialize` or `server/discover`: a response does not
/// say what it answers, its members do.
pub(super) fn server(result: Value<'_>) -> Option<Box<Identity>> {
    let version = result.get("protocolVersion");
    let supported = result.get("supportedVersions");
    if version.is_none() && supported.is_none() {
        return None;
    }
    let versions = || supported.into_iter().flat_map(|list| list.elements());
    let kept = versions().take(VERSIONS);
    let mut identity = Identity {
        protocol_version: text(version),
        supported_versions: kept.filter_map(|one| text(Some(one))).collect(),
        more_versions: versions().count().saturating_sub(VERSIONS),
        capabilities: result.get("capabilities").map(raw),
        ..Identity::default()
    };
    let info = result.get("serverInfo");
    let in_meta = || result.get("_meta")?.get(keys::SERVER_INFO);
    if let Some(info) = info.or_else(in_meta) {
        named(&mut identity, info);
    }
    some_identity(identity)
}

/// One round of a multi round-trip request, if `object` has the member `keys` or a state.
pub(super) fn input_round(object: Value<'_>, keys: &str) -> Option<InputRound> {
    let (inputs, state) = (object.get(keys), object.get("requestState"));
    if inputs.is_none() && state.is_none() {
        return None;
    }
    let members = inputs.into_iter().flat_map(|inputs| inputs.members());
    Some(InputRound {
        state: text(state),
        keys: members.filter_map(|(key, _)| text(Some(key))).collect(),
    })
}

/// The value of a string, in [brief] if it is long.
pub(super) fn text(value: Option<Value<'_>>) -> Option<Box<str>> {
    let text = value?.as_str()?;
    Some(brief::text(&text).into())
}

fn raw(value: Value<'_>) -> Box<str> {
    value.raw_text().into()
}

/// An id or token, unless it is `null`.
pub(super) fn id(value: Value<'_>) -> Option<RequestId> {
    (!value.is_null()).then(|| RequestId::from_value(value))
}

fn named(identity: &mut Identity, info: Value<'_>) {
    identity.name = text(info.get("name"));
    identity.version = text(info.get("version"));
}

fn some_identity(identity: Identity) -> Option<Box<Identity>> {
    (identity != Identity::default()).then(|| Box::new(identity))
}

/// The trace id of a `traceparent` (W3C Trace Context, section 3.2), in lower case.
fn trace_id(value: Value<'_>) -> Option<Box<str>> {
    let header = value.as_str()?;
    let mut fields = header.split('-');
    let (_version, trace, _parent) = (fields.next()?, fields.next()?, fields.next()?);
    let valid = trace.len() == 32
        && trace.bytes().all(|byte| byte.is_ascii_hexdigit())
        && trace.bytes().any(|byte| byte != b'0');
    valid.then(|| trace.to_ascii_lowercase().into())
}
