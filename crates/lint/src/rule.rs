//! Rules: their severities, revisions and texts, and the page of all of them in Markdown.

use super::{catalogue, families};
use crate::{Finding, Section};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::mcp::Revision;
use serde::Serialize;
use std::fmt::Write as _;
use strum::{EnumString, IntoStaticStr};

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, IntoStaticStr, EnumString,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Severity {
    Note,
    /// Breaks a SHOULD, or is very likely a mistake.
    Warning,
    /// Breaks a MUST or the wire format.
    Error,
}

impl Severity {
    /// All of them, the mildest first.
    pub const ALL: [Self; 3] = [Self::Note, Self::Warning, Self::Error];

    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A set of revisions of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revisions(u8);

impl Revisions {
    pub const ALL: Self = Self::between(Revision::V2024_11_05, Revision::V2026_07_28);
    pub const LEGACY: Self = Self::between(Revision::V2024_11_05, Revision::V2025_11_25);
    pub const MODERN: Self = Self::between(Revision::V2026_07_28, Revision::V2026_07_28);

    /// From `first` to `last`, both included.
    pub const fn between(first: Revision, last: Revision) -> Self {
        let to_last = 0xff >> (7 - last as u8);
        let before_first = (1 << first as u8) - 1;
        Self(to_last & !before_first)
    }

    pub const fn since(first: Revision) -> Self {
        Self::between(first, Revision::V2026_07_28)
    }

    pub const fn without(self, revision: Revision) -> Self {
        Self(self.0 & !(1 << revision as u8))
    }

    /// Whether `revision` is among them.
    pub const fn contains(self, revision: Revision) -> bool {
        self.0 & (1 << revision as u8) != 0
    }

    pub fn iter(self) -> impl Iterator<Item = Revision> {
        let all = Revision::ALL.iter().copied();
        all.filter(move |revision| self.contains(*revision))
    }
}

/// A rule: what can be found, how bad that is, why it matters and what to do about it.
#[derive(Debug)]
pub struct Rule {
    /// The permanent name, for example `frame-not-json`.
    pub id: &'static str,
    /// The worst severity of its findings.
    pub severity: Severity,
    /// The revisions in which they are less bad. Whoever collects findings sees to it.
    pub milder_in: Option<(Severity, Revisions)>,
    pub summary: &'static str,
    /// Why that matters: one sentence.
    pub why: &'static str,
    /// The remedy: one sentence.
    pub fix: &'static str,
    /// The section of the specification that says so; `None` where only practice does.
    pub section: Option<Section>,
    /// The revisions that it applies to.
    pub revisions: Revisions,
    /// Whether it is found long after the frame that it points at, at the latest when the recording
    /// is over. A story tells it last.
    pub at_end: bool,
    /// Set where its findings say that something is missing.
    pub missing: Option<Missing>,
}

/// The part of a session in which something that is missing may stand, if not all of it is
/// selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    Anywhere,
    AtEnd,
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Rule {}

impl Rule {
    const fn new(id: &'static str, severity: Severity) -> Self {
        Self {
            id,
            severity,
            milder_in: None,
            summary: "",
            why: "",
            fix: "",
            section: None,
            revisions: Revisions::ALL,
            at_end: false,
            missing: None,
        }
    }

    /// A rule whose findings are errors.
    pub const fn error(id: &'static str) -> Self {
        Self::new(id, Severity::Error)
    }

    /// A rule whose findings are warnings.
    pub const fn warning(id: &'static str) -> Self {
        Self::new(id, Severity::Warning)
    }

    /// A rule whose findings are notes.
    pub const fn note(id: &'static str) -> Self {
        Self::new(id, Severity::Note)
    }

    /// The same rule, with what it finds, in a few words.
    pub const fn finds(mut self, summary: &'static str) -> Self {
        self.summary = summary;
        self
    }

    /// The same rule, with the sentence that says why it matters.
    pub const fn why(mut self, why: &'static str) -> Self {
        self.why = why;
        self
    }

    /// The same rule, with the sentence that says what to do.
    pub const fn fix(mut self, fix: &'static str) -> Self {
        self.fix = fix;
        self
    }

    /// The same rule, as a section of the specification has it.
    pub const fn of(mut self, section: Section) -> Self {
        self.section = Some(section);
        self
    }

    /// The same rule, as a section of the modern revision has it.
    pub const fn of_modern(self, section: Section) -> Self {
        self.of(section).only(Revisions::MODERN)
    }

    /// The same rule, as a section of the revisions with a handshake has it.
    pub const fn of_legacy(self, section: Section) -> Self {
        self.of(section).only(Revisions::LEGACY)
    }

    /// The same rule, for these revisions only.
    pub const fn only(mut self, revisions: Revisions) -> Self {
        self.revisions = revisions;
        self
    }

    /// The same rule, whose findings are no worse than that in these revisions.
    pub const fn milder_in(mut self, severity: Severity, revisions: Revisions) -> Self {
        self.milder_in = Some((severity, revisions));
        self
    }

    /// The worst severity of its findings by `revision`.
    pub fn severity_in(&self, revision: Revision) -> Severity {
        match self.milder_in {
            Some((milder, revisions)) if revisions.contains(revision) => milder,
            _ => self.severity,
        }
    }

    /// The same rule, whose findings are made long after the frame that they point at.
    pub const fn at_end(mut self) -> Self {
        self.at_end = true;
        self
    }

    /// The same rule, whose findings say that something is missing.
    pub const fn of_absence(mut self) -> Self {
        self.missing = Some(Missing::Anywhere);
        self
    }

