//! Secrets in JSON: by what holds them. What strings say is found by whoever walks a document.

use super::block::is_beside;
use super::encodings::Layer;
use super::entropy::is_value;
use super::names::Class;
use super::policy::{Policy, id};
use super::report::{Found, Hit};
use super::token;
use super::value::{is_path, looks_chosen};
use mcpreel_wire::json::{Kind, Path, Step, Value};
use std::borrow::Cow;
use std::ops::Range;

/// Digits of a number that is looked for wherever it appears again; shorter ones are counts.
const DIGITS: usize = 6;

/// Members of which a number is what the protocol or a counter says, whatever it is.
const NUMBERS: [&str; 8] = [
    "id",
    "requestId",
    "progressToken",
    "progress",
    "total",
    "code",
    "ttlMs",
    "size",
];

/// Members that say what a value beside them is.
const NAMES: [&str; 5] = ["name", "key", "header", "variable", "field"];

/// Members beside a code that is given back for a token.
const GRANT: [&str; 6] = [
    "grant_type",
    "grantType",
    "redirect_uri",
    "redirectUri",
    "code_verifier",
    "codeVerifier",
];

/// Programs whose option of one letter is followed by a password.
const GIVEN: [(&str, &[u8]); 5] = [
    ("sshpass", b"-p"),
    ("mongo", b"-p"),
    ("mongosh", b"-p"),
    ("redis-cli", b"-a"),
    ("ldapsearch", b"-w"),
];

/// How a value is to be taken because of the member that holds it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Under {
    Nothing,
    Named(Class),
    /// It stands somewhere in what has such a name.
    Within(Class),
    /// A path of the configuration leads to it.
    Ruled,
    /// It is a word of a command, or may be: of `NAME=VALUE` the end is known.
    Word,
}

/// Finds secrets in the strings of a document.
pub(super) trait Strings {
    /// Finds what is secret in a string without its quotes and escapes.
    fn string(&self, text: &[u8], under: Under, found: &mut Found);

    /// Whether a number is secret elsewhere.
    fn is_known(&self, number: &[u8]) -> bool;
}

/// Finds all there is in a message.
pub(super) fn message(policy: &Policy, strings: &dyn Strings, root: Value<'_>, found: &mut Found) {
    let messages = root.elements().chain(root.is_object().then_some(root));
    let ruled = policy
        .paths
        .iter()
        .flat_map(|path| messages.clone().flat_map(|message| path.all(message)));
    let ruled = ruled.map(|value| value.span()).collect();
    Walk {
        policy,
        strings,
        ruled,
        path: Vec::new(),
        found,
    }
    .value(root, Under::Nothing);
}

/// Finds all there is in a document within a string, of which so much is known.
pub(super) fn nested(
    policy: &Policy,
    strings: &dyn Strings,
    root: Value<'_>,
    under: Under,
    found: &mut Found,
) {
    Walk {
        policy,
        strings,
        ruled: Vec::new(),
        path: Vec::new(),
        found,
    }
    .value(root, under);
}

