//! What `initialize` and its answer say: a version, capabilities, and who is speaking.

use super::rules::{INITIALIZE_SHAPE, VERSION_DOWNGRADED, VERSION_UNKNOWN};
use crate::finding::Findings;
use crate::quote;
use crate::seen::Part;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_wire::json::{Kind, Value};
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::message::Era;

/// The version that the client wishes for.
#[derive(Debug)]
pub(super) struct Wish {
    exchange: Option<ExchangeId>,
    version: Box<str>,
}

/// Looks at an `initialize` request.
pub(super) fn asked(part: &Part<'_>, findings: &mut Findings) -> Option<Wish> {
    let message = part.value?;
    let params = message.get("params");
    shape(part, "params", params, "clientInfo", findings);
    let version = params?.get("protocolVersion")?.as_str()?;
    Some(Wish {
        exchange: part.exchange(),
        version: version.into(),
    })
}

/// Looks at a response of the server, if it is a result of `initialize`.
pub(super) fn answered(part: &Part<'_>, wish: Option<&Wish>, findings: &mut Findings) {
    if part.method() != Some("initialize") || part.value.is_none() {
        return;
    }
    let Some(result) = part.result() else {
        return;
    };
    shape(part, "result", Some(result), "serverInfo", findings);
    let Some(version) = result.get("protocolVersion").and_then(|it| it.as_str()) else {
        return;
    };
    let is_known = Revision::parse(&version).is_some_and(|known| known.era() == Era::Legacy);
    if !is_known {
        let finding = part.at(&VERSION_UNKNOWN, quote::text(&version));
        findings.push(finding.path("result.protocolVersion"));
    }
    let wish = wish.filter(|wish| wish.exchange == part.exchange());
    if let Some(wish) = wish
        && *wish.version != *version
    {
        let (asked, agreed) = (quote::text(&wish.version), quote::text(&version));
        let finding = part.at(&VERSION_DOWNGRADED, format!("{asked} → {agreed}"));
        findings.push(finding.path("result.protocolVersion"));
    }
}

/// What must be there, and of which kind.
fn shape(
    part: &Part<'_>,
    holder: &str,
    value: Option<Value<'_>>,
    info: &str,
    findings: &mut Findings,
) {
    let member = |name: &str| value.and_then(|value| value.get(name));
    let inner = |name: &str| member(info).and_then(|info| info.get(name));
    let is_named = member(info).is_some_and(|info| info.is_object());
    let mut expected = vec![
        (
            "protocolVersion".to_owned(),
            Kind::String,
            member("protocolVersion"),
        ),
        (
            "capabilities".to_owned(),
            Kind::Object,
            member("capabilities"),
        ),
        (info.to_owned(), Kind::Object, member(info)),
    ];
    if is_named {
        expected.push((format!("{info}.name"), Kind::String, inner("name")));
        expected.push((format!("{info}.version"), Kind::String, inner("version")));
    }
    for (name, kind, found) in expected {
        let detail = match found.map(|value| value.kind()) {
            Some(found) if found == kind => continue,
            Some(found) => format!("{name} is {}, not {}", found.as_str(), kind.as_str()),
            None => format!("no {name}"),
        };
        let finding = part.at(&INITIALIZE_SHAPE, detail);
        findings.push(finding.path(format!("{holder}.{name}")));
    }
}