    /// The same rule, whose findings say that something is missing at the end.
    pub const fn of_open_end(mut self) -> Self {
        self.missing = Some(Missing::AtEnd);
        self
    }

    /// The title and the address of its section, in the newest revision that it applies to.
    pub fn reference(&self) -> Option<(&'static str, String)> {
        let newest = self.revisions.iter().last();
        let newest = newest.unwrap_or(Revision::V2026_07_28);
        let section = self.section?;
        Some((section.title, section.url(newest)))
    }

    /// A finding of this rule that points at no frame: it is about the process.
    pub fn found(&'static self, detail: impl Into<String>) -> Finding {
        Finding {
            rule: self,
            severity: self.severity,
            revision: None,
            frame: None,
            exchange: None,
            path: None,
            related: Vec::new(),
            detail: detail.into(),
        }
    }

    /// A finding of this rule in a frame.
    pub fn at(&'static self, frame: Seq, detail: impl Into<String>) -> Finding {
        Finding {
            frame: Some(frame),
            ..self.found(detail)
        }
    }
}

/// The rules that are declared in one place, each as a static, and all of them as `RULES`.
macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident = $severity:ident($id:expr)$(.$more:ident($($arg:expr),*))*;)+) => {
        $(
            $(#[$doc])*
            pub(crate) static $name: $crate::Rule =
                $crate::Rule::$severity($id)$(.$more($($arg),*))*;
        )+

        pub(crate) static RULES: &[&$crate::Rule] = &[$(&$name),+];
    };
}

/// Every rule by family: what it finds, why that matters, what to do, and where it is written.
pub fn markdown() -> String {
    let mut page = format!(
        "# Rules\n\nThe {} rules that mcpreel applies to every recording. An *error* breaks a MUST \
         of the specification or the wire format, a *warning* a SHOULD or is very likely a \
         mistake, a *note* is worth knowing. `mcpreel lint` tells what they find, `mcpreel lint \
         --explain RULE` what stands here.\n",
        catalogue().len()
    );
    for family in families() {
        let name = capital(family.name);
        let anchor = family.name.to_lowercase().replace(' ', "-");
        let rules = family.rules.len();
        let _ = write!(page, "\n* [{name}](#{anchor}), {rules}");
    }
    page.push('\n');
    for family in families() {
        // Writing to a string cannot fail.
        let _ = write!(page, "\n## {}\n", capital(family.name));
        for rule in &family.rules {
            write_rule(&mut page, rule);
        }
    }
    page
}

/// `all revisions`, `2025-11-25 and later`, `up to 2025-11-25`, or the list of them.
pub fn revisions(of: Revisions) -> String {
    let (all, listed) = (Revision::ALL, of.iter().collect::<Vec<_>>());
    let (Some(first), Some(last)) = (listed.first(), listed.last()) else {
        return "no revision".to_owned();
    };
    let is_span = of == Revisions::between(*first, *last);
    match (is_span, *first == all[0], *last == all[all.len() - 1]) {
        (true, true, true) => "all revisions".to_owned(),
        (true, ..) if first == last => format!("{first}"),
        (true, false, true) => format!("{first} and later"),
        (true, true, false) => format!("up to {last}"),
        _ => listed
            .iter()
            .map(|one| one.as_str())
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// The revisions in which findings of a rule are milder, with the severity there: `up to 2025-03-26`.
pub fn milder(rule: &Rule) -> Option<(Severity, String)> {
    let (severity, milder_in) = rule.milder_in?;
    let revisions = revisions(milder_in);
    let is_span = revisions.starts_with("up to ");
    let place = if is_span { "" } else { "in " };
    Some((severity, format!("{place}{revisions}")))
}

/// The same in one text: ` (warning up to 2025-03-26)`, empty where nothing varies. The severity is
/// written by `word`.
pub fn in_brackets(rule: &Rule, word: impl Fn(&str) -> String) -> String {
    milder(rule).map_or_else(String::new, |(severity, place)| {
        format!(" ({} {place})", word(severity.as_str()))
    })
}

fn write_rule(page: &mut String, rule: &Rule) {
    let (id, severity) = (rule.id, rule.severity.as_str());
    let milder = in_brackets(rule, |severity| format!("*{severity}*"));
    let revisions = revisions(rule.revisions);
    let section = rule.reference();
    let section = section.map_or_else(String::new, |(title, url)| format!(" · [{title}]({url})"));
    let _ = write!(
        page,
        "\n### {id}\n\n*{severity}*{milder} · {revisions}{section}\n\n{}. {}\n\n**Fix:** {}\n",
        capital(rule.summary),
        rule.why,
        rule.fix
    );
}

fn capital(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.collect::<String>() + letters.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_revisions_is_said_in_words() {
        let [_, b, c, d, _] = *Revision::ALL else {
            panic!("there are five revisions");
        };
        for (set, said) in [
            (Revisions::ALL, "all revisions"),
            (Revisions::LEGACY, "up to 2025-11-25"),
            (Revisions::MODERN, "2026-07-28"),
            (Revisions::since(c), "2025-06-18 and later"),
            (Revisions::between(b, b), "2025-03-26"),
            (
                Revisions::ALL.without(b),
                "2024-11-05, 2025-06-18, 2025-11-25, 2026-07-28",
            ),
            (Revisions::between(c, d), "2025-06-18, 2025-11-25"),
        ] {
            assert_eq!(revisions(set), said);
        }
        assert!(markdown().contains("### frame-not-json\n"));
    }
}
