//! The report of a comparison: the differences, their classes, and how the command ends.
//!
//! Everything in a report is ready to be shown: texts off the wire are escaped, on one line and
//! cut. It is bounded, whatever was compared: what is not kept is counted.
//!
//! * [`Account`]: an exchange of which something is to be said, with its [`Difference`]s;
//! * [`Offer`]: a difference in what a server offers: tools, prompts, resources;
//! * [`Trouble`]: a problem that is worse than a difference, and decides how the command ends.

use super::{Change, Class, Excerpt, Half};
use crate::rules::Unfired;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::escape;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Differences that are kept of an exchange.
pub const MAX_DIFFERENCES: usize = 25;

/// Exchanges that are kept of those whose worst difference has one class, or none: each may take
/// ten kilobytes. What hardly matters never displaces what does.
const MAX_ACCOUNTS: usize = 2000;

/// Differences in what a server offers that are kept.
const MAX_OFFERS: usize = 2000;

/// Troubles of a kind that are kept.
const MAX_TROUBLES: usize = 100;

/// Bytes of a text that are shown, escapes included.
const MAX_SHOWN: usize = 256;

/// From which class on a difference fails; `None`: none does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold(pub Option<Class>);

impl Default for Threshold {
    fn default() -> Self {
        Self(Some(Class::Changed))
    }
}

impl Threshold {
    /// The name of the class, or `never`.
    pub fn as_str(self) -> &'static str {
        self.0.map_or("never", Class::as_str)
    }

    pub fn parse(word: &str) -> Option<Self> {
        let class = Class::parse(word);
        (class.is_some() || word == "never").then_some(Self(class))
    }

    /// Whether a difference of this class fails.
    pub fn fails(self, class: Class) -> bool {
        self.0.is_some_and(|least| class <= least)
    }
}

/// A problem that is worse than a difference and decides how the command ends. In the order in
/// which one takes precedence over another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trouble {
    /// A recording that cannot be read or used, or nothing that could be compared.
    Unreadable,
    /// A safety guard refused something.
    Refused,
    /// The target could not be started, crashed, or ended early.
    Target,
    /// Work was pending at the deadline.
    Hang,
}

impl Trouble {
    pub fn exit_code(self) -> u8 {
        [3, 7, 4, 5][self as usize]
    }

    pub fn as_str(self) -> &'static str {
        ["unreadable", "refused", "target", "hang"][self as usize]
    }
}

/// The number of differences of each class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([u64; Class::ALL.len()]);

impl Counts {
    pub fn add(&mut self, class: Class, times: u64) {
        let count = &mut self.0[class as usize];
        *count = count.saturating_add(times);
    }

    pub fn add_all(&mut self, other: Self) {
        for class in Class::ALL {
            self.add(class, other.of(class));
        }
    }

    pub fn of(self, class: Class) -> u64 {
        self.0[class as usize]
    }

    pub fn without(mut self, class: Class) -> Self {
        self.0[class as usize] = 0;
        self
    }

    /// The worst class of which there is one.
    pub fn worst(self) -> Option<Class> {
        Class::ALL.into_iter().find(|class| self.of(*class) > 0)
    }

    /// The number of differences that are as bad as `threshold` says.
    pub fn failing(self, threshold: Threshold) -> u64 {
        let mut failing = Class::ALL.to_vec();
        failing.retain(|class| threshold.fails(*class));
        failing.into_iter().map(|class| self.of(class)).sum()
    }
}

/// The result of the calls of one method or tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Exchanges that were compared with another.
    pub compared: u64,
    pub counts: Counts,
}

/// A method, and the tool, prompt or resource where there is one. Escaped.
pub type Call = (Box<str>, Option<Box<str>>);

