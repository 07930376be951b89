//! The report of a search: which messages were kept, in how many runs, and how they are played again.

use super::minimise_search::{Found, Stop};
use super::{Args, party};
use crate::cli::exit::Failure;
use crate::cli::output::Output;
use crate::cli::replay::consent;
use mcpreel_replay::player::Guard;
use mcpreel_replay::rules::sidecar;
use mcpreel_share::phrases::command as command_line;
use mcpreel_store::reader::{MessageRow, Recording};
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::frame::{Seq, StreamId};
use mcpreel_wire::text::{escape, pad_end, plural};
use serde_json::json;

/// Columns of the names on the left.
const NAMES: usize = 9;

/// Messages that are named.
const MOST_NAMED: usize = 40;

/// Bytes of a message's line that are shown.
const LONGEST: usize = 160;

/// Says what was found.
pub fn write(args: &Args, recording: &Recording, found: &Found) -> Result<(), Failure> {
    let (messages, count) = sent(&found.made)?;
    let command = command(args, recording, &found.made)?;
    let mut out = Output::stdout();
    if args.json {
        let lines = messages.iter().map(|row| {
            let name = row.record.name.as_deref().map(escape);
            let method = row.record.method.as_deref().map(escape);
            json!({"seq": row.record.frame.0, "method": method, "name": name})
        });
        let summary = found.made.summary()?;
        out.json(&json!({
            "kind": "minimised",
            "recording": summary.id,
            "path": found.made.path().display().to_string(),
            "parent": summary.context.parent,
            "fails": args.fails,
            "messages": count,
            "of": found.of,
            "kept": lines.collect::<Vec<_>>(),
            "runs": found.runs,
            "again": {"runs": found.again.0, "failed": found.again.1},
            "complete": found.stop.is_none(),
            "stopped": found.stop.map(Stop::why),
            "command": command,
        }))?;
        return Ok(out.flush()?);
    }
    for (name, text) in rows(args, found, &messages, count, &command)? {
        out.line(&format!("{}  {text}", pad_end(name, NAMES)))?;
    }
    Ok(out.flush()?)
}

type Rows = Vec<(&'static str, String)>;

fn rows(
    args: &Args,
    found: &Found,
    messages: &[MessageRow],
    count: usize,
    command: &str,
) -> Result<Rows, Failure> {
    let mut rows = vec![("kept", kept(found, count))];
    for row in messages {
        let line = escape(&row.record.summary);
        let end = line.floor_char_boundary(LONGEST);
        rows.push(("", format!("#{}  {}", row.record.frame.0, &line[..end])));
    }
    if count > messages.len() {
        rows.push(("", format!("and {} more", count - messages.len())));
    }
    rows.push((
        "fails",
        format!("{}; {}", escape(&args.fails), again(found.again)),
    ));
    if let Some(stop) = found.stop {
        let text = match stop {
            Stop::Signal(_) => format!("{}: this is the best until then", stop.why()),
            _ => stop.why(),
        };
        rows.push(("stopped", text));
    }
    let made = party(args, &found.made)?;
    let opens = made.command("open");
    rows.push(("recording", format!("{}; `{opens}` opens it", made.id)));
    rows.push(("again", command.to_owned()));
    Ok(rows)
}

/// How many messages are left, and whether more could be left out.
fn kept(found: &Found, count: usize) -> String {
    let how = match found.stop {
        None if count >= found.of => "none can be left out",
        None => "no other one can be left out",
        Some(_) => "perhaps more can be left out",
    };
    let (of, runs) = (
        plural(found.of as u64, "message"),
        plural(found.runs, "run"),
    );
    format!("{count} of {of}, in {runs}; {how}")
}

/// How often it failed in the end.
fn again((runs, failed): (u64, u64)) -> String {
    let times = plural(runs, "time");
    if runs == 0 {
        "it was not played again, there was no run left for it".to_owned()
    } else if failed == runs {
        format!("played {times} more, it failed each time")
    } else if failed == 0 {
        format!(
            "but played {times} more, it did not fail again: it is not certain that these \
             messages are enough; more --runs find better ones"
        )
    } else {
        format!(
            "played {times} more, it failed {failed} of them: it comes only sometimes, and what \
             was left out may make it come more often"
        )
    }
}

/// What the client said in a recording but answers, the first ones; and how much of it there is.
fn sent(made: &Recording) -> Result<(Vec<MessageRow>, usize), Failure> {
    let (mut rows, mut count, mut after) = (Vec::new(), 0, Seq(0));
    loop {
        let heads = made.heads(after, 1000)?;
        let Some(last) = heads.last() else {
            return Ok((rows, count));
        };
        let kinds = made.messages(after, last.seq)?;
        after = last.seq;
        for head in heads.iter().filter(|head| head.stream == StreamId::C2S) {
            let mut of_frame = kinds.iter().filter(|row| row.record.frame == head.seq);
            if of_frame.all(|row| row.record.kind == MessageKind::Response)
                && kinds.iter().any(|row| row.record.frame == head.seq)
            {
                continue;
            }
            count += 1;
            if rows.len() < MOST_NAMED {
                rows.extend(made.messages_of_frame(head.seq)?);
            }
        }
    }
}

/// The command that plays the result as it was played.
fn command(args: &Args, recording: &Recording, made: &Recording) -> Result<String, Failure> {
    let mut words = Vec::new();
    let is_own = consent::is_own(made, &made.summary()?);
    let guard = Guard::from_recording(made, is_own)?;
    for tool in guard.refused_calls(made, None, &mut |_| true)?.into_keys() {
        words.extend(["--allow-tool".to_owned(), tool.into_string()]);
    }
    let beside = sidecar(recording.path());
    let beside = beside.is_file().then_some(&beside);
    for file in args.rules.iter().chain(beside) {
        words.extend(["--rules".to_owned(), file.to_string_lossy().into_owned()]);
    }
    if !is_own {
        words.push("--run-recorded-command".to_owned());
    }
    let replay = party(args, made)?.command("replay");
    let line = [replay, command_line(&words)].join(" ");
    Ok(line.trim_end().to_owned())
}
