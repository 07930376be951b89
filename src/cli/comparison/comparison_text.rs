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
use super::verdict::{Entry, Group, grouped, left_out, unfired, verdict};
use super::{Compared, Party};
use crate::cli::exit::Failure;
use crate::cli::output::{Ink, Output};
use mcpreel_replay::diff::{Change, Class, Report};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::{count, cut, pad_end, plural, width};

/// Methods, tools and lists of which something is shown.
const GROUPS: usize = 50;

/// Differences that are shown of each.
const ENTRIES: usize = 10;

/// Differences in a list that are shown, if need be in a line each.
const OFFERS: usize = 50;

/// Rules that changed nothing, and problems, that are shown.
const NAMED: usize = 20;

/// Columns of a value; `--json` has more of it.
const VALUE: usize = 120;

/// Columns of the classes.
const CLASS: usize = 8;

/// What stands below a class is indented so.
const INDENT: &str = "            ";

/// Writes a comparison for people.
pub fn write(compared: &Compared<'_>, out: &mut Output) -> Result<(), Failure> {
    let mut text = Text {
        columns: out.columns().unwrap_or(usize::MAX),
        compared,
        lines: Vec::new(),
    };
    text.head();
    text.groups();
    text.besides();
    for pieces in text.lines {
        let pieces = pieces.into_iter().map(|(ink, text)| out.paint(ink, &text));
        let line: String = pieces.collect();
        out.line(&line)?;
    }
    Ok(())
}

/// A text in the making.
struct Text<'r> {
    compared: &'r Compared<'r>,
    columns: usize,
    lines: Vec<Vec<(Ink, String)>>,
}

