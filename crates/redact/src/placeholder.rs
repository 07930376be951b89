//! What stands in place of a value: in an example, in a form, where something is hidden already, or
//! where code says from where a value comes.

use super::token::{OPEN, Piece, Pieces};
use regex::Regex;
use std::sync::LazyLock;

/// Words that a value is called, or that stand for none; a digit may follow.
const WORDS: &str = "password|passwd|pass|secret|token|key|apikey|bearer|basic|input|value|none|null|nil|\
undefined|true|false|yes|no|string|str|text|number|boolean|object|bool|required|optional|missing|\
invalid|incorrect|expired|wrong|empty|unset|hidden|masked|redacted|filtered|removed|change[-_]?me|\
replace[-_]?me|example|dummy|placeholder|sample|default|todo|tbd|n/a|user|username|test|xxx|include|\
same-origin|omit|disabled|enabled|unknown|anonymous|prompt|ask|env|file|encrypted";

/// A whole text that stands for a value, in small letters.
static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    let of_somebody =
        "your|my[-_]|enter[-_ ]|insert[-_ ]|replace[-_ ]|the-|some-|test-api|dummy|put[-_ ]";
    let masks = r"(?:sk|pk|rk|gh[a-z]|github|glpat|xox[bp]|npm|hf|gsk)(?:[-_](?:proj|ant|api03|live|test|or|pat))*(?:[-_](?:x+|\*+|\.+)?)+";
    let pattern = format!(
        r"(?x-u)^(?:
            \**(?:{WORDS})[0-9]?\**[.,;!)]*
          | <[^>]*> | \[[^\]]*\] | \{{.*\}} | %[^%]*% | __[a-z_]+__
          | [*x.\-_?\#]{{2,}} | (?:•|…|●)+
          | (?:required|nullable)\|.*
          | [0-9]+=env:.*
          | .*(?:example|placeholder|change[-_]?me).*
          | (?:{of_somebody}).*(?:here|key|token|secret|password)[.,;!)]*
          | {masks}
        )$"
    );
    Regex::new(&pattern.replace("(?x-u)", "(?xs)")).expect("tests look for placeholders")
});

/// Where a value comes from.
static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?xs)^(?:
        \$[A-Z_]+$ | \$\{ | \$\( | \{\{ | process\.env | os\.environ | os\.getenv | env\. | ENV\[
      | secrets\. | env: | file: | vault: | op:// | arn:aws: | .*\(\)?$
    )";
    Regex::new(pattern).expect("tests look for references")
});

/// Whether a text stands for a value in an example, or in place of one that is hidden already.
pub(super) fn is_placeholder(value: &str) -> bool {
    let text = value.trim();
    text.is_empty() || PLACEHOLDER.is_match(&text.to_lowercase()) || is_hidden(text)
}

/// `$TOKEN`, `process.env.TOKEN`, `get_password()`: where a value comes from, not the value.
pub(super) fn is_reference(value: &str) -> bool {
    REFERENCE.is_match(value)
}

/// Whether a text consists of tokens of this crate or of another redaction, signs aside.
fn is_hidden(text: &str) -> bool {
    let is_sign = |text: &str| {
        let said = text
            .replace("\\n", "")
            .replace("\\r", "")
            .replace("\\t", "");
        matches!(text.trim(), "Bearer" | "Basic") || !said.contains(char::is_alphanumeric)
    };
    text.contains(OPEN)
        && Pieces(text).all(|piece| match piece {
            Piece::Placeholder { .. } => true,
            Piece::Text(text) => is_sign(text),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_a_value_is_none() {
        for value in [
            "",
            "<token>",
            "{{ token }}",
            "%TOKEN%",
            "****",
            "xxxx",
            "your-api-key",
            "YOUR_TOKEN_HERE",
            "password",
            "changeme",
            "null",
            "[REDACTED]",
            "‹secret:1›",
            "Bearer ‹secret:1›",
            "‹secret:1›\\\\n",
            "AKIAIOSFODNN7EXAMPLE",
            "sk-...",
            "sk-",
            "sk-proj-xxxxxxxx",
            "ghp_xxxxxxxxxxxx",
            "***REMOVED***",
            "INSERT_YOUR_KEY_HERE",
            "REPLACE_ME",
            "input2",
        ] {
            assert!(is_placeholder(value), "{value}");
        }
        for value in [
            "${TOKEN}",
            "$TOKEN",
            "process.env.TOKEN",
            "getpass()",
            "op://vault/db/x",
        ] {
            assert!(is_reference(value), "{value}");
        }
        for value in [
            "hunter2",
            "xxx-harbour-9",
            "ghp_lovely77",
            "sk-live-seagull",
            "*puffin*",
        ] {
            assert!(!is_placeholder(value) && !is_reference(value), "{value}");
        }
    }
}
