//! `mcpreel why`: the most likely cause of what went wrong, what shows it, and what to do.
//!
//! ```text
//! 7f3a9c21  weather-server  complete
//! why        the server was ended by SIGSEGV in the middle of transfer (#12); stderr says: …
//! certainty  certain: the recording shows it
//! evidence   7f3a#12    the client asked: tools/call transfer {to:"b"}
//!            7f3a#14    stderr: fatal: bad pointer
//!            00:12.022  the server was ended by SIGSEGV
//! next       It crashed in native code: look for a core dump, and …
//! also       likely: search_docs failed twice: quota exceeded (tool-error, #4, #6)
//! see        mcpreel show 7f3a#12
//! lint       2 findings: mcpreel lint 7f3a
//! also failed 41f8 docs: 2 calls: mcpreel why 41f8
//! ```

use super::exit::{Exit, Failure, Outcome};
use super::output::{Ink, Output};
use super::select::RecordingArgs;
use super::{folder, select};
use clap::Args;
use mcpreel_lint::cause::{Cause, Place, causes};
use mcpreel_share::phrases;
use mcpreel_store::library::{Entry, Library, short_id};
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_wire::text::{escape, plural};
use serde_json::{Value, json};

/// A session that ended so long before the newest one began may be what somebody asks about.
const JUST_BEFORE_NS: u64 = 60_000_000_000;

/// Beside a good session, one of its name that ended longer ago is not named.
const DAY_NS: u64 = 86_400_000_000_000;

/// Other sessions that are named.
const MOST_OTHERS: usize = 2;

/// Say why a session went wrong
///
/// Shows the most likely cause in one sentence, its certainty, the frames, stderr lines and events
/// that show it, and what to do; then other possible causes. In a live recording it says why the
/// session hangs now. If nothing is wrong, it says so and shows the evidence.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel why                    the newest recording
  mcpreel why 7f3a               by the beginning of its id
  mcpreel why weather-server --json | jq -r '\"\\(.certainty): \\(.sentence)\"'

Certainty:
  certain    the recording shows it
  likely     it fits what happened
  possible   it may be the reason, but nothing proves it")]
pub struct Why {
    #[command(flatten)]
    which: RecordingArgs,
    /// One JSON object per cause and line, the best first
    #[arg(long)]
    json: bool,
}

impl Why {
    pub fn run(&self) -> Outcome {
        let recording = self.which.open()?;
        let summary = recording.summary()?;
        let causes = causes(&recording.facts(select::now(&recording, &summary))?);
        let mut out = Output::stdout();
        if self.json {
            for cause in &causes {
                out.json(&object(cause, &summary))?;
            }
        } else {
            let entries = Library::new(folder::of(&self.which.folder)?).list()?;
            let address = self.address(&recording, &summary, &entries)?;
            out.line(&select::title(&recording, &summary, &out))?;
            let is_trouble = causes.first().is_some_and(Cause::is_trouble);
            let mut ink = if is_trouble { Ink::Bad } else { Ink::Good };
            for (name, line) in phrases::why(&causes, &address, usize::MAX) {
                if !matches!(name, "" | "why") {
                    ink = Ink::Plain;
                }
                out.fact(name, &out.paint(ink, &line))?;
            }
            // Outside the folder it is named as it was here.
            let named = match address {
                address if address.is_empty() => self.which.recording.to_string_lossy().into(),
                address => address,
            };
            let evidence = causes.first().into_iter().flat_map(|cause| &cause.evidence);
            let mut frames = evidence.filter_map(|one| match one.place {
                Place::Frame(seq) => Some(seq.0),
                _ => None,
            });
            if let Some(seq) = frames.next() {
                let at = phrases::command(&[format!("{named}#{seq}")]);
                out.fact("see", &format!("mcpreel show {at}"))?;
            }
            if let Some(other) = phrases::recording::other_side(&summary) {
                out.fact("other side", &other)?;
            }
            let named = phrases::command(&[named]);
            let found = recording.last_finding()?;
            if found > 0 {
                let what = match summary.findings {
                    0 => plural(found, "note"),
                    findings => plural(findings, "finding"),
                };
                out.fact("lint", &format!("{what}: mcpreel lint {named}"))?;
            }
            let asked = &self.which.recording;
            if asked == "@" || !is_trouble && *asked == *summary.name {
                let others = also_failed(&summary, &entries, is_trouble);
                write_others(&others, &entries, &mut out)?;
            }
        }
        out.flush()?;
        Ok(Exit::Fine)
    }

