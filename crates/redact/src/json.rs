//! Secrets in JSON: by what holds them, and by what strings say.

use super::encodings::{Code, Layer};
use super::entropy::is_value;
use super::extent::lossy;
use super::find::Finder;
use super::names::{Class, LONGEST, is_beside, is_given, is_of_name, words};
use super::policy::id;
use super::report::{Found, Hit};
use super::text;
use super::token::{self, Piece, Pieces};
use super::value::Bond;
use mcpreel_wire::json::{Kind, Path, Step, Value};
use std::ops::Range;

/// Digits of a number that is looked for wherever it appears again; shorter ones are counts.
const DIGITS: usize = 6;

/// Members that head columns, and members with the rows below.
const HEADINGS: [&str; 4] = ["columns", "fields", "header", "headers"];
const ROWS: [&str; 3] = ["rows", "data", "values"];

/// How a value is to be taken because of the member that holds it.
#[derive(Clone, Copy, Debug)]
enum Under {
    Nothing,
    /// A name says what it is; [`Bond::Pair`] where it stands somewhere in what has the name.
    Named(Class, Bond),
    /// A path of the configuration leads to it.
    Ruled,
    /// A word of a command line, or perhaps one: the value in `NAME=VALUE` ends with the word.
    Word,
}

/// Finds every secret in the document `root`, which lies within `depth` layers of codes.
pub(super) fn walk((finder, depth): (&Finder<'_>, usize), root: Value<'_>, found: &mut Found) {
    let messages = root.elements().chain(root.is_object().then_some(root));
    let paths = finder.policy.paths.iter().filter(|_| depth == 0);
    let ruled = paths.flat_map(|path| messages.clone().flat_map(|message| path.all(message)));
    let ruled = ruled.map(|value| value.span()).collect();
    let path = Vec::new();
    Walk {
        finder,
        depth,
        ruled,
        path,
        found,
    }
    .value(root, Under::Nothing);
}

struct Walk<'w> {
    finder: &'w Finder<'w>,
    depth: usize,
    ruled: Vec<Range<usize>>,
    path: Vec<Step>,
    found: &'w mut Found,
}

