//! The grammars of texts whose places the shapes know: keys of `_meta`, base64, URIs.

use base64::engine::general_purpose::{GeneralPurpose, PAD};
use base64::{DecodeError, Engine, alphabet};
use fluent_uri::Uri;
use mcpreel_wire::mcp::{Revision, keys};

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
    let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    label.starts_with(|char: char| char.is_ascii_alphabetic())
        && label.ends_with(|char: char| char.is_ascii_alphanumeric())
        && label.bytes().all(is_inside)
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

/// What is wrong with the value of a key of trace context (W3C Trace Context, W3C Baggage); `value`
/// is none where it is no string. `None` where nothing is wrong or the key is another one.
pub fn trace_fault(key: &str, value: Option<&str>) -> Option<&'static str> {
    let list = "not a list of key=value";
    let (fault, fits): (_, fn(&str) -> bool) = match key {
        keys::TRACEPARENT => {
            let fault = "not version, trace id, parent id and flags in lower-case hexadecimal";
            (fault, is_traceparent)
        }
        "tracestate" => (list, |value| is_list(value, TRACESTATE_MEMBERS)),
        "baggage" => (list, |value| is_list(value, usize::MAX)),
        _ => return None,
    };
    match value {
        None => Some("not a string"),
        Some(value) => (!fits(value)).then_some(fault),
    }
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
    let blank = [' ', '\t'];
    let members = value.split(',').map(|member| member.trim_matches(blank));
    let members: Vec<_> = members.filter(|member| !member.is_empty()).collect();
    let is_member = |member: &&str| {
        let (key, value) = member.split_once('=').unwrap_or_default();
        let key = key.trim_matches(blank);
        let is_plain = |byte: u8| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\t');
        !key.is_empty()
            && key.bytes().all(|byte| byte.is_ascii_graphic())
            && value.bytes().all(is_plain)
    };
    members.len() <= limit && members.iter().all(is_member)
}

/// The standard alphabet with padding, whatever the bits behind the last byte are.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    PAD.with_decode_allow_trailing_bits(true),
);

/// What is wrong with a string that should be base64 (RFC 4648, section 4); `None` where nothing is.
pub fn base64_fault(text: &[u8]) -> Option<String> {
    match BASE64.decode(text).err()? {
        DecodeError::InvalidByte(at, b'-' | b'_') => {
            Some(format!("a digit of the alphabet for URLs at byte {at}"))
        }
        DecodeError::InvalidByte(at, _) => Some(format!("no digit of base64 at byte {at}")),
        error => Some(error.to_string()),
    }
}

// URIs and templates for them.

/// What is wrong with a URI (RFC 3986); `None` where nothing is.
pub fn uri_fault(text: &str) -> Option<String> {
    Uri::parse(text).err().map(|error| error.to_string())
}

/// The scheme of a URI as it stands, whatever comes after it.
pub fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let begins = scheme.starts_with(|char: char| char.is_ascii_alphabetic());
    (begins && scheme.bytes().all(is_inside)).then_some(scheme)
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
