//! Reading files of rules.

use super::{Bind, Calls, Matching, Rule, Rules, What, Written, sidecar};
use mcpreel_config::{Positions, nearest};
use mcpreel_wire::json::{Path, Step};
use mcpreel_wire::mcp::methods;
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::PathBuf;
use toml::Spanned;

pub use mcpreel_config::Problem;

/// Longer files of rules are refused: every difference is held against each rule, and the file
/// beside a recording may come from a stranger.
const LONGEST: u64 = 64 << 10;

/// The kinds of rules, as the sections of a file are called.
pub const SECTIONS: [&str; 5] = ["ignore", "keep", "match", "normalise", "bind"];

/// Bytes that a compiled pattern may take.
const PATTERN_SIZE: usize = 1 << 20;

/// Why a file of rules cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("the rules {} cannot be read: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Wrong(#[from] Problem),
}

/// A file that rules were read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub path: PathBuf,
    pub rules: usize,
}

/// The rules of the files `named` and of the one beside `recording`, if there is one; and where
/// they are from.
pub fn read(
    named: &[PathBuf],
    recording: &std::path::Path,
) -> Result<(Rules, Vec<Source>), FileError> {
    let mut rules = Rules::default();
    let mut sources = Vec::new();
    let beside = sidecar(recording);
    let named = named.iter().map(|path| &**path);
    for path in named.chain(beside.is_file().then_some(&*beside)) {
        let before = rules.len();
        let text = read_text(path).map_err(|source| FileError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        rules.add(&text, path)?;
        sources.push(Source {
            path: path.to_owned(),
            rules: rules.len() - before,
        });
    }
    Ok((rules, sources))
}

fn read_text(path: &std::path::Path) -> io::Result<String> {
    let mut text = String::new();
    let file = File::open(path)?;
    file.take(LONGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST {
        return Err(io::Error::other("it is too long for a file of rules"));
    }
    Ok(text)
}

/// A file, section by section.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Sections {
    bind: Vec<Bind>,
    ignore: Vec<Spanned<Written>>,
    keep: Vec<Spanned<Written>>,
    #[serde(rename = "match")]
    matching: Vec<Spanned<Written>>,
    normalise: Vec<Spanned<Written>>,
}

/// The rules of a file, or what is wrong with it.
pub(super) fn rules(text: &str, path: &std::path::Path) -> Result<(Vec<Rule>, Vec<Bind>), Problem> {
    let places = Positions::new(text, path);
    let sections: Sections = toml::from_str(text).map_err(|error| {
        let at = places.at(error.span().map_or(0, |span| span.start));
        Problem::new(&at, &with_nearest(error.message()))
    })?;
    let mut rules = Vec::new();
    for (what, section) in [
        (What::Ignore, sections.ignore),
        (What::Keep, sections.keep),
        (What::Match, sections.matching),
        (What::Normalise, sections.normalise),
    ] {
        for rule in section {
            let at = places.at(rule.span().start);
            let about = rule.into_inner();
            if let Some(fault) = fault(what, &about) {
                return Err(Problem::new(&at, &fault));
            }
            rules.push(Rule {
                at,
                what,
                about,
                fired: false.into(),
            });
        }
    }
    Ok((rules, sections.bind))
}

/// The fault of a rule, if it has one: a key that is missing, or means nothing in it.
fn fault(what: What, rule: &Written) -> Option<String> {
    let (needed, others): (&[&str], &[&str]) = match what {
        What::Keep => (&["path"], &[]),
        What::Ignore => (&["path"], &["side"]),
        What::Match => (&["path", "as"], &[]),
        What::Normalise => (&["path", "pattern"], &["side", "with"]),
    };
    for (key, is_there) in [
        ("path", rule.path.is_some()),
        ("side", rule.side.is_some()),
        ("as", rule.matching.is_some()),
        ("pattern", rule.pattern.is_some()),
        ("with", !rule.with.is_empty()),
    ] {
        match needed.contains(&key) {
            true if !is_there => return Some(format!("missing field `{key}`")),
            false if is_there && !others.contains(&key) => {
                return Some(format!("`{key}` means nothing here"));
            }
            _ => {}
        }
    }
    let path = rule.path.as_ref().filter(|_| what == What::Keep)?;
    let is_kept = matches!(path.steps(), [Step::Member(params), Step::Member(meta), _, ..]
        if &**params == "params" && &**meta == "_meta");
    (!is_kept).then(|| {
        format!("everything else is kept already: `{path}` has to begin with `params._meta`")
    })
}

/// The message of an unknown key with the key that it is most like.
fn with_nearest(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let unknown = quoted.next().filter(|_| message.starts_with("unknown "));
    let known: Vec<_> = quoted.collect();
    match unknown.and_then(|unknown| Some((unknown, nearest(unknown, &known)?))) {
        Some((unknown, known)) => format!("unknown key `{unknown}`, did you mean `{known}`?"),
        None => message.to_owned(),
    }
}

impl<'de> Deserialize<'de> for Calls {
    /// `tool:NAME` or a method.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        if let Some(tool) = text.strip_prefix("tool:").filter(|tool| !tool.is_empty()) {
            return Ok(Self::Tool(tool.into()));
        }
        if text.contains('/') || methods::find(&text).is_some() {
            return Ok(Self::Method(text.into()));
        }
        let known: Vec<_> = methods::METHODS.iter().map(|method| method.name).collect();
        let hint = match nearest(&text, &known) {
            Some(method) => format!("did you mean `{method}`?"),
            None => format!("a tool is `tool:{text}`"),
        };
        Err(D::Error::custom(format!("`{text}` is no method; {hint}")))
    }
}

