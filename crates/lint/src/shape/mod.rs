//! Params and results of every method against the shapes of its revision, and what stands in
//! places whose meaning the shapes know: URIs, base64, `_meta`.
//!
//! ```text
//!  message ─▶ pick: which shape? ─▶ check: value against shape ─▶ report ─▶ findings
//!                     └─ tables: the shapes of each revision ─┘
//! ```
//!
//! Where no handshake was seen, nobody knows the revision, and nothing is said about shapes.

pub mod check;
pub mod language;
pub mod tables;

mod grammar;

use crate::quote::{self, Trail};
use crate::{Family, Part, Revisions, Rule, section};
use check::{Checker, Visitor};
use mcpreel_wire::json::{Document, Value};
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::mcp::methods::{self, Kind};
use mcpreel_wire::message::{Body, Era};
use std::sync::LazyLock;
use tables::shapes;

rules! {
    PARAMS_INVALID = error("schema-params-invalid").of(section::SCHEMA)
        .finds("`params` of a request that are not what its method asks for")
        .why("A receiver that checks its input refuses the request, and one that does not may act on a value that is not there.")
        .fix("Send the member at this path as the schema of the revision describes it.");

    RESULT_INVALID = error("schema-result-invalid").of(section::SCHEMA)
        .finds("a `result` that is not what its method promises")
        .why("Clients with typed messages drop the whole answer, so that one wrong member looks like a tool or a list that never came.")
        .fix("Return the member at this path as the schema of the revision describes it.");

    NOTIFICATION_INVALID = error("schema-notification-invalid").of(section::SCHEMA)
        .finds("`params` of a notification that are not what its method says")
        .why("A receiver that cannot read a notification drops it without a word.")
        .fix("Send the member at this path as the schema of the revision describes it.");

    ELICIT_SCHEMA_NESTED = error("elicit-schema-nested").of(section::ELICITATION)
        .only(Revisions::since(Revision::V2025_06_18))
        .finds("a form whose schema is more than a flat object of plain fields")
        .why("Clients build a form from this schema and can only show text, numbers, switches and choices, so the user may never be asked.")
        .fix("Describe each field by one plain type without nesting, unions or `null`, and ask several times if one form is not enough.");

    BASE64_INVALID = error("base64-invalid").of(section::BASE64)
        .finds("binary data that is not base64")
        .why("The client cannot decode the image, the sound or the file, and shows nothing or fails.")
        .fix("Encode the bytes with the standard alphabet, with padding, without line breaks and without a `data:` prefix.");

    RESOURCE_CONTENTS_SHAPE = error("resource-contents-shape").of(section::RESOURCES)
        .finds("contents of a resource that have both or none of `text` and `blob`")
        .why("The client cannot tell what the resource holds: there is nothing to show, or two things that may differ.")
        .fix("Give each item either `text` or `blob`.");

    ROOT_URI_NOT_FILE = error("root-uri-not-file").of(section::ROOTS)
        .finds("a root that is no `file://` URI")
        .why("Servers take roots for directories of this machine, and cannot open anything else.")
        .fix("Send the root as an absolute `file://` URI.");

    URI_INVALID = warning("uri-invalid").of(section::URI)
        .finds("a URI or a template for URIs that breaks its grammar")
        .why("Peers that parse the URI reject it or read something else, so the resource cannot be found.")
        .fix("Begin the URI with a scheme and percent-encode spaces and other reserved characters; close every brace of a template.");

    ICON_SRC_UNSAFE = warning("icon-src-unsafe").of(section::ICONS)
        .only(Revisions::since(Revision::V2025_11_25))
        .finds("an icon that is neither a web address nor a `data:` URI")
        .why("Clients must not load icons of other schemes, because scripts and local files could hide behind them.")
        .fix("Serve the icon by `https:`, or put it into a `data:` URI.");

    META_KEY_INVALID = warning("meta-key-invalid").of(section::META)
        .only(Revisions::since(Revision::V2025_06_18))
        .finds("a key of `_meta` that breaks the grammar of keys")
        .why("Peers may reject or drop metadata whose key they cannot parse.")
        .fix("Name it `prefix/name`, the prefix a domain in reverse, or a plain name of letters and digits.");

    META_RESERVED_KEY = warning("meta-reserved-key").of(section::META)
        .only(Revisions::since(Revision::V2025_06_18))
        .finds("a key of `_meta` under a prefix of the protocol's own that it does not define")
        .why("A later revision may give the key a meaning, and then your value is read as something else.")
        .fix("Use a prefix of a domain that is yours.");

    META_TRACE_CONTEXT = warning("meta-trace-context").of(section::TRACE_CONTEXT)
        .finds("trace context in `_meta` that breaks its grammar")
        .why("The receiver starts a trace of its own, and the two halves of the call are never seen together.")
        .fix("Write what your tracing library gives out for W3C Trace Context or W3C Baggage, unchanged.");

    COMPLETION_TOO_MANY = error("completion-too-many").of(section::COMPLETION)
        .finds("more than 100 values in one completion")
        .why("Clients that check the answer drop it, and nothing is completed.")
        .fix("Return the 100 best values and say with `total` and `hasMore` that there are others.");
}

