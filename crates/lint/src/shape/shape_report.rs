//! Findings about the shape of one message, a few of each rule, and the grammars of texts whose place
//! the shapes know: keys of `_meta`, base64, URIs.

use super::check::Visitor;
use crate::limits::Few;
use crate::quote::{self, Trail};
use crate::{Findings, Part, Rule};
use fluent_uri::Uri;
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::{Revision, keys};

/// Findings of one rule in one message. Without a limit a list of ten thousand resources with
/// unusual URIs would be ten thousand findings.
const FEW: usize = 4;

/// Values in one answer to `completion/complete`.
const COMPLETIONS: usize = 100;

/// Collects the findings in one message.
pub(super) struct Report<'r, 'a> {
    part: &'r Part<'a>,
    revision: Revision,
    /// What it is called if the message has not the shape that it should have.
    shape_rule: &'static Rule,
    told: Few,
}

impl<'r, 'a> Report<'r, 'a> {
    pub fn new(part: &'r Part<'a>, revision: Revision, shape_rule: &'static Rule) -> Self {
        Self {
            part,
            revision,
            shape_rule,
            told: Few::new(FEW),
        }
    }

    /// Whether the message has not the shape that it should have.
    pub fn is_misshapen(&self) -> bool {
        self.told.has(|rule| is_about_shape(rule, self.shape_rule))
    }

    /// Hands the findings over; those about the shape only if that is `certain`.
    pub fn tell(mut self, certain: bool, findings: &mut Findings) {
        if !certain {
            let shape_rule = self.shape_rule;
            self.told.retain(|rule| !is_about_shape(rule, shape_rule));
        }
        let more = |more| format!("; {more} more like this in the message");
        self.told.give(more, findings);
    }

    fn find(&mut self, rule: &'static Rule, place: &Trail<'_>, detail: impl FnOnce() -> String) {
        let part = self.part;
        self.told
            .note(rule, || part.at(rule, detail()).path(place.path()));
    }

    fn meta(&mut self, place: &Trail<'_>, value: Value<'_>) {
        for (name, member) in value.members() {
            let key = name.as_str().unwrap_or_default();
            let here = Trail::Named(place, name);
            if let Some(fault) = key_fault(&key) {
                self.find(&super::META_KEY_INVALID, &here, || {
                    format!("\"{}\": {fault}", quote::text(&key))
                });
            } else if is_unknown_reserved(&key, self.revision) && !self.is_extended() {
                self.find(&super::META_RESERVED_KEY, &here, || {
                    format!("\"{}\"", quote::text(&key))
                });
            } else if is_trace_context(&key) {
                self.trace_context(&key, &here, member);
            }
        }
    }

