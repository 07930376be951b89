//! `mcpreel show`: a recording, its rows, or one frame with its exchange.

mod below;
mod fitting;
mod frame;
mod rows;
mod summary;

pub use rows::{each_finding, finding_line, quote};

use super::args::{Rows, Show};
use super::exit::{Exit, Failure, Outcome};
use super::output::Output;
use super::{filter, select};
use mcpreel_store::reader::Recording;
use mcpreel_trace::frame::Seq;

/// Shows what the arguments ask for.
pub fn run(args: &Show) -> Outcome {
    let query = filter::parse(args.filter.query.as_deref())?;
    let (recording, selected) = select::open(&args.recording, &args.folder)?;
    let mut out = Output::stream();
    match (selected.seq, &query) {
        (Some(_), Some(_)) => {
            let message = "#SEQ names one frame; leave it out, or leave out -q";
            return Err(Failure::Usage(message.to_owned()));
        }
        (None, Some(query)) => fitting::write(&recording, query, args, &mut out)?,
        (Some(seq), None) => one_frame(&recording, seq, args, &mut out)?,
        (None, None) => all_rows(&recording, args, &mut out)?,
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
    if !matches!(args.what.rows(), None | Some(Rows::Frames)) {
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
    match (args.what.rows(), args.json) {
        (Some(Rows::Frames), true) => rows::frames_json(recording, out),
        (Some(Rows::Frames), false) => rows::frames(recording, out),
        (Some(Rows::Exchanges), true) => rows::exchanges_json(recording, out),
        (Some(Rows::Exchanges), false) => rows::exchanges(recording, out),
        (Some(Rows::Events), true) => rows::events_json(recording, out),
        (Some(Rows::Events), false) => rows::events(recording, out),
        (Some(Rows::Findings), true) => rows::findings_json(recording, out),
        (Some(Rows::Findings), false) => rows::findings(recording, out),
        (None, true) => summary::json(recording, out),
        (None, false) => {
            summary::write(recording, out)?;
            out.line("")?;
            rows::exchanges(recording, out)?;
            below::write(recording, out)
        }
    }
}
