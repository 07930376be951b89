//! Secrets in JSON: by what holds them, and in what strings say.

use super::encodings::Layer;
use super::find::Finder;
use super::lists::{is_beside, is_schema};
use super::names::Class;
use super::plausible::Stands;
use super::policy::id;
use super::report::{Found, Hit};
use super::token::Kind as TokenKind;
use super::{code, lists, named, token};
use mcpreel_wire::json::{Kind, Path, Step, Value};
use std::borrow::Cow;
use std::ops::Range;

/// Digits of a number that is looked for wherever it appears again; shorter ones are counts.
pub(super) const DIGITS: usize = 6;

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

/// Finds all there is in a message.
pub(super) fn message(finder: &Finder<'_>, text: &[u8], root: Value<'_>, found: &mut Found) {
    let messages = root.elements().chain(root.is_object().then_some(root));
    let paths = finder.policy.paths.iter();
    let ruled = paths.flat_map(|path| messages.clone().flat_map(|message| path.all(message)));
    let mut walk = Walk {
        finder,
        text,
        depth: 0,
        ruled: ruled.map(|value| value.span()).collect(),
        path: Vec::new(),
        found,
    };
    walk.value(root, Under::Nothing);
}

/// The same in a text within a message, of which so much is known.
pub(super) fn nested(
    finder: &Finder<'_>,
    (text, root): (&[u8], Value<'_>),
    depth: usize,
    under: Under,
    found: &mut Found,
) {
    let mut walk = Walk {
        finder,
        text,
        depth,
        ruled: Vec::new(),
        path: Vec::new(),
        found,
    };
    walk.value(root, under);
}

/// What is known of a value before it is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) enum Under {
    Nothing,
    Named(Class),
    Within(Class),
    Ruled,
    /// It is a word of a command, or may be: of `NAME=VALUE` the end is known.
    Word,
}

struct Walk<'w, 'p> {
    finder: &'w Finder<'p>,
    text: &'w [u8],
    /// In how many codes the text stands.
    depth: usize,
    ruled: Vec<Range<usize>>,
    path: Vec<Step>,
    found: &'w mut Found,
}