    fn trace_context(&mut self, key: &str, place: &Trail<'_>, value: Value<'_>) {
        let fault = match value.as_str() {
            Some(text) => trace_fault(key, &text),
            None => Some("not a string"),
        };
        if let Some(fault) = fault {
            self.find(&super::META_TRACE_CONTEXT, place, || {
                format!("{fault}: {}", quote::bytes(value.raw()))
            });
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

    fn uri(&mut self, place: &Trail<'_>, value: Value<'_>, fault: fn(&str) -> Option<String>) {
        let Some(text) = value.as_str() else { return };
        if let Some(fault) = fault(&text) {
            self.find(&super::URI_INVALID, place, || {
                format!("{}: {fault}", quote::bytes(value.raw()))
            });
        }
    }

    fn scheme(
        &mut self,
        rule: &'static Rule,
        place: &Trail<'_>,
        value: Value<'_>,
        fits: impl FnOnce(&str) -> bool,
    ) {
        let Some(text) = value.as_str() else { return };
        if !fits(&text) {
            self.find(rule, place, || quote::bytes(value.raw()));
        }
    }

    fn contents(&mut self, place: &Trail<'_>, value: Value<'_>) {
        let has = |name: &str| value.get(name).is_some();
        let detail = match (has("text"), has("blob")) {
            (true, true) => "both `text` and `blob`",
            (false, false) if value.is_object() => "neither `text` nor `blob`",
            _ => return,
        };
        self.find(&super::RESOURCE_CONTENTS_SHAPE, place, || detail.to_owned());
    }
}

impl Visitor for Report<'_, '_> {
    fn typed(&mut self, name: &str, place: &Trail<'_>, value: Value<'_>) {
        match name {
            "RequestMeta" | "NotificationMeta" | "ResultMeta" | "Meta" => {
                self.meta(place, value);
            }
            "Base64" => {
                if let Some(fault) = base64_fault(value) {
                    self.find(&super::BASE64_INVALID, place, || fault);
                }
            }
            "Uri" => self.uri(place, value, uri_fault),
            "UriTemplate" => self.uri(place, value, template_fault),
            "RootUri" => self.scheme(&super::ROOT_URI_NOT_FILE, place, value, |uri| {
                let start = uri.get(..7);
                start.is_some_and(|start| start.eq_ignore_ascii_case("file://"))
            }),
            "IconSource" => self.scheme(&super::ICON_SRC_UNSAFE, place, value, |source| {
                let scheme = scheme(source).unwrap_or_default();
                let safe = ["https", "http", "data"];
                safe.iter().any(|safe| scheme.eq_ignore_ascii_case(safe))
            }),
            "ResourceContents" => self.contents(place, value),
            "CompletionValues" => {
                let count = value.elements().count();
                if count > COMPLETIONS {
                    self.find(&super::COMPLETION_TOO_MANY, place, || {
                        format!("{count} values")
                    });
                }
            }
            _ => {}
        }
    }

    fn wrong(&mut self, place: &Trail<'_>, detail: &dyn Fn() -> String) {
        let rule = if place.is_within("RequestedSchema") {
            &super::ELICIT_SCHEMA_NESTED
        } else {
            self.shape_rule
        };
        self.find(rule, place, detail);
    }
}

fn is_about_shape(rule: &Rule, shape_rule: &Rule) -> bool {
    rule == shape_rule || *rule == super::ELICIT_SCHEMA_NESTED
}

// Keys of `_meta`: their grammar, whom they belong to, and trace context (Base protocol,
// `_meta`).
//
// ```text
// key    = [ prefix "/" ] name
// prefix = label *( "." label )       label = letter [ *( letter | digit | "-" ) ( letter | digit ) ]
// name   = [ alphanumeric [ *( alphanumeric | "-" | "_" | "." ) alphanumeric ] ]
// ```

/// Keys of the protocol's own that are known; a connection may use those of other revisions.
const KNOWN: &[&str] = &[
    keys::PROTOCOL_VERSION,
    keys::CLIENT_CAPABILITIES,
    keys::CLIENT_INFO,
    keys::SERVER_INFO,
    keys::LOG_LEVEL,
    keys::SUBSCRIPTION_ID,
    keys::RELATED_TASK,
    "io.modelcontextprotocol/model-immediate-response",
];

/// What is wrong with a key; `None` where nothing is.
pub fn key_fault(key: &str) -> Option<&'static str> {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    if prefix.is_some_and(|prefix| !prefix.split('.').all(is_label)) {
        return Some("its prefix is no row of labels");
    }
    let ends = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_alphanumeric);
    let bytes = name.as_bytes();
    if !ends(bytes.first()) || !ends(bytes.last()) {
        return Some("its name does not begin and end with a letter or a digit");
    }
    let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (!bytes.iter().all(is_inside))
        .then_some("its name has other characters than letters, digits, `-`, `_` and `.`")
}

fn is_label(label: &str) -> bool {
    let bytes = label.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
        return false;
    };
    first.is_ascii_alphabetic()
        && last.is_ascii_alphanumeric()
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
}

/// Whether the prefix of a key is the protocol's own in `revision`, but the key is none that it
/// defines.
pub fn is_unknown_reserved(key: &str, revision: Revision) -> bool {
    let Some((prefix, _)) = key.split_once('/') else {
        return false;
    };
    is_reserved(prefix, revision) && !KNOWN.contains(&key)
}