struct Walk<'w> {
    policy: &'w Policy,
    strings: &'w dyn Strings,
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

    fn object(&mut self, object: Value<'_>, under: Under) {
        let under = match under {
            Under::Named(
                class @ (Class::Password | Class::Token | Class::Folder | Class::Many),
            )
            | Under::Within(class)
                if !is_schema(object) =>
            {
                Under::Within(class)
            }
            Under::Ruled => Under::Ruled,
            _ => Under::Nothing,
        };
        let told = self.told(object);
        let columns = self.columns(object);
        let is_grant = GRANT.iter().any(|name| object.get(name).is_some());
        for (key, value) in object.members() {
            let (name, is_secret) = self.key(key, under);
            let below = match self.below(&name, value, under, told) {
                Under::Nothing if is_grant && name == "code" => Under::Named(Class::Many),
                below => below,
            };
            self.path.push(Step::Member(if is_secret {
                "…".into()
            } else {
                name.as_ref().into()
            }));
            if name == "rows" && !columns.is_empty() {
                self.rows(value, &columns);
            } else {
                self.value(value, below);
            }
            self.path.pop();
        }
    }

    /// The class of each column of `{"columns":[…],"rows":[[…],…]}`: a database answers so.
    fn columns(&self, object: Value<'_>) -> Vec<Option<Class>> {
        let Some(columns) = object.get("columns").or_else(|| object.get("fields")) else {
            return Vec::new();
        };
        let name = |column: Value<'_>| match column.get("name") {
            Some(name) => String::from_utf8_lossy(&name.str_bytes()).into_owned(),
            None => String::from_utf8_lossy(&column.str_bytes()).into_owned(),
        };
        let classes: Vec<_> = columns
            .elements()
            .map(|column| self.policy.class(&name(column)))
            .collect();
        if classes.iter().any(Option::is_some) {
            classes
        } else {
            Vec::new()
        }
    }

    fn rows(&mut self, rows: Value<'_>, columns: &[Option<Class>]) {
        for (index, row) in rows.elements().enumerate() {
            self.path.push(Step::Element(index));
            if row.is_object() {
                self.value(row, Under::Nothing);
            }
            for (index, cell) in row.elements().enumerate() {
                let class = columns.get(index).copied().flatten();
                self.path.push(Step::Element(index));
                self.value(cell, class.map_or(Under::Nothing, Under::Named));
                self.path.pop();
            }
            self.path.pop();
        }
    }

    fn array(&mut self, array: Value<'_>, under: Under) {
        let is_plain = matches!(under, Under::Nothing | Under::Word);
        let program = array
            .elements()
            .next()
            .map(|first| String::from_utf8_lossy(&first.str_bytes()).into_owned());
        let is_pair = matches!(under, Under::Named(Class::Pair)) && is_pair(array);
        let (mut before, mut is_script) = (None, false);
        for (index, element) in array.elements().enumerate() {
            self.path.push(Step::Element(index));
            let text = element.string_bytes().unwrap_or_default();
            // Behind a name that is no option only a random word is its value.
            let named = before.filter(|(_, is_option)| is_plain && (*is_option || is_value(text)));
            let named = named.map(|(class, _)| Under::Named(class));
            before = match &program {
                Some(program) if is_given(program, text) => Some((Class::Password, true)),
                _ => self.name(text),
            };
            // What begins like an option is the next one.
            let is_option = matches!(before, Some((_, true))) || text.starts_with(b"--");
            let below = match named.filter(|_| !is_option) {
                Some(named) => named,
                None if is_pair && index == 1 => Under::Named(Class::Password),
                None if is_plain && is_script => Under::Nothing,
                None if is_plain => Under::Word,
                None => under,
            };
            self.value(element, below);
            is_script = matches!(text, [b'-', letters @ .., b'c'] if letters.iter().all(u8::is_ascii_lowercase));
            self.path.pop();
        }
    }

    /// The class of the word after this one, and whether this one is an option: `--token`, `-u`,
    /// `X-Api-Key`.
    fn name(&self, word: &[u8]) -> Option<(Class, bool)> {
        if matches!(word, b"-u" | b"--user" | b"--proxy-user") {
            return Some((Class::Pair, true));
        }
        let option = word.strip_prefix(b"-");
        let name = std::str::from_utf8(option.unwrap_or(word)).ok()?;
        let is_name = name.len() > 1 && name.bytes().all(super::ruleset::is_of_name);
        let class = is_name.then(|| self.policy.class(name))?;
        class.map(|class| (class, option.is_some()))
    }

    fn string(&mut self, string: Value<'_>, under: Under) {
        let Some(inner) = string.string_bytes() else {
            return;
        };
        let start = string.span().start + 1;
        let mark = self.found.hits.len();
        if string.has_escapes() {
            let layer = Layer::unescaped(inner);
            self.strings.string(&layer.text, under, self.found);
            for hit in &mut self.found.hits[mark..] {
                hit.span = layer.place(hit.span.clone());
            }
        } else {
            self.strings.string(inner, under, self.found);
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

    fn number(&mut self, number: Value<'_>, under: Under) {
        let raw = number.raw();
        let digits = raw.iter().filter(|byte| byte.is_ascii_digit()).count();
        let is_code = raw.iter().all(u8::is_ascii_digit);
        let is_of_protocol =
            matches!(self.path.last(), Some(Step::Member(name)) if NUMBERS.contains(&&**name));
        let rule = match under {
            Under::Ruled => id::PATH,
            Under::Named(Class::Password | Class::Folder) if digits >= 4 => id::NAME,
            Under::Named(Class::Digits) if is_code && (3..=10).contains(&digits) => id::NAME,
            _ if raw.len() >= DIGITS && !is_of_protocol && self.strings.is_known(raw) => id::KNOWN,
            _ => return,
        };
        if !self.policy.allow.contains(raw) {
            self.found.hits.push(Hit {
                quotes: Some(0),
                path: Path::new(self.path.clone()).to_string().into(),
                ..Hit::new(number.span(), rule, raw.into())
            });
        }
    }

    /// The name of a member without what is secret in it, and whether something is.
    fn key<'v>(&mut self, key: Value<'v>, under: Under) -> (Cow<'v, str>, bool) {
        let mark = self.found.hits.len();
        let name = match key.str_bytes() {
            Cow::Borrowed(name) => String::from_utf8_lossy(name),
            Cow::Owned(name) => Cow::Owned(String::from_utf8_lossy(&name).into_owned()),
        };
        let is_held = matches!(under, Under::Within(_)) && is_value(name.as_bytes());
        self.string(key, if is_held { under } else { Under::Nothing });
        let start = key.span().start + 1;
        let hits = self.found.hits[mark..].iter();
        let mut spans: Vec<_> = hits
            .map(|hit| hit.span.start - start..hit.span.end - start)
            .collect();
        let is_secret = !spans.is_empty();
        spans.extend(token::places(name.as_bytes()));
        if spans.is_empty() {
            return (name, false);
        }
        spans.sort_by_key(|span| span.start);
        let inner = if is_secret {
            key.string_bytes().unwrap_or_default()
        } else {
            name.as_bytes()
        };
        let (mut kept, mut at) = (Vec::new(), 0);
        for span in spans {
            kept.extend_from_slice(inner.get(at..span.start).unwrap_or_default());
            at = at.max(span.end);
        }
        kept.extend_from_slice(inner.get(at..).unwrap_or_default());
        (
            Cow::Owned(String::from_utf8_lossy(&kept).into_owned()),
            is_secret,
        )
    }

    /// How the value of a member with this name is to be taken.
    fn below(&self, name: &str, value: Value<'_>, under: Under, told: Option<Class>) -> Under {
        let is_file = |text: &[u8]| is_path(&String::from_utf8_lossy(text));
        let is_file = name
            .to_ascii_lowercase()
            .trim_end_matches('s')
            .ends_with("key")
            && value.string_bytes().is_some_and(is_file);
        let class = self.policy.class(name).filter(|_| !is_file);
        match (under, class, told) {
            (Under::Ruled, ..) => Under::Ruled,
            (_, Some(class), _) => Under::Named(class),
            (_, None, Some(class)) if name.eq_ignore_ascii_case("value") => Under::Named(class),
            (Under::Within(class), ..) if !is_beside(name) => Under::Within(class),
            _ => Under::Nothing,
        }
    }

    /// The class of the value in `{"name":"TOKEN","value":…}`.
    fn told(&self, object: Value<'_>) -> Option<Class> {
        let is_one = |key: &Value<'_>, word: &str| {
            key.string_bytes()
                .unwrap_or_default()
                .eq_ignore_ascii_case(word.as_bytes())
        };
        object.members().find(|(key, _)| is_one(key, "value"))?;
        let mut names = object
            .members()
            .filter(|(key, _)| NAMES.iter().any(|name| is_one(key, name)));
        names.find_map(|(_, name)| {
            self.policy
                .class(&String::from_utf8_lossy(&name.str_bytes()))
        })
    }
}

