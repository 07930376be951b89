//! Keys of `_meta`: their grammar, whom they belong to, and trace context (Base protocol,
//! `_meta`).
//!
//! ```text
//! key    = [ prefix "/" ] name
//! prefix = label *( "." label )       label = letter [ *( letter | digit | "-" ) ( letter | digit ) ]
//! name   = [ alphanumeric [ *( alphanumeric | "-" | "_" | "." ) alphanumeric ] ]
//! ```

use mcpreel_wire::mcp::{Revision, keys};

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
pub fn fault(key: &str) -> Option<&'static str> {
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
            assert_eq!(fault(good), None, "{good}");
        }
        for bad in [
            "bad key!", "-a", "a-", "/a", "9a/b", "a-/b", "a..b/c", "a/b/c", "é", "$ref",
        ] {
            assert!(fault(bad).is_some(), "{bad}");
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

    #[test]
    fn trace_context_is_checked_by_its_own_grammar() {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        assert_eq!(trace_fault("traceparent", parent), None);
        assert_eq!(
            trace_fault("traceparent", &parent.replace("00-0", "cc-0")),
            None
        );
        assert_eq!(
            trace_fault("tracestate", "congo=t61rcWkgMzE, rojo=00f"),
            None
        );
        assert_eq!(trace_fault("baggage", "a=b;p=1 , c = d"), None);
        assert_eq!(trace_fault("other", "\u{7}"), None);
        for bad in [
            &*parent.to_uppercase(),
            &parent.replace("00-0", "ff-0"),
            &parent.replace("b7ad6b7169203331", "0000000000000000"),
            &format!("{parent}-00"),
            "",
            "made-up",
        ] {
            assert!(trace_fault("traceparent", bad).is_some(), "{bad}");
        }
        assert!(trace_fault("tracestate", "a").is_some());
        assert!(trace_fault("tracestate", &"a=b,".repeat(33)).is_some());
        assert!(trace_fault("baggage", "=b").is_some());
    }
}