fn is_reserved(prefix: &str, revision: Revision) -> bool {
    let is_own = |label: &str| matches!(label, "modelcontextprotocol" | "mcp");
    let labels = prefix.split('.');
    if revision >= Revision::V2025_11_25 {
        return labels.clone().nth(1).is_some_and(is_own);
    }
    // Until then: anywhere, if just one more label follows.
    let mut inwards = labels.rev();
    inwards.next().is_some() && inwards.next().is_some_and(is_own)
}

/// What is wrong with the value of a key of trace context (W3C Trace Context, W3C Baggage);
/// `None` where nothing is or the key is another one.
pub fn trace_fault(key: &str, value: &str) -> Option<&'static str> {
    match key {
        keys::TRACEPARENT if !is_traceparent(value) => {
            Some("not version, trace id, parent id and flags in lower-case hexadecimal")
        }
        "tracestate" if !is_list(value, TRACESTATE_MEMBERS) => Some("not a list of key=value"),
        "baggage" if !is_list(value, usize::MAX) => Some("not a list of key=value"),
        _ => None,
    }
}

/// Whether `key` is one of trace context.
pub fn is_trace_context(key: &str) -> bool {
    matches!(key, keys::TRACEPARENT | "tracestate" | "baggage")
}

/// What W3C Trace Context allows; receivers may drop what is longer.
const TRACESTATE_MEMBERS: usize = 32;

fn is_traceparent(value: &str) -> bool {
    let mut fields = value.split('-');
    let mut hex = |length: usize| {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let field = fields.next().unwrap_or_default();
        (field.len() == length && field.bytes().all(is_digit)).then_some(field)
    };
    let parts = (hex(2), hex(32), hex(16), hex(2));
    let (Some(version), Some(trace), Some(parent), Some(_)) = parts else {
        return false;
    };
    let is_zero = |field: &str| field.bytes().all(|byte| byte == b'0');
    let whole = version != "00" || fields.next().is_none();
    version != "ff" && !is_zero(trace) && !is_zero(parent) && whole
}

fn is_list(value: &str, limit: usize) -> bool {
    let members = value
        .split(',')
        .map(|member| member.trim_matches([' ', '\t']));
    let is_member = |member: &str| {
        let (key, value) = member.split_once('=').unwrap_or_default();
        let is_plain = |byte: u8| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\t');
        let key = key.trim_matches([' ', '\t']);
        !key.is_empty()
            && key.bytes().all(|byte| byte.is_ascii_graphic())
            && value.bytes().all(is_plain)
    };
    let mut count = 0;
    members.into_iter().all(|member| {
        count += usize::from(!member.is_empty());
        member.is_empty() || is_member(member)
    }) && count <= limit
}

// Bytes as text (RFC 4648, section 4).

/// What is wrong with a string that should be base64 with padding; `None` where nothing is.
pub fn base64_fault(value: Value<'_>) -> Option<String> {
    let text = value.str_bytes();
    let padding = text.iter().rev().take_while(|byte| **byte == b'=').count();
    let digits = &text[..text.len() - padding];
    if let Some(at) = digits.iter().position(|byte| !is_digit(*byte)) {
        let what = match digits[at] {
            b'-' | b'_' => "a digit of the alphabet for URLs",
            b'\n' | b'\r' | b' ' | b'\t' => "white space",
            b'=' => "padding in the middle",
            _ => "no digit of base64",
        };
        return Some(format!("{what} at byte {at}"));
    }
    match (digits.len() % 4, padding) {
        (0, 0) | (2, 2) | (3, 1) => None,
        (1, _) => Some(format!("{} digits are no whole bytes", digits.len())),
        (_, 0) => Some("the padding is missing".to_owned()),
        _ => Some(format!("{padding} signs of padding do not fit")),
    }
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/'
}

// URIs and templates for them.

/// What is wrong with a URI (RFC 3986); `None` where nothing is.
pub fn uri_fault(text: &str) -> Option<String> {
    Uri::parse(text).err().map(|error| error.to_string())
}

/// The scheme of a URI as it stands, whatever comes after it.
pub fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let is_scheme = scheme.starts_with(|char: char| char.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    is_scheme.then_some(scheme)
}

