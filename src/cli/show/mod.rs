//! `mcpreel show`: a recording, its rows, or one frame with its exchange.

mod below;
mod frame;
mod pretty;
mod rows;
mod summary;

pub use rows::quote;

use super::args::{Show, What};
use super::exit::{Exit, Failure, Outcome};
use super::output::Output;
use super::select;
use crate::store::reader::Recording;
use crate::trace::frame::Seq;

/// Shows what the arguments ask for.
pub fn run(args: &Show) -> Outcome {
    let (recording, selected) = select::open(&args.recording, &args.folder)?;
    let mut out = Output::stdout();
    match selected.seq {
        Some(seq) => one_frame(&recording, seq, args, &mut out)?,
        None => all_rows(&recording, args, &mut out)?,
    }
    out.flush()?;
    Ok(Exit::Fine)
}

fn one_frame(
    recording: &Recording,
    seq: Seq,
    args: &Show,
    out: &mut Output,
) -> Result<(), Failure> {
    let What {
        frames: _,
        exchanges,
        events,
        findings,
    } = args.what;
    if exchanges || events || findings {
        let message = "#SEQ names one frame; leave it out, or leave out the option";
        return Err(Failure::Usage(message.to_owned()));
    }
    let Some(head) = recording.head(seq)? else {
        let frames = recording.summary()?.frames;
        let message = format!("there is no frame #{}: the last one is #{frames}", seq.0);
        return Err(Failure::Usage(message));
    };
    if args.json {
        rows::frame_json(recording, &head, None, out)
    } else {
        frame::write(recording, &head, out)
    }
}

fn all_rows(recording: &Recording, args: &Show, out: &mut Output) -> Result<(), Failure> {
    let What {
        frames,
        exchanges,
        events,
        findings,
    } = args.what;
    match (frames, exchanges, events, findings, args.json) {
        (true, _, _, _, true) => rows::frames_json(recording, out),
        (true, _, _, _, false) => rows::frames(recording, out),
        (_, true, _, _, true) => rows::exchanges_json(recording, out),
        (_, true, _, _, false) => rows::exchanges(recording, out),
        (_, _, true, _, true) => rows::events_json(recording, out),
        (_, _, true, _, false) => rows::events(recording, out),
        (_, _, _, true, true) => rows::findings_json(recording, out),
        (_, _, _, true, false) => rows::findings(recording, out),
        (_, _, _, _, true) => summary::json(recording, out),
        _ => {
            summary::write(recording, out)?;
            out.line("")?;
            rows::exchanges(recording, out)?;
            below::write(recording, out)
        }
    }
}