impl Text<'_> {
    fn head(&mut self) {
        let report = self.compared.report;
        let is_good = report.exit_code() == 0;
        let verdict = verdict(self.compared);
        let ink = if is_good { Ink::Good } else { Ink::Bad };
        self.line(&[(ink, &verdict)]);
        for (word, party) in ["left", "right"].into_iter().zip(self.compared.parties) {
            self.fact(word, &named(party));
        }
        for file in self.compared.rules {
            self.fact("rules", file);
        }
        let others = report.troubles.iter();
        let others = others.filter(|(_, text)| !verdict.contains(&**text));
        for (trouble, text) in others.take(NAMED) {
            self.fact(trouble.as_str(), text);
        }
    }

    fn fact(&mut self, word: &str, text: &str) {
        let word = format!("  {}  ", pad_end(word, 5));
        self.line(&[(Ink::Faint, &word), (Ink::Plain, text)]);
    }

    fn groups(&mut self) {
        let report = self.compared.report;
        let mut groups = grouped(report);
        for group in &mut groups {
            group.entries.retain(|entry| is_shown(entry.class, report));
        }
        groups.retain(|group| !group.entries.is_empty());
        for group in groups.iter().take(GROUPS) {
            self.group(group);
        }
        let more = groups.len().saturating_sub(GROUPS) as u64;
        if more > 0 {
            let what = plural(more, "more method");
            self.title(
                "",
                &format!("… and {what} or tools; --json has all that is kept"),
            );
        }
    }

    fn group(&mut self, group: &Group<'_>) {
        let compared = match group.compared {
            0 => String::new(),
            compared => format!("{} compared", count(compared)),
        };
        self.title(&group.title(), &compared);
        let most = if group.list.is_some() {
            OFFERS
        } else {
            ENTRIES
        };
        // So many differences in a list that nobody would see which tools they are about.
        let is_brief = group.list.is_some() && group.entries.len() > ENTRIES;
        for entry in group.entries.iter().take(most) {
            self.entry_head(entry);
            if !is_brief {
                self.entry_details(entry);
            }
        }
        let more = group.entries.len().saturating_sub(most) as u64 + group.more;
        let rest = match more {
            0 if is_brief => "--json has the values".to_owned(),
            0 => return,
            more => format!(
                "… and {}; --json has all that is kept",
                plural(more, "more difference")
            ),
        };
        self.line(&[(Ink::Plain, "  "), (Ink::Plain, &rest)]);
    }

    /// `  breaking  result.isError  the call fails now  (3 times, the first below)`.
    fn entry_head(&mut self, entry: &Entry<'_>) {
        let word = pad_end(entry.class.map_or("skipped", Class::as_str), CLASS);
        let note = entry.note();
        let gap = if note.is_empty() { "" } else { "  " };
        let times = match entry.times {
            1 => String::new(),
            times => format!("  ({} times, the first below)", count(times)),
        };
        self.line(&[
            (ink(entry.class), &format!("  {word}  ")),
            (Ink::Strong, &entry.subject),
            (Ink::Plain, &format!("{gap}{note}")),
            (Ink::Faint, &times),
        ]);
    }

    fn entry_details(&mut self, entry: &Entry<'_>) {
        let (mut seqs, mut values) = (entry.seqs, Vec::new());
        if let Some(difference) = entry.difference {
            if entry.is_offer {
                self.line(&[(Ink::Faint, &format!("{INDENT}{}", difference.path))]);
            }
            values = vec![("was  ", &difference.left), ("is   ", &difference.right)];
            match difference.change {
                // All of a tool says no more than its name; and only one side has it.
                Change::Removed if entry.is_whole() => seqs[1] = None,
                Change::Added if entry.is_whole() => seqs[0] = None,
                _ => {}
            }
        }
        for (word, value) in values {
            if let Some(value) = value.as_ref().filter(|_| !entry.is_whole()) {
                let word = format!("{INDENT}{word}");
                self.line(&[(Ink::Faint, &word), (Ink::Plain, &cut(value, VALUE))]);
            }
        }
        self.spots(seqs);
    }

    /// The commands that open both sides, on one line if it has room: they are never cut.
    fn spots(&mut self, seqs: [Option<Seq>; 2]) {
        let mut spots = opens(self.compared.parties, seqs);
        let together = spots.join("   ");
        if INDENT.len() + width(&together) <= self.columns && !spots.is_empty() {
            spots = vec![together];
        }
        for line in spots {
            let pieces = vec![(Ink::Plain, INDENT.to_owned()), (Ink::Faint, line)];
            self.lines.push(pieces);
        }
    }

    fn besides(&mut self) {
        let report = self.compared.report;
        let noise = report.count(Class::Noise);
        let mut lines = Vec::new();
        if noise > 0 && !is_shown(Some(Class::Noise), report) {
            let noise = plural(noise, "difference");
            lines.push(format!(
                "{noise} as between any two runs: ids, times, tokens"
            ));
        }
        lines.extend(left_out(report));
        lines.extend(unfired(report, NAMED));
        if !lines.is_empty() {
            self.title("besides", "");
        }
        for line in lines {
            self.line(&[(Ink::Plain, "  "), (Ink::Plain, &line)]);
        }
    }

    /// The title of a part, with an empty line before it.
    fn title(&mut self, title: &str, besides: &str) {
        let gap = if besides.is_empty() { "" } else { "  " };
        self.lines.push(Vec::new());
        self.line(&[
            (Ink::Strong, title),
            (Ink::Plain, gap),
            (Ink::Faint, besides),
        ]);
    }

    /// A line of pieces, cut to the width of the terminal.
    fn line(&mut self, pieces: &[(Ink, &str)]) {
        let mut room = self.columns;
        let mut line = Vec::new();
        for (ink, text) in pieces.iter().filter(|(_, text)| !text.is_empty()) {
            if room > 0 {
                let text = cut(text, room);
                room -= width(&text).min(room);
                line.push((*ink, text));
            }
        }
        self.lines.push(line);
    }
}

/// What differs between any two runs is counted only, unless it fails.
fn is_shown(class: Option<Class>, report: &Report) -> bool {
    class != Some(Class::Noise) || report.fail_on.fails(Class::Noise)
}

/// `7f3a  weather-server 1.2.0, 31 exchanges`.
fn named(party: &Party) -> String {
    let extent = party.extent();
    let comma = if extent.is_empty() { "" } else { ", " };
    format!("{}  {}{comma}{extent}", party.short(), party.server())
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
