//! What counts as secret: the rules that are in force, compiled.

use super::encodings::Code;
use super::names::{self, Class};
use super::ruleset;
use super::ruleset::Rule;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use mcpreel_wire::json::Path;
use regex::bytes::{Regex, RegexBuilder};
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// The user's settings about secrets.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Whether addresses of e-mail are replaced.
    pub email: bool,
    /// Whether names of home folders are replaced.
    pub home: bool,
    /// Names whose values are secret, besides those that are known.
    pub names: Vec<String>,
    /// Patterns with a name each: what they find is secret, or of it the first group.
    pub patterns: Vec<(String, String)>,
    /// Paths in messages to values that are secret.
    pub paths: Vec<Path>,
    pub without: Vec<String>,
    pub allow: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    #[error("there is no rule `{0}`")]
    UnknownRule(String),
    /// A pattern is none, or would take too much.
    #[error("the pattern `{name}` cannot be used: {why}")]
    Pattern { name: String, why: String },
    /// All of them together are too much.
    #[error("so many patterns and names cannot be looked for together")]
    TooMuch,
}

#[derive(Debug)]
pub struct Policy {
    pub(super) shapes: Vec<Shape>,
    /// Finds texts by which something is noticed, in any case of their letters, in a single pass.
    noticed: AhoCorasick,
    /// The meaning of each of these texts.
    notices: Vec<Notice>,
    names: BTreeSet<String>,
    pub(super) extra: Vec<(usize, Regex)>,
    pub(super) paths: Vec<Path>,
    pub(super) without: BTreeSet<&'static str>,
    pub(super) allow: BTreeSet<Box<[u8]>>,
    /// The names of all rules, by number.
    ids: Vec<Box<str>>,
    /// The rules that a user has switched off.
    pub(super) switched_off: Vec<Box<str>>,
}

/// A rule with its pattern, which is compiled where it is first tried: hardly any is, and to compile
/// all of them takes longer than to look through a short recording.
#[derive(Debug)]
pub(super) struct Shape {
    pub rule: &'static Rule,
    /// The number of the rule.
    pub number: usize,
    regex: OnceLock<Regex>,
}

impl Shape {
    pub fn regex(&self) -> &Regex {
        self.regex.get_or_init(|| {
            let pattern = format!("^(?:{})", self.rule.shape);
            compile(&self.rule.id, &pattern)
                .expect("samples of every shipped rule are found in tests")
        })
    }
}

/// A place in a text at which something may be secret.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sign {
    pub notice: Notice,
    pub start: usize,
    pub end: usize,
}

/// The meaning of a text that the search notices.
#[derive(Clone, Copy, Debug)]
pub(super) enum Notice {
    Shape(usize),
    /// A name that says that its value is secret.
    Name,
    Url,
    Pem,
    Code(Code),
    /// An option of a program in a list of its arguments, or a name beside which a code stands that is
    /// given back for a token: the message has to be read.
    Message,
}

/// Options behind which a secret may stand, and whose names do not say so.
const OPTIONS: [&str; 8] = [
    "\"-a",
    "\"-k",
    "\"-p",
    "\"-t",
    "\"-u",
    "\"-w",
    "\"--user",
    "\"--proxy-user",
];

type Texts = Vec<(String, Notice)>;

/// The largest pattern of a user, compiled, in bytes.
const REGEX_SIZE: usize = 1024 * 1024;

/// Numbers of rules that are no shape, in the order of [`ruleset::SPECIAL`].
pub(super) mod id {
    pub const NAME: usize = 0;
    pub const KNOWN: usize = 1;
    pub const PEM: usize = 2;
    pub const URL: usize = 3;
    pub const PATH: usize = 4;
}

impl Policy {
    pub fn new(settings: &Settings) -> Result<Self, PolicyError> {
        Self::noticing(settings, AhoCorasickKind::DFA)
    }

    /// A policy without a user's settings for a few short texts: it is built sooner and searches more slowly.
    pub fn of_short_texts() -> Result<Self, PolicyError> {
        Self::noticing(&Settings::default(), AhoCorasickKind::ContiguousNFA)
    }

    fn noticing(settings: &Settings, kind: AhoCorasickKind) -> Result<Self, PolicyError> {
        let without = without(settings)?;
        let mut ids: Vec<Box<str>> = shipped().map(Box::from).collect();
        let (shapes, mut texts) = shapes(&without);
        let mut extra = Vec::new();
        for (name, pattern) in &settings.patterns {
            extra.push((ids.len(), compile(name, pattern)?));
            ids.push(name.as_str().into());
        }
        texts.extend(notices(&without, &settings.names));
        let said: Vec<_> = texts.iter().map(|(text, _)| text.as_str()).collect();
        let mut noticed = AhoCorasick::builder();
        noticed.ascii_case_insensitive(true).prefilter(false);
        noticed.kind(Some(kind));
        let noticed = noticed.build(said).map_err(|_| PolicyError::TooMuch)?;
        let names = settings.names.iter();
        let allow = settings.allow.iter();
        Ok(Self {
            shapes,
            noticed,
            notices: texts.into_iter().map(|(_, notice)| notice).collect(),
            names: names.map(|name| names::joined(name).0).collect(),
            extra,
            paths: settings.paths.clone(),
            without,
            allow: allow.map(|value| value.as_bytes().into()).collect(),
            ids,
            switched_off: settings.without.iter().map(|id| (&**id).into()).collect(),
        })
    }