#[derive(Debug, Default)]
pub struct Shape;

impl Family for Shape {
    fn part(&mut self, part: &Part<'_>) {
        let revision = revision(part);
        let Some(picked) = pick(part, revision) else {
            return;
        };
        let is_known = part.era() == Era::Modern || part.seen.known.agreed().is_some();
        let visitor = Report {
            part,
            revision,
            shape_rule: is_known.then_some(picked.rule),
        };
        held(visitor, revision, &picked);
    }
}

/// Holds a message against the shape that was picked for it.
fn held<V: Visitor>(visitor: V, revision: Revision, picked: &Picked<'_>) -> V {
    let shapes = shapes(revision);
    let mut checker = Checker { shapes, visitor };
    let place = Trail::Member(&Trail::Top, picked.member);
    match picked.value {
        Some(value) => {
            checker.check(&language::Shape::Of(picked.base), &place, value);
            checker.check(picked.shape, &place, value);
        }
        None => checker.check(picked.shape, &place, NOTHING.root()),
    }
    checker.visitor
}

/// What a message without params has: no members.
static NOTHING: LazyLock<Document<'static>> =
    LazyLock::new(|| Document::parse(b"{}").expect("an empty object is JSON"));

/// Values in one answer to `completion/complete`.
const COMPLETIONS: usize = 100;

/// Reports what is wrong in a message.
struct Report<'r, 'a> {
    part: &'r Part<'a>,
    revision: Revision,
    /// The rule that a message of another shape breaks; `None` where nobody knows which shape it
    /// should have.
    shape_rule: Option<&'static Rule>,
}

impl Report<'_, '_> {
    fn meta(&self, place: &Trail<'_>, value: Value<'_>) {
        for (name, member) in value.members() {
            let key = name.as_str().unwrap_or_default();
            let here = Trail::Named(place, name);
            let shown = || format!("\"{}\"", quote::text(&key));
            if !grammar::is_key(&key) {
                self.part.tell_with(&META_KEY_INVALID, &here, shown);
            } else if grammar::is_unknown_reserved(&key, self.revision) && !self.is_extended() {
                self.part.tell_with(&META_RESERVED_KEY, &here, shown);
            } else if let Some(fault) = grammar::trace_fault(&key, member.as_str().as_deref()) {
                let detail = || format!("{fault}: {}", quote::bytes(member.raw()));
                self.part.tell_with(&META_TRACE_CONTEXT, &here, detail);
            }
        }
    }

    /// Whether a side has declared an official extension: those define keys of their own.
    fn is_extended(&self) -> bool {
        let is_official = |path: &str| path.starts_with("extensions.io.modelcontextprotocol/");
        let of_server = self.part.server_capabilities();
        let of_client = self.part.client_capabilities();
        of_client.iter().any(is_official)
            || !of_client.is_whole()
            || of_server.is_some_and(|declared| declared.iter().any(is_official))
    }
}

impl Visitor for Report<'_, '_> {
    fn typed(&mut self, name: &str, place: &Trail<'_>, value: Value<'_>) {
        let text = value.as_str();
        let shown = || quote::bytes(value.raw());
        let told = |fault: Option<String>| fault.map(|fault| format!("{}: {fault}", shown()));
        let scheme = text.as_deref().and_then(grammar::scheme);
        let scheme = scheme.unwrap_or_default().to_ascii_lowercase();
        let (rule, fault): (&'static Rule, _) = match (name, &text) {
            ("RequestMeta" | "NotificationMeta" | "ResultMeta" | "Meta", _) => {
                return self.meta(place, value);
            }
            ("Base64", _) => (&BASE64_INVALID, grammar::base64_fault(&value.str_bytes())),
            ("Uri", Some(text)) => (&URI_INVALID, told(grammar::uri_fault(text))),
            ("UriTemplate", Some(text)) => (&URI_INVALID, told(grammar::template_fault(text))),
            ("RootUri", Some(uri)) => {
                let is_file = scheme == "file" && uri.get(5..7) == Some("//");
                (&ROOT_URI_NOT_FILE, (!is_file).then(shown))
            }
            ("IconSource", Some(_)) => {
                let is_safe = ["https", "http", "data"].contains(&&*scheme);
                (&ICON_SRC_UNSAFE, (!is_safe).then(shown))
            }
            ("ResourceContents", _) => {
                let has = |name: &str| value.get(name).is_some();
                let fault = match (has("text"), has("blob")) {
                    (true, true) => Some("both `text` and `blob`"),
                    (false, false) if value.is_object() => Some("neither `text` nor `blob`"),
                    _ => None,
                };
                (&RESOURCE_CONTENTS_SHAPE, fault.map(str::to_owned))
            }
            ("CompletionValues", _) => {
                let count = value.elements().count();
                let fault = (count > COMPLETIONS).then(|| format!("{count} values"));
                (&COMPLETION_TOO_MANY, fault)
            }
            _ => return,
        };
        if let Some(fault) = fault {
            self.part.tell_with(rule, place, || fault);
        }
    }

