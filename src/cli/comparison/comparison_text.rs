//! A comparison for people: the verdict, what the server offers, what differs call by call.
//!
//! ```text
//! c04d breaks what worked in 7f3a: 2 breaking; 31 exchanges compared, 29 of them the same
//!   left   7f3a  weather-server 1.2.0, 31 exchanges
//!   right  c04d  weather-server 1.3.0, 31 exchanges
//!
//! what the server offers: tools
//!   breaking  tool search  input narrowed: `limit`: is required now
//!             result.tools[2].inputSchema.required
//!             was  ["query"]
//!             is   ["query","limit"]
//!             mcpreel open '7f3a#4'   mcpreel open 'c04d#4'
//! ```

use super::opens;
use super::{Compared, Party};
use crate::cli::exit::Failure;
use crate::cli::output::{Ink, Output};
use mcpreel_replay::diff::words::{REDACTED, counted};
use mcpreel_replay::diff::{
    Account, Change, Class, Difference, List, Outcome, Report, Trouble, words,
};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::{count, cut, escape, pad_end, plural};
use std::collections::{BTreeMap, HashMap};
use std::io;

/// Differences that are shown of each list, method or tool; rules that changed nothing, and problems,
/// that are shown.
const SHOWN: usize = 20;

/// With more differences in a list than these nobody would see which tools they are about: each gets
/// one line, without its values.
const DETAILED: usize = 10;

/// Columns of a value; `--json` has more of it.
const VALUE: usize = 120;

/// The indentation of lines below a class.
const INDENT: &str = "            ";

/// Writes a comparison for people.
pub fn write(compared: &Compared<'_>, out: &mut Output) -> Result<(), Failure> {
    let report = compared.report;
    let verdict = verdict(compared);
    let is_good = report.exit_code() == 0;
    out.inked(if is_good { Ink::Good } else { Ink::Bad }, &verdict)?;
    let parties = ["left", "right"].into_iter().zip(compared.parties);
    let parties = parties.map(|(word, party)| (word, party.in_words()));
    let rules = compared.rules.iter().map(|file| ("rules", file.clone()));
    let others = report.troubles.iter();
    let others = others.filter(|(_, text)| !verdict.contains(&**text));
    let others = others.map(|(trouble, text)| (trouble.as_str(), text.to_string()));
    for (word, text) in parties.chain(rules).chain(others.take(SHOWN)) {
        let word = out.paint(Ink::Faint, &pad_end(word, 5));
        out.line(&format!("  {word}  {text}"))?;
    }
    for group in &grouped(report) {
        write_group(group, compared.parties, out)?;
    }
    let mut besides = left_out(report, SHOWN);
    let noise = report.counts.of(Class::Noise);
    if noise > 0 && !report.fail_on.fails(Class::Noise) {
        let noise = plural(noise, "expected difference");
        let text = format!("{noise} ignored: ids, times, tokens");
        besides.insert(0, text);
    }
    if !besides.is_empty() {
        out.line("")?;
        out.inked(Ink::Strong, "also")?;
    }
    for line in besides {
        out.line(&format!("  {line}"))?;
    }
    Ok(())
}

fn write_group(group: &Group<'_>, parties: &[Party; 2], out: &mut Output) -> io::Result<()> {
    let title = out.paint(Ink::Strong, &group.title());
    let number = match group.compared {
        0 => String::new(),
        number => out.paint(Ink::Faint, &format!("  {} compared", count(number))),
    };
    out.line(&format!("\n{title}{number}"))?;
    let is_brief = group.list.is_some() && group.entries.len() > DETAILED;
    for entry in group.entries.iter().take(SHOWN) {
        write_entry(entry, is_brief, parties, out)?;
    }
    let more = group.entries.len().saturating_sub(SHOWN) as u64 + group.more;
    if more > 0 {
        let more = plural(more, "more difference");
        out.line(&format!("  … and {more}; --json has all that is kept"))?;
    } else if is_brief {
        out.line("  --json has the values")?;
    }
    Ok(())
}