    /// The address before the `#` of a frame that other commands take: nothing where the
    /// recording is not in the folder.
    fn address(
        &self,
        recording: &Recording,
        summary: &Summary,
        entries: &[Entry],
    ) -> Result<String, Failure> {
        let library = Library::new(folder::of(&self.which.folder)?);
        if recording.is_temporary() || !library.contains(recording.path()) {
            return Ok(String::new());
        }
        Ok(short_id(&summary.id, entries).to_owned())
    }
}

/// Other sessions of that origin that failed, those of the same name first: a host starts all its servers at
/// once, or one of them again, and the newest recording need not be the one that somebody asks about. Where
/// nothing is wrong with it, those of its name may be older.
fn also_failed<'e>(summary: &Summary, entries: &'e [Entry], is_trouble: bool) -> Vec<&'e Entry> {
    let since = |ago| summary.wall_ns.saturating_sub(ago);
    let others = entries.iter().filter_map(|entry| {
        let other = entry.summary()?;
        let is_of_it = summary.context.other_side.as_ref() == Some(&other.id);
        let is_alike = other.id != summary.id && other.origin == summary.origin && !is_of_it;
        let ended = entry.wall_ns.saturating_add(other.t_last_ns);
        let is_before = !is_trouble && other.name == summary.name && ended >= since(DAY_NS);
        let is_near = ended >= since(JUST_BEFORE_NS) || is_before;
        (is_alike && is_near && entry.has_failed()).then_some(entry)
    });
    let mut others: Vec<_> = others.collect();
    // What the network's side says is told by the host's.
    let sides = others
        .iter()
        .filter_map(|entry| entry.summary()?.context.other_side.clone());
    let sides: Vec<_> = sides.collect();
    others.retain(|entry| !sides.contains(&entry.id) || is_host_side(entry));
    others.sort_by_key(|entry| entry.name != summary.name);
    others
}

/// Whether the host's side of a bridge was recorded in it.
fn is_host_side(entry: &Entry) -> bool {
    let context = entry.summary().map(|summary| &summary.context);
    context.is_some_and(|context| context.bridged_url().is_some())
}

fn write_others(others: &[&Entry], entries: &[Entry], out: &mut Output) -> Result<(), Failure> {
    for entry in others.iter().take(MOST_OTHERS) {
        let Some(other) = entry.summary() else {
            continue;
        };
        let (id, name) = (short_id(&entry.id, entries), escape(&entry.name));
        let failed = plural(other.failed, "call");
        let end = entry.bad_end();
        let end = end.map(|end| phrases::end_short(end, &other.context));
        let said = end.filter(|_| other.failed == 0).unwrap_or(failed);
        let said = format!("{id} {name}: {said}: mcpreel why {id}");
        out.fact("also failed", &said)?;
    }
    let more = others.len().saturating_sub(MOST_OTHERS);
    if more > 0 {
        let text = format!("and {more} more around that time: mcpreel ls -q is:failed");
        out.fact("", &text)?;
    }
    Ok(())
}

/// A cause as JSON; `frame` of an event is the last frame before it.
fn object(cause: &Cause, summary: &Summary) -> Value {
    let evidence = cause.evidence.iter().map(|evidence| {
        let t_ns = match evidence.place {
            Place::Event { t, .. } => Some(t.0),
            _ => None,
        };
        json!({
            "kind": evidence.place.as_str(),
            "frame": evidence.place.frame().map(|seq| seq.0),
            "t_ns": t_ns,
            "text": evidence.text,
        })
    });
    json!({
        "recording": summary.id,
        "cause": cause.id,
        "certainty": cause.certainty.as_str(),
        "sentence": cause.sentence,
        "evidence": evidence.collect::<Vec<_>>(),
        "advice": cause.advice,
        "other_side": summary.context.other_side,
    })
}