impl<'de> Deserialize<'de> for Matching {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let keyed = text.strip_prefix("keyed(");
        match keyed.and_then(|rest| rest.strip_suffix(')')) {
            Some(name) if !name.is_empty() => Ok(Self::Keyed(name.into())),
            None if text == "set" => Ok(Self::Set),
            _ => {
                let message = format!("`{text}` is neither `set` nor `keyed(NAME)`");
                Err(D::Error::custom(message))
            }
        }
    }
}

pub(super) fn path<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Path>, D::Error> {
    path_in(&["params", "result", "error"], from).map(Some)
}

pub(super) fn path_in_request<'de, D: Deserializer<'de>>(from: D) -> Result<Path, D::Error> {
    path_in(&["params"], from)
}

pub(super) fn path_in_answer<'de, D: Deserializer<'de>>(from: D) -> Result<Path, D::Error> {
    path_in(&["result", "error"], from)
}

/// A path from one of the members `tops` of a message.
fn path_in<'de, D: Deserializer<'de>>(tops: &[&str], from: D) -> Result<Path, D::Error> {
    let text = String::deserialize(from)?;
    let path = text.parse::<Path>();
    let path = path.map_err(|error| D::Error::custom(format!("`{text}` is no path: {error}")))?;
    let top = match path.steps().first() {
        Some(Step::Member(name)) if tops.contains(&&**name) => return Ok(path),
        Some(Step::Member(name)) => &**name,
        _ => "",
    };
    let hint = nearest(top, tops).map_or(String::new(), |top| format!(", did you mean `{top}`?"));
    Err(D::Error::custom(format!(
        "the path `{text}` has to begin with one of {}{hint}",
        tops.join(", ")
    )))
}

pub(super) fn pattern<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Regex>, D::Error> {
    let text = String::deserialize(from)?;
    let built = RegexBuilder::new(&text).size_limit(PATTERN_SIZE).build();
    built.map(Some).map_err(|error| {
        // The last line of the message says what is wrong, those above point at it.
        let error = error.to_string();
        let error = error.lines().last().unwrap_or_default();
        let error = error.trim_start_matches("error: ");
        D::Error::custom(format!("`{text}` is no regular expression: {error}"))
    })
}