/// Writes `  breaking  result.isError  the call fails now  (3 times, the first below)`, and unless it
/// is to be brief both values and the commands that open both sides.
fn write_entry(
    entry: &Entry<'_>,
    is_brief: bool,
    parties: &[Party; 2],
    out: &mut Output,
) -> io::Result<()> {
    let ink = match entry.class {
        Some(Class::Breaking) => Ink::Bad,
        Some(Class::Changed | Class::Latency) => Ink::Warn,
        Some(Class::Added) => Ink::Good,
        Some(Class::Order | Class::Unpaired) => Ink::Plain,
        Some(Class::Noise) | None => Ink::Faint,
    };
    let word = out.paint(ink, &pad_end(entry.class_word(), 8));
    let subject = out.paint(Ink::Strong, &entry.subject);
    let note = match entry.note() {
        "" => String::new(),
        note => format!("  {note}"),
    };
    let times = match entry.times {
        1 => String::new(),
        times => format!("  ({} times, the first below)", count(times)),
    };
    let times = out.paint(Ink::Faint, &times);
    out.line(&format!("  {word}  {subject}{note}{times}"))?;
    if is_brief {
        return Ok(());
    }
    let mut seqs = entry.seqs;
    if let Some(difference) = entry.difference {
        let path = &*difference.path;
        if entry.is_offer {
            out.inked(Ink::Faint, &format!("{INDENT}{path}"))?;
        }
        // All of a tool says no more than its name; and only one side has it.
        let is_whole = entry.is_offer && path.ends_with(']') && path.matches('.').count() == 1;
        match difference.change {
            Change::Removed if is_whole => seqs[1] = None,
            Change::Added if is_whole => seqs[0] = None,
            _ => {}
        }
        for (word, value) in [("was", &difference.left), ("is ", &difference.right)] {
            if let Some(value) = value.as_ref().filter(|_| !is_whole) {
                let word = out.paint(Ink::Faint, word);
                out.line(&format!("{INDENT}{word}  {}", cut(value, VALUE)))?;
            }
        }
    }
    let opens = opens(parties, seqs).join("   ");
    if opens.is_empty() {
        return Ok(());
    }
    out.inked(Ink::Faint, &format!("{INDENT}{opens}"))
}

/// The differences of one list of the server, or of the calls of one method, tool, prompt or resource.
#[derive(Default)]
pub struct Group<'r> {
    /// The list, where the group is about what the server offers.
    pub list: Option<List>,
    /// `tools/call search`.
    pub call: String,
    /// The number of compared exchanges.
    pub compared: u64,
    /// The worst first.
    pub entries: Vec<Entry<'r>>,
    /// Differences that are not kept.
    pub more: u64,
    known: HashMap<(Option<Class>, String, &'r str), usize>,
}

/// Something that is said, once or more often.
pub struct Entry<'r> {
    /// `None` where something was not tried.
    pub class: Option<Class>,
    /// The tool, prompt or resource that differs, the place of a difference, or a sentence.
    pub subject: String,
    pub difference: Option<&'r Difference>,
    /// Whether it is about what the server offers.
    pub is_offer: bool,
    /// The frames of the first exchange of which it is said, on both sides.
    pub seqs: [Option<Seq>; 2],
    /// The number of exchanges of which it is said.
    pub times: u64,
}

/// The differences in what the server offers, list by list, then those of every call, the worst first.
/// Noise is left out unless it fails.
pub fn grouped(report: &Report) -> Vec<Group<'_>> {
    let mut groups: BTreeMap<_, Group<'_>> = BTreeMap::new();
    for offer in &report.offers {
        let key = (Some(offer.list), (offer.list.method(), None));
        let (seqs, found) = ([offer.left, offer.right], &offer.difference);
        let subject = words::offered(offer);
        let group = groups.entry(key).or_default();
        group.add(seqs, Some(found.class), subject, Some(found));
    }
    for account in &report.accounts {
        let key = (None, (&*account.method, account.name.as_deref()));
        let seqs = [account.left, account.right];
        let group = groups.entry(key).or_default();
        group.more += account.more;
        if let Some(said) = words::outcome(account).1 {
            group.add(seqs, account.class, said, None);
        }
        for found in &account.differences {
            group.add(seqs, Some(found.class), words::place(found), Some(found));
        }
    }
    for ((method, name), tally) in &report.tallies {
        if let Some(group) = groups.get_mut(&(None, (&**method, name.as_deref()))) {
            group.compared = tally.compared;
        }
    }
    let hides_noise = !report.fail_on.fails(Class::Noise);
    let groups = groups.into_iter().map(|((list, call), mut group)| {
        let entries = &mut group.entries;
        entries.retain(|entry| !hides_noise || entry.class != Some(Class::Noise));
        entries.sort_by_key(Entry::rank);
        for entry in entries {
            entry.is_offer = list.is_some();
        }
        let call = words::call(call);
        Group {
            list,
            call,
            ..group
        }
    });
    let mut groups: Vec<_> = groups.filter(|group| !group.entries.is_empty()).collect();
    groups.sort_by_key(|group| (group.list.is_none(), group.entries[0].rank()));
    groups
}