/// Counts of what a comparison or its report leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Exchanges that were not to be compared.
    pub unwanted: u64,
    /// Differences that rules passed over.
    pub passed_over: u64,
    /// Accounts, offers and troubles that are not kept.
    pub exchanges: u64,
    pub offers: u64,
    pub troubles: u64,
    /// Values that were not compared, because there was too much.
    pub values: u64,
    /// Answers that are too long to be compared: their sizes were.
    pub outlines: u64,
    /// Lists and texts that were compared place by place, because they are too long.
    pub place_by_place: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Report {
    pub fail_on: Threshold,
    /// Exchanges that were compared with another.
    pub compared: u64,
    /// Compared exchanges in which nothing at all differs.
    pub same: u64,
    /// Differences, those that are not kept included.
    pub counts: Counts,
    /// Exchanges of which something is to be said, in the order in which they were judged.
    pub accounts: Vec<Account>,
    /// Differences in the lists that the server offers.
    pub offers: Vec<Offer>,
    pub tallies: BTreeMap<Call, Tally>,
    /// Problems, each with a sentence, escaped.
    pub troubles: Vec<(Trouble, Box<str>)>,
    /// Values that are redacted on one side of messages that are the same but for that.
    pub redacted: u64,
    /// Placeholders of redacted values that nobody supplied. Escaped.
    pub lacking: Vec<Box<str>>,
    pub left_out: LeftOut,
    /// Rules that changed nothing. Not escaped.
    pub unfired: Vec<Unfired>,
}

impl Report {
    /// Whether differences as bad as the threshold were found.
    pub fn is_failed(&self) -> bool {
        self.counts.failing(self.fail_on) > 0
    }

    /// The trouble that decides how the command ends.
    pub fn trouble(&self) -> Option<Trouble> {
        let worst = self.troubles.iter().map(|(trouble, _)| *trouble).min();
        worst.or((self.compared == 0).then_some(Trouble::Unreadable))
    }

    /// The exit code: 3, 7, 4, 5 for problems, 1 for differences, else 0.
    pub fn exit_code(&self) -> u8 {
        match self.trouble() {
            Some(trouble) => trouble.exit_code(),
            None => u8::from(self.is_failed()),
        }
    }
}

/// One difference between two messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// In the request or in the response.
    pub half: Half,
    /// The path in the message; empty for the message itself. Escaped.
    pub path: Box<str>,
    pub class: Class,
    pub change: Change,
    /// The value of the left side: JSON as on the wire, escaped, at most 256 bytes.
    pub left: Option<Box<str>>,
    pub right: Option<Box<str>>,
    /// An explanation, where the values need one: a property that is newly required. Escaped.
    pub note: Option<Box<str>>,
}

/// What became of an exchange, or a remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Both sides have it, and they differ.
    Differs,
    /// Only the right side has it.
    More,
    /// The request was sent, and no answer came.
    NeverAnswered,
    /// The server asked for this, and does no more.
    NeverAsked,
    /// The right side has no such exchange.
    Removed,
    /// A safety guard refused it: why. Escaped.
    Refused(Box<str>),
    /// Not sent: redacted values in it were not supplied: which. Escaped.
    Redacted(Vec<Box<str>>),
    /// Not sent: the server answered at once what it had asked for input for.
    NotNeeded,
    /// Not sent: something that it depends on did not come: `needs the answer of #12 open`. Escaped.
    Unreached(Box<str>),
    /// Something besides exchanges: a server request that never came, an end that was not clean.
    Remark(Box<str>),
}

/// An exchange of which something is to be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The request's frame on the left.
    pub left: Option<Seq>,
    /// The request's frame on the right.
    pub right: Option<Seq>,
    pub method: Box<str>,
    /// Tool, prompt or resource, escaped.
    pub name: Option<Box<str>>,
    pub outcome: Outcome,
    /// The worst that was found, `None` where that is nothing.
    pub class: Option<Class>,
    pub differences: Vec<Difference>,
    pub more: u64,
}