impl Walk<'_, '_> {
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
        let is_grant = is_grant(object);
        for (key, value) in object.members() {
            let (name, is_secret) = self.key(key, under);
            let below = match self.below(&name, value, under, told) {
                Under::Nothing if is_grant && *name == *b"code" => Under::Named(Class::Many),
                below => below,
            };
            let shown = if is_secret {
                "…".into()
            } else {
                String::from_utf8_lossy(&name)
            };
            self.path.push(Step::Member(shown.into()));
            self.value(value, below);
            self.path.pop();
        }
    }

    fn array(&mut self, array: Value<'_>, under: Under) {
        let is_plain = matches!(under, Under::Nothing | Under::Word);
        let (mut before, mut is_script) = (None, false);
        let program = array
            .elements()
            .next()
            .and_then(|first| first.string_bytes());
        let is_pair = matches!(under, Under::Named(Class::Pair)) && is_pair(array);
        for (index, element) in array.elements().enumerate() {
            self.path.push(Step::Element(index));
            let text = element.string_bytes().unwrap_or_default();
            // Behind a name that is no option only what nobody says is its value.
            let is_value = |is_option| is_option || lists::is_value(text);
            let named = before.filter(|(_, is_option)| is_plain && is_value(*is_option));
            let named = named.map(|(class, _)| Under::Named(class));
            let is_given = program.is_some_and(|program| super::command::is_given(program, text));
            before = if is_given {
                Some((Class::Password, true))
            } else {
                self.name(text)
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
            is_script = super::command::is_of_shell(text);
            self.path.pop();
        }
    }

    /// What the word after this one is, and whether this one is an option: `--token`, `-u`,
    /// `X-Api-Key`.
    fn name(&self, word: &[u8]) -> Option<(Class, bool)> {
        if matches!(word, b"-u" | b"--user" | b"--proxy-user") {
            return Some((Class::Pair, true));
        }
        let option = word.strip_prefix(b"-");
        let name = option.unwrap_or(word);
        let is_name = name.len() > 1 && name.iter().all(|byte| super::rules::is_of_name(*byte));
        let class = is_name.then(|| self.finder.policy.class(name))?;
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

    fn said(&mut self, text: &[u8], under: Under) {
        let is_held = matches!(under, Under::Named(_) | Under::Within(_));
        if is_held
            && self
                .finder
                .document(text, self.depth + 1, under, self.found)
        {
            return;
        }
        let all = named::trimmed(text, 0..text.len());
        let mark = self.found.hits.len();
        match under {
            Under::Ruled => self.finder.add(text, 0..text.len(), id::PATH, self.found),
            Under::Named(Class::Pair) if !super::encodings::is_pair(&text[all.clone()]) => {
                super::command::pair(self.finder, text, all, self.found);
            }
            Under::Named(class) | Under::Within(class) => {
                named::add(self.finder, text, all, class, Stands::Whole, self.found);
            }
            Under::Word => super::command::add(self.finder, text, self.found),
            Under::Nothing => {}
        }
        if self.found.hits.len() == mark
            || matches!(under, Under::Named(Class::Header | Class::Pair))
        {
            self.finder.string(text, self.depth + 1, self.found);
        }
    }

    fn number(&mut self, number: Value<'_>, under: Under) {
        let raw = number.raw();
        let digits = raw.iter().filter(|byte| byte.is_ascii_digit()).count();
        let is_code = raw.iter().all(u8::is_ascii_digit);
        let rule = match under {
            Under::Ruled => id::PATH,
            Under::Named(Class::Password | Class::Folder) if digits >= 4 => id::NAME,
            Under::Named(Class::Digits) if is_code && (3..=10).contains(&digits) => id::NAME,
            _ => return self.known_number(raw, number.span()),
        };
        self.add_number(raw, number.span(), rule);
    }

    /// A number that is secret elsewhere.
    fn known_number(&mut self, raw: &[u8], span: Range<usize>) {
        let is_of_protocol =
            matches!(self.path.last(), Some(Step::Member(name)) if NUMBERS.contains(&&**name));
        let known = self
            .finder
            .known
            .filter(|_| raw.len() >= DIGITS && !is_of_protocol);
        if known.is_some_and(|known| known.numbers.has(raw)) {
            self.add_number(raw, span, id::KNOWN);
        }
    }

    fn add_number(&mut self, raw: &[u8], span: Range<usize>, rule: usize) {
        if self.finder.policy.allow.contains(raw) {
            return;
        }
        self.found.hits.push(Hit {
            span,
            rule,
            value: raw.into(),
            token: None,
            plain: None,
            kind: TokenKind::Secret,
            quotes: Some(0),
            path: Path::new(self.path.clone()).to_string().into(),
            key: "".into(),
        });
        debug_assert!(self.text.len() >= raw.len(), "it stands in the text");
    }
}

// Members of an object: what their names say, without what is secret in those.

/// Members that say what a value beside them is.
const NAMES: [&str; 5] = ["name", "key", "header", "variable", "field"];

impl Walk<'_, '_> {
    /// The name of a member, and whether something in it is secret: without that, and without what
    /// stands in place of it already, so that it says the same once it is replaced.
    fn key<'v>(&mut self, key: Value<'v>, under: Under) -> (Cow<'v, [u8]>, bool) {
        let mark = self.found.hits.len();
        let name = key.str_bytes();
        let is_held = matches!(under, Under::Within(_)) && lists::is_value(&name);
        self.string(key, if is_held { under } else { Under::Nothing });
        let hits = &self.found.hits[mark..];
        if hits.is_empty() {
            return (without(name, Vec::new()), false);
        }
        let start = key.span().start + 1;
        let spans = hits
            .iter()
            .map(|hit| hit.span.start - start..hit.span.end - start);
        let inner = Cow::Borrowed(key.string_bytes().unwrap_or_default());
        (without(inner, spans.collect()), true)
    }

    /// What is known of a member with this name.
    fn below(&self, name: &[u8], value: Value<'_>, under: Under, told: Option<Class>) -> Under {
        let is_file = || {
            value
                .string_bytes()
                .is_some_and(|said| code::is_file(name, said))
        };
        let class = self.finder.policy.class(name).filter(|_| !is_file());
        match (under, class, told) {
            (Under::Ruled, ..) => Under::Ruled,
            (_, Some(class), _) => Under::Named(class),
            (_, None, Some(class)) if name.eq_ignore_ascii_case(b"value") => Under::Named(class),
            (Under::Within(class), ..) if !is_beside(name) => Under::Within(class),
            _ => Under::Nothing,
        }
    }

    /// What `{"name":"TOKEN","value":…}` says of its value.
    fn told(&self, object: Value<'_>) -> Option<Class> {
        let is_one = |key: &Value<'_>, word: &str| {
            let key = key.string_bytes().unwrap_or_default();
            key.eq_ignore_ascii_case(word.as_bytes())
        };
        object.members().find(|(key, _)| is_one(key, "value"))?;
        let is_name = |key: &Value<'_>| NAMES.iter().any(|name| is_one(key, name));
        let mut names = object.members().filter(|(key, _)| is_name(key));
        names.find_map(|(_, name)| self.finder.policy.class(&name.str_bytes()))
    }
}

/// Whether a list is one of a user and a password.
fn is_pair(array: Value<'_>) -> bool {
    let mut both = array.elements();
    let password = both.by_ref().nth(1).and_then(|second| second.as_str());
    both.next().is_none() && password.is_some_and(|said| super::lists::is_made(&said))
}

/// Members beside a code that is given back for a token.
const GRANT: [&str; 6] = [
    "grant_type",
    "grantType",
    "redirect_uri",
    "redirectUri",
    "code_verifier",
    "codeVerifier",
];

/// Whether an object asks for a token.
fn is_grant(object: Value<'_>) -> bool {
    GRANT.iter().any(|name| object.get(name).is_some())
}

/// A name without what stands at these places, and without placeholders.
fn without(name: Cow<'_, [u8]>, mut spans: Vec<Range<usize>>) -> Cow<'_, [u8]> {
    if token::may_be_in(&name) {
        spans.extend(token::places(&name));
    }
    if spans.is_empty() {
        return name;
    }
    spans.sort_by_key(|span| span.start);
    let (mut kept, mut at) = (Vec::new(), 0);
    for span in spans {
        kept.extend_from_slice(name.get(at..span.start).unwrap_or_default());
        at = at.max(span.end);
    }
    kept.extend_from_slice(name.get(at..).unwrap_or_default());
    Cow::Owned(kept)
}