impl<'r> Group<'r> {
    fn add(
        &mut self,
        seqs: [Option<Seq>; 2],
        class: Option<Class>,
        subject: String,
        difference: Option<&'r Difference>,
    ) {
        let entry = Entry {
            class,
            subject,
            difference,
            is_offer: false,
            seqs,
            times: 1,
        };
        let key = (entry.class, entry.subject.clone(), entry.note());
        let nth = *self.known.entry(key).or_insert(self.entries.len());
        match self.entries.get_mut(nth) {
            Some(same) => same.times += 1,
            None => self.entries.push(entry),
        }
    }

    /// `what the server offers: tools`, `tools/call search`.
    pub fn title(&self) -> String {
        match self.list {
            Some(list) => format!("what the server offers: {}s", list.word()),
            None => self.call.clone(),
        }
    }
}

impl<'r> Entry<'r> {
    /// The worst first; what was not tried says nothing worse, and stands before noise.
    fn rank(&self) -> (Class, bool) {
        (self.class.unwrap_or(Class::Latency), self.class.is_none())
    }

    /// `breaking`; `skipped` where something was not tried.
    pub fn class_word(&self) -> &'static str {
        self.class.map_or("skipped", Class::as_str)
    }

    /// The meaning of the difference, where its values do not say it.
    pub fn note(&self) -> &'r str {
        let note = self.difference.and_then(|one| one.note.as_deref());
        note.unwrap_or_default()
    }

    /// All of it, on one line.
    pub fn in_words(&self) -> String {
        match self.difference {
            Some(difference) if self.is_offer => {
                format!("{} at {}", self.subject, words::in_words(difference))
            }
            Some(difference) => words::in_words(difference),
            None => self.subject.clone(),
        }
    }
}

/// The verdict, in one sentence.
pub fn verdict(compared: &Compared<'_>) -> String {
    let (report, found) = (compared.report, found(compared.report));
    let [left, right] = compared.parties.each_ref().map(Party::short);
    if let Some(trouble) = report.trouble() {
        let what = match trouble {
            Trouble::Unreadable if report.compared == 0 => "nothing was compared",
            Trouble::Unreadable => "not everything could be compared",
            Trouble::Refused => "not everything was tried, for safety",
            Trouble::Target => "the server failed",
            Trouble::Hang => "the server hangs",
        };
        let mut troubles = report.troubles.iter();
        let why = troubles.find(|(known, _)| *known == trouble);
        let why = why.map_or("neither side has a request", |(_, text)| &**text);
        return match report.compared {
            0 => format!("{what}: {why}"),
            // What a call that was not made would have left may be missing later.
            _ if trouble == Trouble::Refused && report.is_failed() => {
                format!("{what}: {why}; the differences may follow from that: {found}")
            }
            _ => format!("{what}: {why}; {found}"),
        };
    }
    let is_unpaired = report.counts.of(Class::Unpaired) > 0;
    let worst = report.counts.without(Class::Unpaired).worst();
    let what = match (report.is_failed(), worst) {
        (false, _) if compared.is_cut_short => "stopped before its end".to_owned(),
        (false, None | Some(Class::Noise)) if !is_unpaired => {
            format!("{right} does the same as {left}")
        }
        (_, _) if let Some([one, other]) = different_servers(compared) => {
            format!("the servers differ, {one} and {other}")
        }
        (_, None | Some(Class::Noise)) if is_unpaired => {
            format!("{right} does the same as {left} in the calls that both have")
        }
        (false, Some(Class::Added)) => format!("{right} does all that {left} does, and more"),
        (false, _) => {
            let fail_on = report.fail_on.as_str();
            format!("{right} differs from {left}, but less than --fail-on {fail_on}")
        }
        (true, Some(Class::Breaking)) => format!("{right} breaks what worked in {left}"),
        (true, Some(Class::Changed)) => format!("{right} answers differently from {left}"),
        (true, Some(Class::Added)) => format!("{right} says more than {left}"),
        (true, Some(Class::Order)) => format!("{right} says the same as {left} in another order"),
        (true, Some(Class::Latency)) => {
            format!("{right} exceeds the latency budget against {left}")
        }
        (true, _) => format!("{right} differs from {left} only as any two runs do"),
    };
    format!("{what}: {found}")
}

