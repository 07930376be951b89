//! The rows of a recording that fit a filter.
//!
//! Without another option they are the rows of the viewer: exchanges, and what belongs to none.
//! `--frames`, `--exchanges` and `--events` show only rows of that kind, in the form that they
//! have without a filter.

use super::rows;
use crate::cli::args::{Rows, Show};
use crate::cli::exit::Failure;
use crate::cli::lines::{self, Width};
use crate::cli::output::{Ink, Output};
use crate::cli::tail::{self, Shown};
use crate::cli::{filter, json};
use mcpreel_share::phrases;
use mcpreel_store::reader::Recording;
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_trace::item::{Item, Lens, What};
use mcpreel_trace::query::Query;
use mcpreel_trace::session::End;
use mcpreel_wire::text::{count, plural};

/// Shows them.
pub fn write(
    recording: &Recording,
    query: &Query,
    args: &Show,
    out: &mut Output,
) -> Result<(), Failure> {
    let summary = recording.summary()?;
    let width = Width::up_to(summary.frames);
    let asked = args.what.rows();
    if asked == Some(Rows::Findings) {
        let message = "-q is about rows; finding:RULE and severity:error fit those with findings";
        return Err(Failure::Usage(message.to_owned()));
    }
    if !args.json {
        let heading = match asked {
            Some(Rows::Frames) => lines::frame_heading(width, out),
            Some(Rows::Events) => lines::event_heading(width, out),
            _ => lines::exchange_heading(width, out),
        };
        out.line(&heading)?;
    }
    let lens = match asked {
        Some(Rows::Frames | Rows::Events) => Lens::Wire,
        _ => Lens::Exchanges,
    };
    let mut rows = Fitting {
        recording,
        width,
        end: summary.session.phase.end().cloned(),
        json: args.json,
        last: None,
        shown: 0,
    };
    filter::each(recording, lens, query, |item| rows.show(asked, item, out))?;
    if !args.json {
        let below = format!("{} of {}", count(rows.shown), all(recording, asked, lens)?);
        out.line(&out.paint(Ink::Faint, &below))?;
    }
    Ok(())
}

/// How many there are, whether they fit or not.
fn all(recording: &Recording, asked: Option<Rows>, lens: Lens) -> Result<String, Failure> {
    let summary = recording.summary()?;
    let (of, what) = match asked {
        Some(Rows::Frames) => (summary.frames, "frame"),
        Some(Rows::Exchanges) => (summary.exchanges, "exchange"),
        _ => (recording.count_rows(lens, Seq(0), Seq(u64::MAX))?, "row"),
    };
    Ok(plural(of, what))
}

struct Fitting<'a> {
    recording: &'a Recording,
    width: Width,
    /// How the session ended.
    end: Option<End>,
    json: bool,
    /// The last frame that was shown: of a batch several rows may fit.
    last: Option<Seq>,
    shown: u64,
}

impl Fitting<'_> {
    fn show(&mut self, only: Option<Rows>, item: Item, out: &mut Output) -> Result<(), Failure> {
        let line = match (only, &item.what) {
            (None, _) => self.any(item, out)?,
            (Some(Rows::Frames), What::Message { head, .. } | What::Line { head, .. }) => {
                if self.last.replace(head.seq) == Some(head.seq) {
                    return Ok(());
                }
                self.frame(head, out)?
            }
            (Some(Rows::Exchanges), What::Exchange(exchange)) => {
                if self.json {
                    out.json(&json::ExchangeLine::from(exchange.as_ref()))?;
                }
                lines::exchange(
                    exchange,
                    exchange.t_request,
                    self.end.as_ref(),
                    self.width,
                    out,
                )
            }
            (Some(Rows::Events), What::Event(event)) => {
                if self.json {
                    out.json(&json::EventLine::from(event.as_ref()))?;
                }
                let what = phrases::event(&event.kind);
                lines::event(event.t, event.after_seq, &what, self.width, out)
            }
            _ => return Ok(()),
        };
        self.shown += 1;
        if self.json {
            return Ok(());
        }
        Ok(out.line(&line)?)
    }

    fn any(&self, item: Item, out: &mut Output) -> Result<String, Failure> {
        let shown = Shown::from(item);
        let raw = match shown.frame() {
            Some(head) => tail::bytes(self.recording, head, self.json)?,
            None => Vec::new(),
        };
        if self.json {
            out.json(&shown.json(&raw))?;
        }
        Ok(shown.line(&raw, self.end.as_ref(), self.width, out))
    }

    fn frame(&self, head: &FrameHead, out: &mut Output) -> Result<String, Failure> {
        if self.json {
            rows::frame_json(self.recording, head, None, out)?;
            return Ok(String::new());
        }
        let raw = tail::bytes(self.recording, head, false)?;
        let what = rows::frame_words(self.recording, head, Some(&raw))?;
        Ok(lines::frame(head, &what, self.width, out))
    }
}