    /// The same without the rules that are shipped, but for that of known values.
    pub(super) fn of_known(&self) -> Result<Self, PolicyError> {
        let without = shipped().filter(|id| *id != ruleset::SPECIAL[id::KNOWN].0);
        let settings = Settings {
            without: without.map(str::to_owned).collect(),
            ..Settings::default()
        };
        Ok(Self {
            extra: self.extra.clone(),
            ids: self.ids.clone(),
            allow: self.allow.clone(),
            switched_off: Vec::new(),
            ..Self::new(&settings)?
        })
    }

    /// The signs in a text, in the order of their ends.
    pub(super) fn signs(&self, text: &[u8]) -> impl Iterator<Item = Sign> {
        self.noticed.find_overlapping_iter(text).map(|found| Sign {
            notice: self.notices[found.pattern().as_usize()],
            start: found.start(),
            end: found.end(),
        })
    }

    pub(super) fn rule(&self, number: usize) -> &str {
        self.ids.get(number).map_or("", |id| id)
    }

    /// The kind of value under this name.
    pub(super) fn class(&self, name: &str) -> Option<Class> {
        if self.without.contains("key-name") {
            return None;
        }
        if !self.names.is_empty() && self.names.contains(&names::joined(name).0) {
            return Some(Class::Password);
        }
        names::class(name)
    }

    /// Whether every message has to be read, since nothing in its bytes tells whether something in
    /// it is meant.
    pub(super) fn reads_all(&self) -> bool {
        !self.paths.is_empty() || !self.extra.is_empty()
    }
}

/// The ids of all rules that are shipped, in the order of their numbers.
fn shipped() -> impl Iterator<Item = &'static str> {
    let special = ruleset::SPECIAL.iter().map(|(id, _)| *id);
    special.chain(ruleset::all().map(|rule| rule.id.as_str()))
}

/// The rules that are not in force.
fn without(settings: &Settings) -> Result<BTreeSet<&'static str>, PolicyError> {
    let mut without = BTreeSet::new();
    for name in &settings.without {
        let id = shipped().find(|id| id == name);
        without.insert(id.ok_or_else(|| PolicyError::UnknownRule(name.clone()))?);
    }
    if !settings.email {
        without.insert("email");
    }
    if !settings.home {
        without.insert("home-folder");
    }
    Ok(without)
}

/// The shapes of the rules that are in force, and the texts by which they are noticed.
fn shapes(without: &BTreeSet<&str>) -> (Vec<Shape>, Texts) {
    let (mut shapes, mut texts) = (Vec::new(), Vec::new());
    for (rule, number) in ruleset::all().zip(ruleset::SPECIAL.len()..) {
        if without.contains(rule.id.as_str()) {
            continue;
        }
        let notice = Notice::Shape(shapes.len());
        for anchor in &rule.anchors {
            texts.push((anchor.clone(), notice));
            if anchor.contains('"') {
                // As it stands in a frame.
                texts.push((anchor.replace('"', "\\\""), notice));
            }
        }
        shapes.push(Shape {
            rule,
            number,
            regex: OnceLock::new(),
        });
    }
    (shapes, texts)
}

/// Texts that the search notices besides the anchors of the rules.
fn notices(without: &BTreeSet<&str>, names: &[String]) -> Texts {
    let codes = Code::MARKS.iter();
    let codes = codes.map(|(mark, code)| ((*mark).to_owned(), Notice::Code(*code)));
    let mut texts: Texts = codes.collect();
    if !without.contains("url-password") {
        texts.push(("://".to_owned(), Notice::Url));
    }
    if !without.contains("private-key") {
        texts.push(("PRIVATE KEY".to_owned(), Notice::Pem));
    }
    if !without.contains("key-name") {
        let own = names.iter().filter(|name| !name.is_empty()).cloned();
        let shipped = names::noticed().map(str::to_owned);
        texts.extend(shipped.chain(own).map(|name| (name, Notice::Name)));
        let grants = names::words().grants.iter();
        texts.extend(grants.map(|name| (name.clone(), Notice::Message)));
        texts.extend(OPTIONS.map(|option| (option.to_owned(), Notice::Message)));
    }
    texts
}

fn compile(name: &str, pattern: &str) -> Result<Regex, PolicyError> {
    let regex = RegexBuilder::new(pattern)
        .unicode(false)
        .size_limit(REGEX_SIZE)
        .build();
    regex.map_err(|error| PolicyError::Pattern {
        name: name.to_owned(),
        why: error.to_string(),
    })
}
