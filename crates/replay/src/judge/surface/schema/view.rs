//! A schema with what `$ref` and `allOf` add to it.

use super::Work;
use mcpreel_wire::json::{Kind, Value};

/// References that are followed one after the other, and schemas that `allOf` puts together.
const MAX_PARTS: usize = 32;

#[derive(Debug)]
pub(super) enum View<'d> {
    Never,
    /// It takes what all its parts take.
    Takes(Parts<'d>),
}

/// The parts of a schema, itself first.
#[derive(Debug, Default)]
pub(super) struct Parts<'d> {
    all: Vec<Value<'d>>,
    /// A reference that leads nowhere in the document.
    opaque: Option<Value<'d>>,
    /// Keywords that have been looked at.
    without: &'static [&'static str],
}

impl<'d> View<'d> {
    /// The schema `value` of the document `root`. What is in its parts is taken off `work`.
    pub(super) fn of(value: Option<Value<'d>>, root: Option<Value<'d>>, work: &mut Work) -> Self {
        let mut parts = Parts::default();
        let mut todo: Vec<_> = value.into_iter().collect();
        while let Some(value) = todo.pop() {
            let seen = parts.all.iter();
            if seen.map(Value::span).any(|span| span == value.span()) {
                continue;
            }
            match value.kind() {
                Kind::Bool if value.as_bool() == Some(false) => return Self::Never,
                Kind::Object
                    if parts.all.len() < MAX_PARTS && work.take(1 + value.members().count()) =>
                {
                    parts.all.push(value);
                    let all = value
                        .get("allOf")
                        .into_iter()
                        .flat_map(|all| all.elements());
                    let first = todo.len();
                    todo.extend(all.take(MAX_PARTS));
                    todo[first..].reverse();
                    parts.follow(value, root, &mut todo);
                }
                // Whatever is no schema takes anything, as far as anybody can say.
                _ => {}
            }
        }
        Self::Takes(parts)
    }
}

impl<'d> Parts<'d> {
    /// Adds what the reference of a part leads to.
    fn follow(&mut self, part: Value<'d>, root: Option<Value<'d>>, todo: &mut Vec<Value<'d>>) {
        let Some(reference) = part.get("$ref") else {
            return;
        };
        let text = reference.as_str().unwrap_or_default();
        match root.and_then(|root| resolve(root, &text)) {
            Some(target) => todo.push(target),
            None => self.opaque = Some(reference),
        }
    }

    /// The reference of which nothing is known.
    pub(super) fn opaque(&self) -> Option<Value<'d>> {
        self.opaque
    }

    /// With one of its variants in place of all of them.
    pub(super) fn chosen(&self, variant: Self, variants: &'static [&'static str]) -> Self {
        Self {
            all: [self.all.clone(), variant.all].concat(),
            opaque: self.opaque.or(variant.opaque),
            without: variants,
        }
    }

    /// The value of a keyword: of the first part that has it.
    pub(super) fn get(&self, keyword: &str) -> Option<Value<'d>> {
        self.all(keyword).next()
    }

    /// The values of a keyword of all parts.
    pub(super) fn all(&self, keyword: &str) -> impl Iterator<Item = Value<'d>> {
        let looked_at = self.without.contains(&keyword);
        let parts = self.all.iter().filter(move |_| !looked_at);
        parts.filter_map(move |part| part.get(keyword))
    }

    pub(super) fn names(&self) -> Vec<Box<str>> {
        let members = self.all.iter().flat_map(Value::members);
        let names = members.filter_map(|(name, _)| name.as_str());
        names.map(Into::into).collect()
    }
}

/// What a JSON Pointer in a fragment leads to (RFC 6901, section 6); nothing for other references.
fn resolve<'d>(root: Value<'d>, reference: &str) -> Option<Value<'d>> {
    let pointer = reference.strip_prefix('#')?;
    if pointer.is_empty() {
        return Some(root);
    }
    let mut value = root;
    for step in pointer.strip_prefix('/')?.split('/') {
        let step = step.replace("~1", "/").replace("~0", "~");
        value = match value.kind() {
            Kind::Array => value.index(step.parse().ok()?)?,
            _ => value.get(&step)?,
        };
    }
    Some(value)
}