/// A list of what a server offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum List {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl List {
    const ALL: [Self; 4] = [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];

    /// The list that a method asks for.
    pub fn of(method: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|list| list.method() == method)
    }

    pub fn method(self) -> &'static str {
        [
            "tools/list",
            "prompts/list",
            "resources/list",
            "resources/templates/list",
        ][self as usize]
    }

    /// The member of the result that holds it.
    pub fn member(self) -> &'static str {
        ["tools", "prompts", "resources", "resourceTemplates"][self as usize]
    }

    /// The member by which an element is known.
    pub(super) fn key(self) -> &'static str {
        ["name", "name", "uri", "uriTemplate"][self as usize]
    }

    /// `tool`, `prompt`, `resource` or `resource template`.
    pub fn word(self) -> &'static str {
        ["tool", "prompt", "resource", "resource template"][self as usize]
    }
}

/// A difference in what a server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub list: List,
    /// The tool, prompt or resource; empty for the list itself. Escaped.
    pub name: Box<str>,
    /// The request for the list on the left, the first in which this was seen.
    pub left: Option<Seq>,
    /// The request for the list on the right.
    pub right: Option<Seq>,
    pub difference: Difference,
    /// How often the difference was seen: a list may be asked for again and again.
    pub times: u64,
}

/// A report in the making.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub report: Report,
    /// The number of accounts that are kept of each class.
    kept: HashMap<Option<Class>, usize>,
}

impl Ledger {
    /// Two exchanges were compared, and this was found.
    pub fn compared(&mut self, account: &Account, counts: Counts) {
        self.report.compared += 1;
        self.report.same += u64::from(counts == Counts::default());
        self.found(account.call(), counts).compared += 1;
    }

    /// An exchange, or something else, stands by itself.
    pub fn apart(&mut self, account: Account) {
        let mut counts = Counts::default();
        account.class.iter().for_each(|class| counts.add(*class, 1));
        self.found(account.call(), counts);
        self.keep(account);
    }

    /// Adds what was found about a call.
    pub fn found(&mut self, call: Call, counts: Counts) -> &mut Tally {
        self.report.counts.add_all(counts);
        let tally = self.report.tallies.entry(call).or_default();
        tally.counts.add_all(counts);
        tally
    }

    /// Keeps an account, if there is room for one like it.
    pub fn keep(&mut self, account: Account) {
        let kept = self.kept.entry(account.class).or_default();
        if *kept == MAX_ACCOUNTS {
            self.report.left_out.exchanges += 1;
            return;
        }
        *kept += 1;
        self.report.accounts.push(account);
    }

    /// Keeps what differs in what a server offers; returns whether that is new.
    pub fn offer(&mut self, offer: Offer) -> bool {
        fn key(it: &Offer) -> (List, &str, &str, Option<&str>) {
            let Difference { path, note, .. } = &it.difference;
            (it.list, &it.name, path, note.as_deref())
        }
        let offers = &mut self.report.offers;
        if let Some(known) = offers.iter_mut().find(|it| key(it) == key(&offer)) {
            known.times += 1;
            return false;
        }
        if offers.len() < MAX_OFFERS {
            offers.push(offer);
        } else {
            self.report.left_out.offers += 1;
        }
        true
    }

    pub fn trouble(&mut self, trouble: Trouble, text: Box<str>) {
        let troubles = &mut self.report.troubles;
        let alike = troubles.iter().filter(|(known, _)| *known == trouble);
        if alike.count() < MAX_TROUBLES {
            troubles.push((trouble, text));
        } else {
            self.report.left_out.troubles += 1;
        }
    }
}

/// A text off the wire as it stands in a report: escaped, on one line, at most 256 bytes.
pub fn name(text: &str) -> Box<str> {
    // Escaping makes no text shorter, so that more need not be looked at.
    let beginning = &text[..text.floor_char_boundary(MAX_SHOWN)];
    cut(&escape(beginning), text.len() > MAX_SHOWN).into()
}

pub(super) fn value(excerpt: &Excerpt) -> Box<str> {
    let text = escape(&excerpt.text);
    let before = if excerpt.before > 0 { "…" } else { "" };
    cut(&format!("{before}{text}"), excerpt.after > 0).into()
}

/// At most [`MAX_SHOWN`] bytes, of which the last say so where there are `more`.
fn cut(text: &str, more: bool) -> String {
    if !more && text.len() <= MAX_SHOWN {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(MAX_SHOWN - '…'.len_utf8());
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod report_tests;
