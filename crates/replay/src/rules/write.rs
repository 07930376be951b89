//! Rules as they stand in a file, ready to be pasted.

use super::{Bind, Calls, Matching, Rule, Side, What};
use mcpreel_wire::json::Path;
use mcpreel_wire::text::escape;
use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// The rule that passes over whatever differs at `path` in exchanges of this method, or with this
/// tool; with `only` just what that side has there and the other has not.
pub fn ignore_rule(method: &str, name: Option<&str>, path: &Path, only: Option<Side>) -> String {
    let calls = Calls::of(method, name);
    let side = match only {
        None => "",
        Some(Side::Left) => "side = \"left\"\n",
        Some(Side::Right) => "side = \"right\"\n",
    };
    format!(
        "[[ignore]]\n{}path = {}\n{side}",
        calls.line("for"),
        quoted(&path.to_string())
    )
}

/// The rule by which the elements of the list at `path` are matched in such exchanges, whatever their
/// order.
pub fn match_rule(method: &str, name: Option<&str>, path: &Path, matching: &Matching) -> String {
    let how = match matching {
        Matching::Set => "set".to_owned(),
        Matching::Keyed(member) => format!("keyed({member})"),
    };
    format!(
        "[[match]]\n{}path = {}\nas = {}\n",
        Calls::of(method, name).line("for"),
        quoted(&path.to_string()),
        quoted(&how)
    )
}

/// The rule that binds a value of a later request to one of an answer.
pub fn bind_rule(bind: &Bind) -> String {
    format!(
        "[[bind]]\n{}from = {}\n{}to = {}\n",
        bind.answer.line("answer"),
        quoted(&bind.from.to_string()),
        bind.request.line("request"),
        quoted(&bind.to.to_string())
    )
}

/// A text as a value of TOML in which nothing is hidden: where a reader could not see something of
/// it, everything beyond ASCII is written as an escape.
fn quoted(text: &str) -> String {
    let is_plain = matches!(escape(text), Cow::Borrowed(_));
    if is_plain && text.contains(['"', '\\']) && !text.contains('\'') {
        return format!("'{text}'");
    }
    let mut out = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            _ if is_plain || matches!(character, ' '..='~') => out.push(character),
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\U{:08X}", u32::from(character));
            }
        }
    }
    out.push('"');
    out
}

impl Calls {
    /// The narrowest that an exchange belongs to.
    pub fn of(method: &str, name: Option<&str>) -> Self {
        match (method, name) {
            ("tools/call", Some(name)) => Self::Tool(name.into()),
            _ => Self::Method(method.into()),
        }
    }

    /// The line of a rule that says so; none for all exchanges.
    fn line(&self, key: &str) -> String {
        match self {
            Self::All => String::new(),
            _ => format!("{key} = {}\n", quoted(&self.to_string())),
        }
    }
}

impl fmt::Display for Calls {
    /// As in a rule: `tools/list`, `tool:search`; `any` for all of them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("any"),
            Self::Method(method) => f.write_str(method),
            Self::Tool(name) => write!(f, "tool:{name}"),
        }
    }
}

impl Rule {
    /// The rule in short: `ignore result.a of tool:search`.
    pub(super) fn in_words(&self) -> String {
        let of = match &self.calls {
            Calls::All => String::new(),
            calls => format!(" of {calls}"),
        };
        match &self.what {
            What::Ignore { path, .. } => format!("ignore {path}{of}"),
            What::Normalise { path, .. } => format!("normalise {path}{of}"),
            What::Match { path, matching } => match matching {
                Matching::Set => format!("match {path}{of} as a set"),
                Matching::Keyed(name) => format!("match {path}{of} by {name}"),
            },
            What::Keep { path } => format!("keep {path}{of}"),
            What::Bind(bind) => {
                let Bind {
                    answer,
                    from,
                    request,
                    to,
                } = bind;
                format!("bind {to} of {request} to {from} of {answer}")
            }
        }
    }
}