/// Whether the word after this one is what a program takes for a password.
fn is_given(program: &str, option: &[u8]) -> bool {
    let name = program.rsplit(['/', '\\']).next();
    GIVEN
        .iter()
        .any(|(of, letter)| name == Some(*of) && option == *letter)
}

/// Whether a list is one of a user and a password.
fn is_pair(array: Value<'_>) -> bool {
    let mut both = array.elements().skip(1);
    let password = both.next().and_then(|second| second.as_str());
    let has_sign = |said: &str| said.contains(|sign: char| "!@#$%^&*+~?".contains(sign));
    both.next().is_none()
        && password.is_some_and(|said| {
            is_value(said.as_bytes()) || looks_chosen(said.as_bytes()) && has_sign(&said)
        })
}

const TYPES: [&str; 7] = [
    "string", "number", "integer", "boolean", "object", "array", "null",
];

/// Whether an object describes values instead of being one.
fn is_schema(object: Value<'_>) -> bool {
    let words = [
        "$ref", "anyOf", "oneOf", "allOf", "enum", "const", "$schema",
    ];
    let is_typed = object.get("type").is_some_and(|kind| {
        let mut kinds = kind.elements().chain(std::iter::once(kind));
        kinds.any(|kind| TYPES.iter().any(|word| kind.is_str(word)))
    });
    is_typed || words.iter().any(|word| object.get(word).is_some())
}