    fn wrong(&mut self, place: &Trail<'_>, detail: &dyn Fn() -> String) {
        let is_form = place.is_within("RequestedSchema");
        match self.shape_rule {
            Some(_) if is_form => self.part.tell_with(&ELICIT_SCHEMA_NESTED, place, detail),
            Some(rule) => self.part.tell_with(rule, place, detail),
            None => {}
        }
    }
}

// Which shape a message should have.
//
// By its method, if that may be sent this way in this revision. The shape of a result depends on
// more: a request that was made a task is answered by the task, and since 2026-07-28 a result says
// itself what it is. What `tasks/result` answers depends on what the task was made of.

struct Picked<'a> {
    pub member: &'static str,
    pub value: Option<Value<'a>>,
    /// The type that all such members are of.
    pub base: &'static str,
    pub shape: &'static language::Shape,
    /// The rule that a message of another shape breaks.
    pub rule: &'static Rule,
}

/// The revision by which a message is judged. The answer to `initialize` is the first message of
/// the revision that it names, not of the one that was asked for.
fn revision(part: &Part<'_>) -> Revision {
    let is_answer = matches!(&part.message.body, Body::Response(_));
    if is_answer && part.method() == Some("initialize") {
        return part.seen.known.legacy();
    }
    part.revision()
}

/// The shape that a message should have; `None` where nothing is known about that, or the message
/// is of no use for a reason that somebody else tells.
fn pick<'a>(part: &Part<'a>, revision: Revision) -> Option<Picked<'a>> {
    part.value?;
    let (way, own) = (part.direction(), part.method());
    let (member, base, rule): (_, _, &'static Rule) = match part.message.body {
        Body::Request(_) => ("params", "RequestParams", &PARAMS_INVALID),
        Body::Notification(_) => ("params", "NotificationParams", &NOTIFICATION_INVALID),
        Body::Response(_) => ("result", "Result", &RESULT_INVALID),
        Body::Invalid => return None,
    };
    let (kind, method, way, value) = match part.message.body {
        Body::Response(_) => {
            let (asked, result) = (part.request()?, part.result()?);
            (Kind::Request, &*asked.method, way.reverse(), Some(result))
        }
        Body::Notification(_) => (Kind::Notification, own?, way, part.params()),
        _ => (Kind::Request, own?, way, part.params()),
    };
    // A method of another kind or direction is what is wrong with the message.
    let known = methods::find(method).filter(|known| known.kind == kind)?;
    let may_be_sent = known.used_in(revision)?.way.allows(way);
    if !may_be_sent || value.is_some_and(|value| !value.is_object()) {
        return None;
    }
    let shape = match value {
        Some(value) if member == "result" => result_shape(part, revision, method, value)?,
        _ => &shapes(revision).method(method).params,
    };
    Some(Picked {
        member,
        value,
        base,
        shape,
        rule,
    })
}

static INPUT_REQUIRED: language::Shape = language::Shape::Of("InputRequiredResult");
static TASK_CREATED: language::Shape = language::Shape::Of("CreateTaskResult");
static ANYTHING: language::Shape = language::Shape::Any;

fn result_shape(
    part: &Part<'_>,
    revision: Revision,
    method: &str,
    value: Value<'_>,
) -> Option<&'static language::Shape> {
    let of = |method: &str| Some(&shapes(revision).method(method).result);
    if revision >= Revision::V2026_07_28 {
        let kind = value.get("resultType").and_then(|kind| kind.as_str());
        return match kind.as_deref() {
            Some("complete") | None => of(method),
            Some("input_required") => Some(&INPUT_REQUIRED),
            Some("task") => Some(&TASK_CREATED),
            Some(_) => Some(&ANYTHING),
        };
    }
    match method {
        _ if part.request()?.task && value.get("task").is_some() => Some(&TASK_CREATED),
        "tasks/result" => Some(&ANYTHING),
        _ => of(method),
    }
}

#[cfg(test)]
mod shape_tests;