/// What is wrong with a template (RFC 6570, section 2); `None` where nothing is.
pub fn template_fault(text: &str) -> Option<String> {
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let offset = text.len() - rest.len() + at;
        if rest[at..].starts_with('}') {
            return Some(format!("a closing brace at byte {offset} that none opens"));
        }
        let inner = &rest[at + 1..];
        let Some(end) = inner
            .find(['{', '}'])
            .filter(|end| inner[*end..].starts_with('}'))
        else {
            return Some(format!("the brace at byte {offset} is not closed"));
        };
        if !is_expression(&inner[..end]) {
            return Some(format!("no variables between the braces at byte {offset}"));
        }
        rest = &inner[end + 1..];
    }
    let outside = text.split('{').filter_map(|part| part.rsplit('}').next());
    let stray = outside.flat_map(str::chars).find(|char| !is_literal(*char));
    stray.map(|char| format!("the character {char:?}, which has to be escaped"))
}

/// Operator and variables, each with how much of it is wanted.
fn is_expression(text: &str) -> bool {
    let operators = ['+', '#', '.', '/', ';', '?', '&', '=', ',', '!', '@', '|'];
    let list = text.strip_prefix(operators).unwrap_or(text);
    list.split(',').all(|variable| {
        let name = match variable.split_once(':') {
            Some((name, length)) if length.parse::<u16>().is_ok() => name,
            Some(_) => return false,
            None => variable.strip_suffix('*').unwrap_or(variable),
        };
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'%');
        !name.is_empty() && name.bytes().all(is_name)
    })
}

/// Whether a character may stand outside of expressions. What is no ASCII may.
fn is_literal(char: char) -> bool {
    !char.is_ascii_control()
        && !matches!(char, ' ' | '"' | '\'' | '<' | '>' | '\\' | '^' | '`' | '|')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_a_grammar() {
        for good in [
            "progressToken",
            "io.modelcontextprotocol/related-task",
            "com.example/",
            "a/b",
            "x-y.z9/a_b.c",
            "",
            "ui",
        ] {
            assert_eq!(key_fault(good), None, "{good}");
        }
        for bad in [
            "bad key!", "-a", "a-", "/a", "9a/b", "a-/b", "a..b/c", "a/b/c", "é", "$ref",
        ] {
            assert!(key_fault(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn reserved_prefixes_depend_on_the_revision() {
        use Revision::{V2025_06_18 as C, V2025_11_25 as D};
        for (key, in_c, in_d) in [
            ("io.modelcontextprotocol/made-up", false, true),
            ("io.modelcontextprotocol/related-task", false, false),
            ("mcp.dev/x", true, false),
            ("tools.mcp.com/x", true, true),
            ("com.example.mcp/x", false, false),
            ("com.example/mcp", false, false),
            ("made-up", false, false),
        ] {
            assert_eq!(is_unknown_reserved(key, C), in_c, "{key}");
            assert_eq!(is_unknown_reserved(key, D), in_d, "{key}");
        }
    }
}

#[cfg(test)]
mod uri_tests {
    use super::*;

    #[test]
    fn schemes_are_read_from_anything() {
        assert_eq!(scheme("javascript:alert(1)"), Some("javascript"));
        assert_eq!(scheme("HTTPS://a b"), Some("HTTPS"));
        assert_eq!(scheme("/icon.png"), None);
        assert_eq!(scheme("a b:c"), None);
    }

    #[test]
    fn braces_of_templates_are_closed_and_hold_variables() {
        for good in [
            "file:///{path}",
            "a://{+path*}/{?q,lang:3}",
            "a://{id}",
            "plain://nothing",
            "{scheme}://x",
            "a://{x.y_z}/%20",
        ] {
            assert_eq!(template_fault(good), None, "{good}");
        }
        for bad in [
            "a://{id",
            "a://id}",
            "a://{}",
            "a://{a{b}}",
            "a://{a b}",
            "a://b c",
            "a://{a:x}",
            "a://{a,}",
        ] {
            assert!(template_fault(bad).is_some(), "{bad}");
        }
    }
}
