//! Reading files of rules.

use super::{Bind, Calls, Matching, Rule, Rules, Side, Sides, What, sidecar};
use mcpreel_config::reading::{self, Reading};
use mcpreel_config::{Position, Setting};
use mcpreel_wire::json::{Path, Step};
use mcpreel_wire::mcp::methods;
use regex::{Regex, RegexBuilder};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub use mcpreel_config::Problem;

/// Longer files of rules are refused: the one beside a recording may come from a stranger.
const LONGEST: u64 = 1 << 20;

/// The kinds of rules, each with its keys.
const KINDS: [(&str, &[&str]); 5] = [
    ("bind", &["answer", "from", "request", "to"]),
    ("ignore", &["for", "path", "side"]),
    ("keep", &["for", "path"]),
    ("match", &["for", "path", "as"]),
    ("normalise", &["for", "path", "side", "pattern", "with"]),
];

/// The kinds of rules, as the sections of a file are called.
pub const SECTIONS: [&str; 5] = ["bind", "ignore", "keep", "match", "normalise"];

/// More rules than anybody writes: every difference is held against each.
const MAX_RULES: usize = 1000;

/// Bytes that a compiled pattern may take.
const PATTERN_SIZE: usize = 1 << 20;

/// What stands at the top of a message and differs.
const TOPS: [&str; 3] = ["params", "result", "error"];

/// Why a file of rules cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("the rules {} cannot be read: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{}", problems.first().map_or_else(String::new, ToString::to_string))]
    Wrong { problems: Vec<Problem> },
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
        let added = rules.add(&text, path);
        added.map_err(|problems| FileError::Wrong { problems })?;
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

/// The rules of a file, or all that is wrong with it.
pub(super) fn rules(text: &str, path: &std::path::Path) -> Result<Vec<Rule>, Vec<Problem>> {
    let table = reading::table(text, path).map_err(|problem| vec![problem])?;
    let mut reading = Reading::new(text, path);
    let mut rules = Vec::new();
    for (section, value) in &table {
        let kind = KINDS
            .iter()
            .find(|(kind, _)| *kind == section.get_ref().as_ref());
        match kind {
            Some((kind, keys)) => section_rules(kind, keys, value, &mut reading, &mut rules),
            None => reading.unknown(section, &SECTIONS),
        }
    }
    let problems = reading.finish();
    if problems.is_empty() {
        Ok(rules)
    } else {
        Err(problems)
    }
}

fn section_rules(
    kind: &str,
    keys: &'static [&'static str],
    value: &Spanned<DeValue<'_>>,
    reading: &mut Reading<'_>,
    rules: &mut Vec<Rule>,
) {
    let DeValue::Array(array) = value.get_ref() else {
        reading.wrong::<()>(kind, value, "an array of tables, each with two brackets");
        return;
    };
    for value in array {
        if rules.len() == MAX_RULES {
            let message = format!("there are more than {MAX_RULES} rules");
            return meaningless(&reading.at(value), &message, reading);
        }
        let DeValue::Table(table) = value.get_ref() else {
            reading.wrong::<()>(kind, value, "a table");
            continue;
        };
        let keys = Keys::read(keys, value, table, reading);
        rules.extend(keys.and_then(|mut keys| keys.rule(kind, reading)));
    }
}

fn meaningless(at: &Position, message: &str, reading: &mut Reading<'_>) {
    reading.problem(Problem::new(at, message));
}

/// The keys of one rule, all of them texts.
struct Keys {
    at: Position,
    settings: BTreeMap<&'static str, Setting>,
}

