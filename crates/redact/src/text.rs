//! Secrets in a text.

use super::encodings::Layer;
use super::find::{Finder, MOST_LAYERS};
use super::named;
use super::pem;
use super::plausible::is_placeholder;
use super::policy::{Notice, id};
use super::report::{Found, Hit};
use super::token::{self, Kind};
use super::url;
use std::ops::Range;

/// Bytes of a lead that belong to a secret.
const LEAD: usize = 128;

impl Finder<'_> {
    pub fn text(&self, text: &[u8], depth: usize, found: &mut Found) {
        let mark = found.hits.len();
        if let Some(known) = self.known {
            known.find(text, found);
        }
        let (mut scan, mut codes) = (Scan::default(), Codes::default());
        for notice in self.policy.noticed.in_order(text) {
            let (start, end) = (notice.start(), notice.end());
            match self.policy.notices[notice.pattern().as_usize()] {
                Notice::Shape(shape) => self.shaped(text, shape, start, &mut scan, found),
                Notice::Name | Notice::Url | Notice::Percent if self.is_binary => {}
                Notice::Name => named::find(self, text, end, &mut scan.name, found),
                Notice::Url => url::find(self, text, end, found),
                Notice::Pem => pem::find(self, text, start, &mut scan.pem, found),
                Notice::Percent => codes.has_percent = true,
                Notice::Grant => {}
                Notice::Escape => codes.has_escapes = !self.is_binary,
                Notice::Style => codes.has_styles = !self.is_binary,
            }
        }
        for (rule, regex) in &self.policy.extra {
            for captures in regex.captures_iter(text) {
                let all = captures.get(1).or_else(|| captures.get(0));
                if let Some(all) = all {
                    self.add(text, all.range(), *rule, found);
                }
            }
        }
        if depth < MOST_LAYERS {
            self.coded(text, depth, codes, found);
        }
        found.spare(mark, text);
    }

    /// Looks into what is percent-encoded, escaped or base64.
    fn coded(&self, text: &[u8], depth: usize, codes: Codes, found: &mut Found) {
        if codes.has_percent
            && let Some(layer) = Layer::unpercented(text)
        {
            let mark = found.hits.len();
            self.text(&layer.text, depth + 1, found);
            placed(text, &layer, mark, found);
        }
        if codes.has_styles
            && let Some(layer) = Layer::unstyled(text)
        {
            let mark = found.hits.len();
            self.text(&layer.text, depth + 1, found);
            placed(text, &layer, mark, found);
        }
        if codes.has_escapes {
            let (layer, mark) = (Layer::unescaped(text), found.hits.len());
            self.text(&layer.text, depth + 1, found);
            placed(text, &layer, mark, found);
        } else if let Some(known) = self.known
            && memchr::memchr(b'\\', text).is_some()
            && known.may_be_in(text)
        {
            // Signs of a known value may be escaped where nothing else is: a quote, a backslash.
            // Names say the same whatever is known: for them it is looked at nowhere else.
            let (layer, mark) = (Layer::unescaped(text), found.hits.len());
            known.find(&layer.text, found);
            placed(text, &layer, mark, found);
        }
        for run in super::encodings::runs(text) {
            let (mark, mut scan) = (found.hits.len(), Scan::default());
            for shape in self.policy.at_run(text[run.start]) {
                self.shaped(text, shape, run.start, &mut scan, found);
            }
            if found.hits.len() == mark {
                self.run(text, run, depth, found);
            }
        }
    }

    /// Looks into a run of base64. If there is something in it, all of it is replaced: what is
    /// coded cannot be mended from outside.
    fn run(&self, text: &[u8], run: Range<usize>, depth: usize, found: &mut Found) {
        for reading in super::encodings::readings(&text[run.clone()]) {
            let finder = self.of_reading(&reading);
            if !finder.may_have(&reading, depth + 1) {
                continue;
            }
            let mut inside = Found::default();
            finder.string(&reading, depth + 1, &mut inside);
            inside.settle();
            let Some(first) = inside.hits.first() else {
                continue;
            };
            let said = first.plain.as_ref().unwrap_or(&first.value).clone();
            let mark = found.hits.len();
            self.add_as(text, run, first.rule, first.kind, found);
            for hit in &mut found.hits[mark..] {
                hit.plain = Some(said.clone());
            }
            found.plain.append(&mut inside.plain);
            let values = inside.hits.into_iter().map(|hit| (hit.value, hit.kind));
            found.plain.extend(values);
            return;
        }
    }

    /// Where something of a shape stands whose anchor begins at `at`: all of it, and its secret.
    pub fn shape(
        &self,
        text: &[u8],
        shape: usize,
        at: usize,
    ) -> Option<(Range<usize>, Range<usize>)> {
        let shape = &self.policy.shapes[shape];
        let lead = text[..at]
            .iter()
            .rev()
            .take_while(|byte| (shape.rule.lead)(**byte));
        let start = at - lead.take(LEAD).count();
        let before = start.checked_sub(1).map(|before| text[before]);
        // Behind a backslash a letter is an escape, no part of a word.
        let escaped = start >= 2 && text[start - 2] == b'\\';
        if before.is_some_and(|byte| (shape.rule.edge)(byte) && !escaped) {
            return None;
        }
        let captures = shape.regex().captures(&text[start..])?;
        let all = captures.get(0)?.range();
        let group = captures.iter().skip(1).flatten().next();
        let secret = group.map_or(all.clone(), |group| group.range());
        let shift = |range: Range<usize>| range.start + start..range.end + start;
        Some((shift(all), shift(secret)))
    }

    fn shaped(&self, text: &[u8], shape: usize, at: usize, scan: &mut Scan, found: &mut Found) {
        if at < scan.until(shape) {
            return;
        }
        let Some((all, secret)) = self.shape(text, shape, at) else {
            return;
        };
        scan.pass(shape, all.end);
        let rule = &self.policy.shapes[shape];
        let value = String::from_utf8_lossy(&text[secret.clone()]);
        if (rule.rule.holds)(&value) && !is_dull(&value) {
            let number = self.policy.number(rule);
            self.add_as(text, secret, number, rule.rule.kind, found);
        }
    }

    /// Adds a secret, unless it is allowed.
    pub fn add(&self, text: &[u8], span: Range<usize>, rule: usize, found: &mut Found) {
        self.add_as(text, span, rule, Kind::Secret, found);
    }

    fn add_as(&self, text: &[u8], span: Range<usize>, rule: usize, kind: Kind, found: &mut Found) {
        if token::covers(text, &span) {
            return;
        }
        let value: Box<[u8]> = text[span.clone()].into();
        self.add_value(span, value, rule, kind, found);
    }

    /// Adds a secret that is something else than what stands there.
    pub fn add_value(
        &self,
        span: Range<usize>,
        value: Box<[u8]>,
        rule: usize,
        kind: Kind,
        found: &mut Found,
    ) {
        let rule_name = self.policy.rule(rule);
        let is_off = rule < id::PATH + 1 && self.policy.without.contains(rule_name);
        if span.is_empty() || is_off || self.policy.allow.contains(&value) {
            return;
        }
        // Whoever knows a pair as base64 knows what is secret in it.
        let plain = super::encodings::secret_of_pair(&value).map(Vec::into_boxed_slice);
        found.hits.push(Hit {
            span,
            rule,
            value,
            token: None,
            plain: plain.filter(|plain| !self.policy.allow.contains(plain)),
            kind,
            quotes: None,
            path: "".into(),
            key: "".into(),
        });
    }
}

