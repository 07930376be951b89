//! A comparison for people: the verdict, what the server offers, what differs call by call.
//!
//! ```text
//! c04d breaks what 7f3a does: 2 breaking; 31 exchanges compared, 29 of them the same
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

use super::party::opens;
use super::verdict::{Entry, Group, grouped, left_out, verdict};
use super::{Compared, Party};
use crate::cli::exit::Failure;
use crate::cli::output::{Ink, Output};
use mcpreel_replay::diff::{Change, Class};
use mcpreel_wire::text::{count, cut, pad_end, plural};

/// Methods, tools and lists of which something is shown.
const GROUPS: usize = 50;

/// Differences that are shown of each; rules that changed nothing, and problems, that are shown.
const SHOWN: usize = 20;

/// With more differences in a list than these nobody would see which tools they are about: each gets
/// one line, without its values.
const DETAILED: usize = 10;

/// Columns of a value; `--json` has more of it.
const VALUE: usize = 120;

/// Columns of the classes.
const CLASS: usize = 8;

/// What stands below a class is indented so.
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
    let mut groups = grouped(report);
    for group in &mut groups {
        group.entries.retain(|entry| entry.is_shown(report));
    }
    groups.retain(|group| !group.entries.is_empty());
    for group in groups.iter().take(GROUPS) {
        write_group(group, compared, out)?;
    }
    let mut besides = Vec::new();
    if let more @ 1.. = groups.len().saturating_sub(GROUPS) {
        let more = plural(more as u64, "more method");
        besides.push(format!("{more} or tools; --json has all that is kept"));
    }
    let noise = report.count(Class::Noise);
    if noise > 0 && !report.fail_on.fails(Class::Noise) {
        let noise = plural(noise, "difference");
        besides.push(format!(
            "{noise} as between any two runs: ids, times, tokens"
        ));
    }
    besides.extend(left_out(report, SHOWN));
    if !besides.is_empty() {
        out.line("")?;
        out.inked(Ink::Strong, "besides")?;
    }
    Ok(besides
        .iter()
        .try_for_each(|line| out.line(&format!("  {line}")))?)
}

fn write_group(
    group: &Group<'_>,
    compared: &Compared<'_>,
    out: &mut Output,
) -> Result<(), Failure> {
    let title = out.paint(Ink::Strong, &group.title());
    let number = match group.compared {
        0 => String::new(),
        number => out.paint(Ink::Faint, &format!("  {} compared", count(number))),
    };
    out.line(&format!("\n{title}{number}"))?;
    let is_brief = group.list.is_some() && group.entries.len() > DETAILED;
    for entry in group.entries.iter().take(SHOWN) {
        write_entry(entry, out)?;
        if !is_brief {
            write_details(entry, compared.parties, out)?;
        }
    }
    let more = group.entries.len().saturating_sub(SHOWN) as u64 + group.more;
    match more {
        0 if is_brief => out.line("  --json has the values")?,
        0 => {}
        more => {
            let more = plural(more, "more difference");
            out.line(&format!("  … and {more}; --json has all that is kept"))?;
        }
    }
    Ok(())
}

/// `  breaking  result.isError  the call fails now  (3 times, the first below)`.
fn write_entry(entry: &Entry<'_>, out: &mut Output) -> Result<(), Failure> {
    let word = out.paint(ink(entry.class), &pad_end(entry.class_word(), CLASS));
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
    Ok(out.line(&format!("  {word}  {subject}{note}{times}"))?)
}

/// Writes both values of a difference, and the commands that open both sides.
fn write_details(entry: &Entry<'_>, parties: &[Party; 2], out: &mut Output) -> Result<(), Failure> {
    let mut seqs = entry.seqs;
    if let Some(difference) = entry.difference {
        let path = &*difference.path;
        if entry.is_offer {
            out.inked(Ink::Faint, &format!("{INDENT}{path}"))?;
        }
        let is_whole = entry.is_offer && path.ends_with(']') && path.matches('.').count() == 1;
        match difference.change {
            // All of a tool says no more than its name; and only one side has it.
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
    Ok(out.inked(Ink::Faint, &format!("{INDENT}{opens}"))?)
}

fn ink(class: Option<Class>) -> Ink {
    match class {
        Some(Class::Breaking) => Ink::Bad,
        Some(Class::Changed | Class::Latency) => Ink::Warn,
        Some(Class::Added) => Ink::Good,
        Some(Class::Order) => Ink::Plain,
        Some(Class::Noise) | None => Ink::Faint,
    }
}