impl Keys {
    fn read(
        known: &'static [&'static str],
        value: &Spanned<DeValue<'_>>,
        table: &DeTable<'_>,
        reading: &mut Reading<'_>,
    ) -> Option<Self> {
        let mut keys = Self {
            at: reading.at(value),
            settings: BTreeMap::new(),
        };
        let mut whole = true;
        for (key, value) in table {
            let name = known.iter().find(|name| **name == key.get_ref().as_ref());
            let Some(name) = name else {
                reading.unknown(key, known);
                whole = false;
                continue;
            };
            match reading.text(name, value) {
                Some(setting) => drop(keys.settings.insert(name, setting)),
                None => whole = false,
            }
        }
        whole.then_some(keys)
    }

    fn rule(&mut self, kind: &str, reading: &mut Reading<'_>) -> Option<Rule> {
        let calls = self.calls("for", reading);
        let what = match kind {
            "bind" => self.bind(reading)?,
            "ignore" => What::Ignore {
                path: self.path("path", &TOPS, reading)?,
                sides: self.sides(reading)?,
            },
            "keep" => What::Keep {
                path: self.kept(reading)?,
            },
            "match" => What::Match {
                path: self.path("path", &TOPS, reading)?,
                matching: self.matching(reading)?,
            },
            _ => What::Normalise {
                path: self.path("path", &TOPS, reading)?,
                pattern: self.pattern(reading)?,
                with: self.take("with").map_or("".into(), |with| with.text.into()),
                sides: self.sides(reading)?,
            },
        };
        Some(Rule {
            at: self.at.clone(),
            calls: calls?,
            what,
            fired: AtomicU64::new(0),
        })
    }

    fn take(&mut self, key: &str) -> Option<Setting> {
        self.settings.remove(key)
    }

    fn needed(
        &mut self,
        key: &'static str,
        meaning: &'static str,
        reading: &mut Reading<'_>,
    ) -> Option<Setting> {
        let setting = self.take(key);
        if setting.is_none() {
            let at = self.at.clone();
            let message = format!("`{key}` is missing here: {meaning}");
            reading.problem(Problem::new(&at, &message));
        }
        setting
    }

    fn bind(&mut self, reading: &mut Reading<'_>) -> Option<What> {
        let answer = self.calls("answer", reading);
        let from = self.path("from", &["result", "error"], reading);
        let request = self.calls("request", reading);
        let to = self.path("to", &["params"], reading);
        Some(What::Bind(Bind {
            answer: answer?,
            from: from?,
            request: request?,
            to: to?,
        }))
    }

    /// `tool:NAME` or a method; without the key all exchanges are meant.
    fn calls(&mut self, key: &str, reading: &mut Reading<'_>) -> Option<Calls> {
        let Some(Setting { text, at }) = self.take(key) else {
            return Some(Calls::All);
        };
        if let Some(tool) = text.strip_prefix("tool:").filter(|tool| !tool.is_empty()) {
            return Some(Calls::Tool(tool.into()));
        }
        if text.contains('/') || methods::find(&text).is_some() {
            return Some(Calls::Method(text.into()));
        }
        let known: Vec<_> = methods::METHODS.iter().map(|method| method.name).collect();
        let hint = match reading::nearest(&text, &known) {
            Some(method) => format!("did you mean `{method}`?"),
            None => format!("a tool is `tool:{text}`"),
        };
        meaningless(&at, &format!("`{text}` is no method; {hint}"), reading);
        None
    }

    /// A path from one of the members `tops` of a message.
    fn path(
        &mut self,
        key: &'static str,
        tops: &[&str],
        reading: &mut Reading<'_>,
    ) -> Option<Path> {
        let Setting { text, at } = self.needed(key, "where in the message it is", reading)?;
        let path = match text.parse::<Path>() {
            Ok(path) => path,
            Err(error) => {
                meaningless(&at, &format!("`{text}` is no path: {error}"), reading);
                return None;
            }
        };
        let top = match path.steps().first() {
            Some(Step::Member(name)) if tops.contains(&&**name) => return Some(path),
            Some(Step::Member(name)) => &**name,
            _ => "",
        };
        let expected = tops.join(", ");
        let hint = reading::nearest(top, tops)
            .map_or_else(String::new, |top| format!(", did you mean `{top}`?"));
        let message = format!("the path `{text}` has to begin with one of {expected}{hint}");
        meaningless(&at, &message, reading);
        None
    }

    fn kept(&mut self, reading: &mut Reading<'_>) -> Option<Path> {
        let at = self.settings.get("path").map(|path| path.at.clone());
        let path = self.path("path", &["params"], reading)?;
        if let [_, Step::Member(meta), _, ..] = path.steps()
            && &**meta == "_meta"
        {
            return Some(path);
        }
        let message = format!(
            "everything but `_meta` is kept already: `{path}` has to begin with `params._meta`"
        );
        meaningless(&at?, &message, reading);
        None
    }

    /// One side, or both without the key.
    fn sides(&mut self, reading: &mut Reading<'_>) -> Option<Sides> {
        let Some(Setting { text, at }) = self.take("side") else {
            return Some(Sides::Both);
        };
        match text.as_str() {
            "left" => return Some(Sides::Only(Side::Left)),
            "right" => return Some(Sides::Only(Side::Right)),
            _ => {}
        }
        let message = format!("`{text}` is no side: `left` is what was recorded, `right` is live");
        meaningless(&at, &message, reading);
        None
    }

    fn matching(&mut self, reading: &mut Reading<'_>) -> Option<Matching> {
        let Setting { text, at } = self.needed("as", "`set` or `keyed(NAME)`", reading)?;
        let keyed = text.strip_prefix("keyed(");
        match keyed.and_then(|rest| rest.strip_suffix(')')) {
            Some(name) if !name.is_empty() => return Some(Matching::Keyed(name.into())),
            None if text == "set" => return Some(Matching::Set),
            _ => {}
        }
        let message = format!("`{text}` is neither `set` nor `keyed(NAME)`");
        meaningless(&at, &message, reading);
        None
    }

    fn pattern(&mut self, reading: &mut Reading<'_>) -> Option<Regex> {
        let Setting { text, at } = self.needed("pattern", "a regular expression", reading)?;
        let built = RegexBuilder::new(&text).size_limit(PATTERN_SIZE).build();
        let error = match built {
            Ok(pattern) => return Some(pattern),
            Err(error) => error.to_string(),
        };
        // The last line of the message says what is wrong, those above point at it.
        let error = error.lines().last().unwrap_or_default();
        let error = error.trim_start_matches("error: ");
        let message = format!("`{text}` is no regular expression: {error}");
        meaningless(&at, &message, reading);
        None
    }
}