/// Puts what was found in a layer of a text, from `mark` on, where it stands in the text.
fn placed(text: &[u8], layer: &Layer, mark: usize, found: &mut Found) {
    for at in mark..found.hits.len() {
        let hit = &mut found.hits[at];
        hit.span = layer.place(hit.span.clone());
        let raw = &text[hit.span.clone()];
        if *raw != *hit.value {
            // It is another value where it stands.
            let said = std::mem::replace(&mut hit.value, raw.into());
            found.plain.push((said.clone(), hit.kind));
            hit.token = None;
            hit.plain.get_or_insert(said);
        }
    }
}

/// In what codes something may stand in a text.
#[derive(Clone, Copy, Debug, Default)]
struct Codes {
    has_percent: bool,
    /// Those of JSON: a text may have some of it, or of what a program prints like it.
    has_escapes: bool,
    has_styles: bool,
}

/// How far a text has been looked at, so that nothing is looked at again and again.
#[derive(Debug, Default)]
pub(super) struct Scan {
    shapes: Vec<(usize, usize)>,
    pub name: usize,
    pub pem: pem::Scan,
}

impl Scan {
    fn until(&self, shape: usize) -> usize {
        let passed = self.shapes.iter().find(|(passed, _)| *passed == shape);
        passed.map_or(0, |(_, end)| *end)
    }

    fn pass(&mut self, shape: usize, end: usize) {
        match self.shapes.iter_mut().find(|(passed, _)| *passed == shape) {
            Some((_, until)) => *until = end,
            None => self.shapes.push((shape, end)),
        }
    }
}

/// Whether it only shows what such a secret looks like.
fn is_dull(value: &str) -> bool {
    let small = value.to_ascii_lowercase();
    let after = value
        .rfind(['-', '_', '.'])
        .map_or(value, |at| &value[at + 1..]);
    let same = after.len() > 3 && after.bytes().all(|byte| byte == after.as_bytes()[0]);
    is_placeholder(value) || small.contains("example") || same
}
