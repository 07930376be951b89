//! The grammars of texts whose places the shapes know: keys of `_meta`, base64, URIs.

use crate::quote::expression;
use base64::engine::general_purpose::{GeneralPurpose, PAD};
use base64::{DecodeError, Engine, alphabet};
use fluent_uri::Uri;
use mcpreel_wire::mcp::{Revision, keys};
use regex::Regex;
use std::sync::LazyLock;

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

/// Whether a text is a key.
pub fn is_key(key: &str) -> bool {
    static KEY: LazyLock<Regex> = LazyLock::new(|| {
        let label = "[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
        let name = "(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?)?";
        expression(&format!(r"^(?:{label}(?:\.{label})*/)?{name}$"))
    });
    KEY.is_match(key)
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

/// The fault of the value of a key of trace context (W3C Trace Context, W3C Baggage); `value`
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

/// Members that W3C Trace Context allows; receivers may drop what is longer.
const TRACESTATE_MEMBERS: usize = 32;

fn is_traceparent(value: &str) -> bool {
    static FIELDS: LazyLock<Regex> = LazyLock::new(|| {
        expression("^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$")
    });
    FIELDS.captures(value).is_some_and(|fields| {
        let is_zero = |at: usize| fields[at].bytes().all(|byte| byte == b'0');
        let is_whole = &fields[1] != "00" || fields.get(4).is_none();
        &fields[1] != "ff" && !is_zero(2) && !is_zero(3) && is_whole
    })
}

fn is_list(value: &str, limit: usize) -> bool {
    static MEMBER: LazyLock<Regex> =
        LazyLock::new(|| expression(r"^[ \t]*(?:[!-~&&[^=]]+[ \t]*=[\t -~]*)?$"));
    let is_member = |member: &str| MEMBER.is_match(member);
    let is_empty = |member: &&str| !member.trim_matches([' ', '\t']).is_empty();
    value.split(',').all(is_member) && value.split(',').filter(is_empty).count() <= limit
}

/// The standard alphabet with padding, whatever the bits behind the last byte are.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    PAD.with_decode_allow_trailing_bits(true),
);

/// The fault of a string that should be base64 (RFC 4648, section 4); `None` where nothing is.
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

/// The fault of a URI (RFC 3986); `None` where nothing is.
pub fn uri_fault(text: &str) -> Option<String> {
    Uri::parse(text).err().map(|error| error.to_string())
}

/// The scheme of a URI as it stands, whatever comes after it.
pub fn scheme(text: &str) -> Option<&str> {
    static SCHEME: LazyLock<Regex> = LazyLock::new(|| expression("^([A-Za-z][A-Za-z0-9+.-]*):"));
    Some(SCHEME.captures(text)?.get(1)?.as_str())
}

/// The fault of a template (RFC 6570, section 2); `None` where nothing is.
pub fn template_fault(text: &str) -> Option<String> {
    static TEMPLATE: LazyLock<Regex> = LazyLock::new(|| {
        let literal = r#"[^\x00-\x20"'<>\\^`|{}\x7f]"#;
        let variable = r"[A-Za-z0-9_.%]+(?::\d{1,4}|\*)?";
        let operator = "[+#./;?&=,!@|]?";
        let braces = format!(r"\{{{operator}{variable}(?:,{variable})*\}}");
        expression(&format!("^(?:{literal}|{braces})*"))
    });
    let end = TEMPLATE.find(text).map_or(0, |found| found.end());
    let rest = text[end..].chars().next()?;
    Some(match rest {
        '{' => format!("the brace at byte {end} is not closed, or holds no variables"),
        '}' => format!("a closing brace at byte {end} that none opens"),
        char => format!("the character {char:?}, which has to be escaped"),
    })
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
            assert!(is_key(good), "{good}");
        }
        for bad in [
            "bad key!", "-a", "a-", "/a", "9a/b", "a-/b", "a..b/c", "a/b/c", "é", "$ref",
        ] {
            assert!(!is_key(bad), "{bad}");
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
