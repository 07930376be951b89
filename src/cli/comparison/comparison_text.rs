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
use std::io;

/// Differences that are shown of each list, method or tool; rules that changed nothing, and problems,
/// that are shown.
const SHOWN: usize = 20;

/// With more differences in a list than these nobody would see which tools they are about: each gets
/// one line, without its values.
const DETAILED: usize = 10;

/// Columns of a value; `--json` has more of it.
const VALUE: usize = 120;

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
    for group in &grouped(report) {
        write_group(group, compared.parties, out)?;
    }
    let mut besides = left_out(report, SHOWN);
    let noise = report.count(Class::Noise);
    if noise > 0 && !report.fail_on.fails(Class::Noise) {
        let noise = plural(noise, "difference");
        let text = format!("{noise} as between any two runs: ids, times, tokens");
        besides.insert(0, text);
    }
    if !besides.is_empty() {
        out.line("")?;
        out.inked(Ink::Strong, "besides")?;
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
        Some(Class::Order) => Ink::Plain,
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
    match opens(parties, seqs).join("   ") {
        none if none.is_empty() => Ok(()),
        opens => out.inked(Ink::Faint, &format!("{INDENT}{opens}")),
    }
}
