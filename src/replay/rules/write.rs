//! Rules as they stand in a file, ready to be pasted.

use super::{Bind, Calls, Matching, Rule, What};
use crate::protocol::json::Path;
use std::fmt;

/// The rule that passes over whatever differs at `path` in exchanges of this method, or with this
/// tool.
#[must_use]
pub fn ignore_rule(method: &str, name: Option<&str>, path: &Path) -> String {
    let calls = Calls::of(method, name);
    format!(
        "[[ignore]]\n{}path = {}\n",
        calls.line("for"),
        quoted(&path.to_string())
    )
}

/// The rule that binds a value of a later request to one of an answer.
#[must_use]
pub fn bind_rule(bind: &Bind) -> String {
    format!(
        "[[bind]]\n{}from = {}\n{}to = {}\n",
        bind.answer.line("answer"),
        quoted(&bind.from.to_string()),
        bind.request.line("request"),
        quoted(&bind.to.to_string())
    )
}

/// A text as a value of TOML.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

impl Calls {
    /// The narrowest that an exchange belongs to.
    #[must_use]
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
