//! Rules: their severities, revisions and texts.

use crate::{Finding, Section};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::mcp::Revision;
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
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
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    /// The severity that [`Self::as_str`] writes so.
    pub fn parse(word: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|severity| severity.as_str() == word)
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
        let all = Revision::ALL.into_iter();
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
    /// The circumstances, in words, in which they are less bad. Its family sees to it.
    pub milder_where: Option<(Severity, &'static str)>,
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
            milder_where: None,
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

    /// The same rule, whose family says of findings in such `circumstances`, the end of a sentence
    /// that begins with "where", that they are no worse than that.
    pub const fn milder_where(mut self, severity: Severity, circumstances: &'static str) -> Self {
        self.milder_where = Some((severity, circumstances));
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
        let newest = self
            .revisions
            .iter()
            .last()
            .unwrap_or(Revision::V2026_07_28);
        let section = self.section?;
        Some((section.title(newest), section.url(newest)))
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