/// The names of the two servers, escaped, where two recordings are of different ones.
fn different_servers(compared: &Compared<'_>) -> Option<[String; 2]> {
    let [left, right] = compared.parties.each_ref().map(|it| it.server.as_deref());
    let names = [left?, right?];
    let is_diff = compared.command == "mcpreel diff";
    (is_diff && names[0] != names[1]).then(|| names.map(|name| escape(name).into_owned()))
}

/// `77 calls only on the left (tools/call echo)` of each side, as far as the calls are kept.
fn unpaired(report: &Report) -> Vec<String> {
    let sides = [("left", Outcome::Removed), ("right", Outcome::More)];
    let mut kept = 0;
    let said = sides.into_iter().filter_map(|(side, outcome)| {
        let accounts = report.accounts.iter();
        let is_meant =
            |one: &&Account| one.class == Some(Class::Unpaired) && one.outcome == outcome;
        let mut calls = BTreeMap::<_, u64>::new();
        for one in accounts.filter(is_meant) {
            let call = words::call((&one.method, one.name.as_deref()));
            *calls.entry(call).or_default() += 1;
        }
        let number = calls.values().sum();
        kept += number;
        let total = plural(number, "call");
        let (most, _) = calls.iter().max_by_key(|(_, times)| **times)?;
        let more = if calls.len() > 1 { " …" } else { "" };
        Some(format!("{total} only on the {side} ({most}{more})"))
    });
    let said = said.collect();
    let all = report.counts.of(Class::Unpaired);
    // Not each of very many is kept.
    if kept < all {
        return vec![format!("{} only on one side", plural(all, "call"))];
    }
    said
}

/// `2 breaking, 3 changed; 31 exchanges compared, 27 of them the same`.
fn found(report: &Report) -> String {
    let compared = plural(report.compared, "exchange");
    let same = match report.same {
        0 => String::new(),
        same => format!(", {} of them the same", count(same)),
    };
    let counted =
        Some(counted(report.counts.without(Class::Unpaired))).filter(|counted| !counted.is_empty());
    let counted: Vec<_> = counted.into_iter().chain(unpaired(report)).collect();
    match &counted[..] {
        [] => format!("{compared} compared{same}"),
        counted => format!("{}; {compared} compared{same}", counted.join(", ")),
    }
}

/// The parts that were not looked at, not kept or ignored, a line each; then up to `most` rules that
/// changed nothing.
pub fn left_out(report: &Report, most: usize) -> Vec<String> {
    const NOT_KEPT: &str = "with something to say, not kept";
    let left = &report.left_out;
    let all = [
        (left.unwanted, "exchange", "not wanted by --only"),
        (left.passed_over, "difference", "ignored by rules"),
        (report.redacted, "value", REDACTED),
        (
            report.lacking.len() as u64,
            "redacted value",
            "not supplied",
        ),
        (left.exchanges, "exchange", NOT_KEPT),
        (left.offers, "offer", NOT_KEPT),
        (left.troubles, "problem", "not kept"),
        (left.values, "value", "not compared: there is too much"),
        (left.outlines, "answer", "compared by the size: too long"),
        (left.place_by_place, "list", "compared in order: too long"),
    ];
    let some = all.into_iter().filter(|(number, ..)| *number > 0);
    let some = some.map(|(number, noun, what)| format!("{} {what}", plural(number, noun)));
    let unfired = report.unfired.iter().take(most).map(|rule| {
        let (at, rule) = (escape(&rule.at), escape(&rule.rule));
        format!("the rule at {at} changed nothing: {rule}")
    });
    let more = report.unfired.len().saturating_sub(most) as u64;
    let more = (more > 0).then(|| format!("{} changed nothing either", plural(more, "more rule")));
    some.chain(unfired).chain(more).collect()
}
