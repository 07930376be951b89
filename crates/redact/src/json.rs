//! Secrets in JSON: by what holds them, and in what strings say.

mod member;

use super::base;
use super::beside::is_schema;
use super::find::Finder;
use super::hit::{Found, Hit};
use super::layer::Layer;
use super::more;
use super::named;
use super::names::Class;
use super::plausible::Stands;
use super::policy::id;
use super::token::Kind as TokenKind;
use super::word;
use mcpreel_wire::json::{Kind, Path, Step, Value};
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
        let is_grant = member::is_grant(object);
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
        let is_pair = matches!(under, Under::Named(Class::Pair)) && member::is_pair(array);
        for (index, element) in array.elements().enumerate() {
            self.path.push(Step::Element(index));
            let text = element.string_bytes().unwrap_or_default();
            // Behind a name that is no option only what nobody says is its value.
            let is_value = |is_option| is_option || more::is_value(text);
            let named = before.filter(|(_, is_option)| is_plain && is_value(*is_option));
            let named = named.map(|(class, _)| Under::Named(class));
            let is_given = program.is_some_and(|program| word::is_given(program, text));
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
            is_script = word::is_of_shell(text);
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
        let is_name = name.len() > 1 && name.iter().all(|byte| super::rule::is_of_name(*byte));
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
            Under::Named(Class::Pair) if !base::is_pair(&text[all.clone()]) => {
                word::pair(self.finder, text, all, self.found);
            }
            Under::Named(class) | Under::Within(class) => {
                named::add(self.finder, text, all, class, Stands::Whole, self.found);
            }
            Under::Word => word::add(self.finder, text, self.found),
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