impl Walk<'_> {
    /// Recursion is bounded by the depth that a document may have.
    fn value(&mut self, value: Value<'_>, under: Under) {
        let is_ruled = !self.ruled.is_empty() && self.ruled.contains(&value.span());
        let under = if is_ruled { Under::Ruled } else { under };
        match value.kind() {
            Kind::Object => self.object(value, under),
            Kind::Array => self.array(value, under),
            Kind::String => self.string(value, under),
            Kind::Number => self.number(value, under),
            Kind::Bool | Kind::Null => {}
        }
    }

    fn below(&mut self, step: Step, value: Value<'_>, under: Under) {
        self.path.push(step);
        self.value(value, under);
        self.path.pop();
    }

    fn object(&mut self, object: Value<'_>, under: Under) {
        let under = match under {
            Under::Named(class, _) if !is_schema(object) => Under::Named(class, Bond::Pair),
            Under::Ruled => Under::Ruled,
            _ => Under::Nothing,
        };
        let told = self.told(object);
        let mut columns = HEADINGS.iter().filter_map(|name| object.get(name));
        let columns = columns.find_map(|columns| self.columns(columns));
        let is_grant = words().grants.iter().any(|name| object.get(name).is_some());
        let class = |key: Value<'_>| self.finder.policy.class(&spelled(key));
        let is_secretive = object
            .members()
            .any(|(key, _)| class(key) == Some(Class::Token));
        for (key, value) in object.members() {
            let (name, is_secret) = self.key(key, under);
            let below = match self.under_name(&name, under, told) {
                // `{"root_token":…,"keys":[…]}`
                Under::Nothing if is_grant && name == "code" || is_secretive && name == "keys" => {
                    Under::Named(Class::Many, Bond::Whole)
                }
                below => below,
            };
            let columns = columns.as_ref().filter(|_| ROWS.contains(&&*name));
            let step = if is_secret { "…".into() } else { name };
            self.path.push(Step::Member(step.into()));
            match columns {
                Some(columns) => self.rows(value, columns),
                None => self.value(value, below),
            }
            self.path.pop();
        }
    }

    /// The class of each column of `{"columns":[…],"rows":[[…],…]}` or `[[…],[…],…]`, if one has some:
    /// a database answers so.
    fn columns(&self, headings: Value<'_>) -> Option<Vec<Option<Class>>> {
        let name = |heading: Value<'_>| spelled(heading.get("name").unwrap_or(heading));
        let columns = headings
            .elements()
            .map(|heading| self.finder.policy.class(&name(heading)));
        let columns: Vec<_> = columns.collect();
        let mut all = headings.elements().map(name);
        let is_heading = all.all(|name| name.bytes().all(|byte| is_of_name(byte) || byte == b' '));
        (is_heading && columns.len() > 1 && columns.iter().any(Option::is_some)).then_some(columns)
    }

    fn rows(&mut self, rows: Value<'_>, columns: &[Option<Class>]) {
        for (index, row) in rows.elements().enumerate() {
            self.path.push(Step::Element(index));
            if row.is_object() {
                self.value(row, Under::Nothing);
            }
            for (index, cell) in row.elements().enumerate() {
                let class = columns.get(index).copied().flatten();
                let under = class.map_or(Under::Nothing, |class| Under::Named(class, Bond::Whole));
                self.below(Step::Element(index), cell, under);
            }
            self.path.pop();
        }
    }

    fn array(&mut self, array: Value<'_>, under: Under) {
        let is_plain = matches!(under, Under::Nothing | Under::Word);
        let first = array.elements().next();
        let columns = first
            .filter(|_| is_plain)
            .and_then(|first| self.columns(first));
        if let Some(columns) = columns {
            return self.rows(array, &columns);
        }
        let program = first.map(spelled).unwrap_or_default();
        // A user and a password.
        let password = array.elements().nth(1).and_then(|second| second.as_str());
        let is_pair = matches!(under, Under::Named(Class::Pair, _))
            && password.is_some_and(|said| said.contains(|sign| "!@#$%^&*+~?".contains(sign)));
        let mut before = None;
        for (index, element) in array.elements().enumerate() {
            let text = element.string_bytes().unwrap_or_default();
            // What begins like an option is the next one, and in a list of variables there is one behind another.
            let is_next = |bond| text.starts_with(b"-") || is_variable(text) && bond == Bond::Pair;
            let below = match before.filter(|(_, bond)| is_plain && !is_next(*bond)) {
                Some((class, bond)) => Under::Named(class, bond),
                None if is_pair && index == 1 => Under::Named(Class::Password, Bond::Whole),
                None if is_plain => Under::Word,
                None => under,
            };
            before = self.option(&program, text);
            self.below(Step::Element(index), element, below);
        }
    }

    /// What the word after this one is: behind an option (`--token`, `-u`) its value; behind a name
    /// (`X-Api-Key`) only what looks like one.
    fn option(&self, program: &str, word: &[u8]) -> Option<(Class, Bond)> {
        match word {
            _ if is_given(program, word) => return Some((Class::Password, Bond::Whole)),
            b"-u" | b"--user" | b"--proxy-user" => return Some((Class::Pair, Bond::Whole)),
            b"--key" | b"-k" => return Some((Class::Key, Bond::Cell)),
            b"-p" | b"-P" | b"-a" | b"-t" => return Some((Class::Password, Bond::Rest)),
            _ => {}
        }
        let option = word.strip_prefix(b"-");
        let name = std::str::from_utf8(option.unwrap_or(word)).ok()?;
        let is_name = !name.starts_with("-no-") && !name.is_empty() && name.bytes().all(is_of_name);
        let class = is_name.then(|| self.finder.policy.class(name))??;
        let bond = match class {
            _ if option.is_some() => Bond::Whole,
            Class::Password => Bond::Pair,
            _ => Bond::Rest,
        };
        Some((class, bond))
    }

    fn string(&mut self, string: Value<'_>, under: Under) {
        let Some(inner) = string.string_bytes() else {
            return;
        };
        let start = string.span().start + 1;
        let mark = self.found.hits.len();
        if let Some(layer) = Layer::of(Code::Escape, inner) {
            self.said(&layer.text, under);
            for hit in &mut self.found.hits[mark..] {
                hit.span = layer.place(hit.span.clone());
            }
        } else {
            self.said(inner, under);
        }
        if self.found.hits.len() == mark {
            return;
        }
        let path: Box<str> = Path::new(self.path.clone()).to_string().into();
        for hit in &mut self.found.hits[mark..] {
            hit.span = hit.span.start + start..hit.span.end + start;
            hit.quotes = hit.quotes.map(|quotes| quotes + 1);
            hit.path = path.clone();
        }
    }

    /// Finds what is secret in what a string says.
    fn said(&mut self, text: &[u8], under: Under) {
        let mark = self.found.hits.len();
        let finder = self.finder;
        match under {
            Under::Ruled => {
                let rule = (id::PATH, token::Kind::Secret);
                self.found.add(finder.policy, text, 0..text.len(), rule);
            }
            Under::Named(class, bond) => self.add(text, 0..text.len(), (class, bond)),
            Under::Word => self.word(text),
            Under::Nothing => {}
        }
        if self.found.hits.len() == mark {
            finder.string(text, self.depth + 1, self.found);
        }
    }

    fn add(&mut self, text: &[u8], span: Range<usize>, of: (Class, Bond)) {
        text::add((self.finder.policy, text), span, of, self.found);
    }

    /// Finds the value of a word of a command, `--password=…` or `DB_PASSWORD=…`: all that follows.
    fn word(&mut self, text: &[u8]) {
        let sign = memchr::memchr(b'=', &text[..text.len().min(LONGEST)]);
        let Some(sign) = sign else { return };
        let name = lossy(text, &(0..sign));
        let is_name = name.bytes().all(is_of_name);
        if let Some(class) = self.finder.policy.class(&name).filter(|_| is_name) {
            self.add(text, sign + 1..text.len(), (class, Bond::Whole));
        }
    }

    fn number(&mut self, number: Value<'_>, under: Under) {
        let raw = number.raw();
        let digits = raw.iter().filter(|byte| byte.is_ascii_digit()).count();
        let is_of_protocol =
            matches!(self.path.last(), Some(Step::Member(name)) if has(&words().numbers, name));
        let is_known = || {
            self.finder
                .known
                .is_some_and(|known| known.numbers.has(raw))
        };
        let rule = match under {
            Under::Ruled => id::PATH,
            Under::Named(Class::Password | Class::Key | Class::Folder, Bond::Whole)
                if digits >= 4 =>
            {
                id::NAME
            }
            Under::Named(Class::Digits, _) if (3..=10).contains(&digits) => id::NAME,
            _ if raw.len() >= DIGITS && !is_of_protocol && is_known() => id::KNOWN,
            _ => return,
        };
        if !self.finder.policy.allow.contains(raw) {
            self.found.hits.push(Hit {
                quotes: Some(0),
                path: Path::new(self.path.clone()).to_string().into(),
                ..Hit::new(number.span(), rule, raw.into())
            });
        }
    }

    /// The name of a member without the placeholders in it, and whether something in it is secret.
    fn key(&mut self, key: Value<'_>, under: Under) -> (String, bool) {
        let mark = self.found.hits.len();
        let name = spelled(key);
        let under = if is_value(name.as_bytes()) {
            under
        } else {
            Under::Nothing
        };
        self.string(key, under);
        let is_secret = self.found.hits.len() > mark;
        if !name.contains(token::OPEN) {
            return (name, is_secret);
        }
        let text = |piece| match piece {
            Piece::Text(text) => Some(text),
            Piece::Placeholder { .. } => None,
        };
        (Pieces(&name).filter_map(text).collect(), is_secret)
    }

    /// How the value of a member with this name is to be taken.
    fn under_name(&self, name: &str, under: Under, told: Option<Class>) -> Under {
        let small = name.to_ascii_lowercase();
        let class = self.finder.policy.class(name);
        // A key of whatever kind: here nothing but its value follows.
        let class = class.or((small == "key").then_some(Class::Many));
        let told = told.filter(|_| has(&words().values, &small));
        match (under, class.or(told)) {
            (Under::Ruled, _) => Under::Ruled,
            (Under::Named(..), Some(Class::Many)) if small == "key" => {
                Under::Named(Class::Key, Bond::Alone)
            }
            (_, Some(class)) => Under::Named(class, Bond::Whole),
            (Under::Named(..), None) if !is_beside(name) => under,
            _ => Under::Nothing,
        }
    }

    /// The class of the value in `{"name":"TOKEN","value":…}`.
    fn told(&self, object: Value<'_>) -> Option<Class> {
        let is_one = |key: &Value<'_>, those: &[String]| has(those, &spelled(*key).to_lowercase());
        let mut names = object
            .members()
            .filter(|(key, _)| is_one(key, &words().names));
        names.find_map(|(key, name)| {
            let class = self.finder.policy.class(&spelled(name));
            let is_key = spelled(key).eq_ignore_ascii_case("keyName");
            class.or(is_key.then_some(Class::Many))
        })
    }
}

/// Whether it is the name of a variable, `PG_HOST_2`, and no password, `S3CR3T_P4SS!`: its parts are all letters or
/// all digits.
fn is_variable(text: &[u8]) -> bool {
    let mut parts = text.split(|byte| *byte == b'_');
    let is_part = |part: &[u8]| {
        let is_all = |test: fn(&u8) -> bool| part.iter().all(test);
        is_all(u8::is_ascii_uppercase) || is_all(u8::is_ascii_digit)
    };
    text.contains(&b'_') && text[0].is_ascii_uppercase() && parts.all(is_part)
}

/// What a string says, as text.
fn spelled(string: Value<'_>) -> String {
    String::from_utf8_lossy(&string.str_bytes()).into_owned()
}

/// Whether an object describes values instead of being one.
fn is_schema(object: Value<'_>) -> bool {
    let known = words();
    let is_typed = object.get("type").is_some_and(|kind| {
        let mut kinds = kind.elements().chain(std::iter::once(kind));
        kinds.any(|kind| known.types.iter().any(|word| kind.is_str(word)))
    });
    let mut words = known.schema.iter();
    is_typed || words.any(|word| object.get(word).is_some())
}

fn has(words: &[String], word: &str) -> bool {
    words.iter().any(|one| one == word)
}
