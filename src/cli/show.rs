//! `mcpreel show`: a recording, its rows, or one frame with its exchange.
//!
//! With a filter the rows are those of the viewer, exchanges and what belongs to none; `--frames`,
//! `--exchanges` and `--events` show only rows of that kind.

mod show_frame;

use super::exit::{Exit, Failure, Outcome, usage};
use super::filter::Filter;
use super::folder::Folder;
use super::json::{ExchangeJson, FrameJson, event_json, finding_json};
use super::output::{Ink, Output};
use super::rows::{Listing, Row, each_finding, finding_line, frame_words, pages, quote};
use super::{filter, json, select};
use clap::Args;
use mcpreel_share::phrases::{self, phrases_session, when};
use mcpreel_share::row::RowView;
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_trace::event::Event;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_trace::item::{Item, Lens, What};
use mcpreel_trace::query::Query;
use mcpreel_trace::session::End;
use mcpreel_wire::text::{clock, count, escape, pad_end, pad_start, plural};
use std::ffi::OsString;

/// Findings below a recording; `--findings` shows all.
const MOST_FINDINGS: usize = 10;
/// Lines of stderr that are shown after a bad end.
const LAST_LINES: usize = 8;
/// Bytes of such a line that are read.
const LAST_LINE: u64 = 4096;

const EXAMPLES: &str = "\
Examples:
  mcpreel show                   the newest recording
  mcpreel show 7f3a              by the beginning of its id
  mcpreel show '7f3a#1187'       one frame and its exchange (7f3a:1187 is the same)
  mcpreel show -q 'is:failed OR latency>2s'
  mcpreel show @2 --frames --json | jq -r 'select(.stream == \"stderr\") | .text'";

/// The legend of the words and signs.
const LEGEND: &str = "\
How to read it:
  #            the number of a frame: one line of a stream as it was read, counted
               over all streams; exchanges have the number of their request
  →  ←         from the client to the server, from the server to the client
  legacy       the era of the protocol with a handshake (initialize)
  modern       the era without one: every request says its version

STATE of a recording:
  live         it is being recorded
  pending      the session is over, the rest of it is not indexed yet
  interrupted  the recorder was killed; the rest is in the spool
  recovered    it was interrupted, and completed from its spool
  cut          a copy of a live recording, which may be short
  complete     all of it is there

STATUS of an exchange:
  open            no answer yet, and the recording is live
  ok              answered with a result
  tool-error      answered with a result that has isError
  error           answered with an error
  input-required  the server asked for input first; joined to the retry
  task            answered with a task; joined to its outcome
  cancelled       cancelled, and never answered
  late            answered after it was cancelled
  lost            the answering side ended before it answered: while its input was
                  open, by a signal, or with an exit code other than 0
  unanswered      the recording ended otherwise before there was an answer
  listening       a subscription that was open until the end; it has no latency
  given-up        no longer followed, because too many requests were open at once";

/// Show a recording, or one frame of it with its exchange
///
/// Without options: who spoke, what they agreed on, how it ended, then a line per exchange. With
/// `#SEQ` after the recording: that frame, and the whole exchange that it belongs to.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{LEGEND}"))]
pub struct Show {
    /// A path, @, @2, an id or its first four digits or more, or a name; with #SEQ one frame
    #[arg(value_name = "RECORDING[#SEQ]", default_value = "@")]
    recording: OsString,
    #[command(flatten)]
    folder: Folder,
    #[command(flatten)]
    what: RowOptions,
    #[command(flatten)]
    filter: Filter,
    /// One JSON object per line; without another option the summary in one object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Default, Args)]
#[group(multiple = false)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "one flag each on the command line, of which at most one is set"
)]
struct RowOptions {
    /// Every line of every stream, as it was read
    #[arg(long)]
    frames: bool,
    /// Requests with their responses
    #[arg(long)]
    exchanges: bool,
    /// What happened to the process and to the recording
    #[arg(long)]
    events: bool,
    /// What is wrong or remarkable
    #[arg(long)]
    findings: bool,
}

/// The kind of rows that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// No option: the summary and exchanges, or with a filter the rows of the viewer.
    Any,
    Frames,
    Exchanges,
    Events,
    Findings,
}

impl Show {
    fn kind(&self) -> Kind {
        let what = &self.what;
        match () {
            () if what.frames => Kind::Frames,
            () if what.exchanges => Kind::Exchanges,
            () if what.events => Kind::Events,
            () if what.findings => Kind::Findings,
            () => Kind::Any,
        }
    }

    pub fn run(&self) -> Outcome {
        let query = filter::parse(self.filter.query.as_deref())?;
        let (recording, selected) = select::open(&self.recording, &self.folder)?;
        let kind = self.kind();
        let refusal = match (selected.seq, &query, kind) {
            (Some(_), Some(_), _) => "#SEQ names one frame; leave it out, or leave out -q",
            (Some(_), None, Kind::Exchanges | Kind::Events | Kind::Findings) => {
                "#SEQ names one frame; leave it out, or leave out the option"
            }
            (None, Some(_), Kind::Findings) => {
                "-q is about rows; finding:RULE and severity:error fit those with findings"
            }
            _ => "",
        };
        if !refusal.is_empty() {
            return Err(usage(refusal));
        }
        let summary = recording.summary()?;
        let mut shown = Shown {
            listing: match kind {
                Kind::Frames => Listing::of_frames(summary.frames),
                Kind::Events => Listing::of_events(summary.frames),
                _ => Listing::of_rows(summary.frames),
            },
            recording: &recording,
            summary,
            kind,
            json: self.json,
            out: Output::stream(),
        };
        match (selected.seq, &query) {
            (Some(seq), _) => shown.one_frame(seq)?,
            (None, Some(query)) => shown.fitting(query)?,
            (None, None) if kind != Kind::Any => shown.all()?,
            (None, None) if self.json => shown.summary_json()?,
            (None, None) => {
                shown.summary()?;
                shown.out.line("")?;
                shown.all()?;
                shown.findings()?;
                shown.last_words()?;
            }
        }
        shown.out.flush()?;
        Ok(Exit::Fine)
    }
}

/// Rows on their way to stdout.
struct Shown<'a> {
    recording: &'a Recording,
    summary: Summary,
    kind: Kind,
    json: bool,
    listing: Listing,
    out: Output,
}

impl Shown<'_> {
    fn end(&self) -> Option<&End> {
        self.summary.session.phase.end()
    }

    fn one_frame(&mut self, seq: Seq) -> Result<(), Failure> {
        let Some(head) = self.recording.head(seq)? else {
            let frames = self.summary.frames;
            let message = format!("there is no frame #{}: the last one is #{frames}", seq.0);
            return Err(Failure::Usage(message));
        };
        if self.json {
            return self.frame(&head, None);
        }
        show_frame::write(self.recording, &head, &mut self.out)
    }

    fn heading(&mut self) -> Result<(), Failure> {
        if !self.json && self.kind != Kind::Findings {
            let heading = self.listing.heading(&self.out);
            self.out.line(&heading)?;
        }
        Ok(())
    }

    /// Every row of the kind, page by page.
    fn all(&mut self) -> Result<(), Failure> {
        self.heading()?;
        let recording = self.recording;
        match self.kind {
            Kind::Frames => {
                let next = |after| recording.frames(after);
                let key = |(head, _): &(FrameHead, _)| head.seq;
                pages(Seq(0), next, key, |(head, raw)| {
                    self.frame(head, raw.as_deref())
                })
            }
            Kind::Any | Kind::Exchanges => {
                let next = |after| recording.exchanges(after, 1000);
                let key = |exchange: &Exchange| exchange.id;
                pages(ExchangeId(0), next, key, |exchange| self.exchange(exchange))
            }
            Kind::Events => {
                let next = |after| recording.events(after);
                pages(0, next, |row| row.id, |row| self.event(&row.event))
            }
            Kind::Findings => {
                let mut none = true;
                each_finding(recording, |finding, request| {
                    none = false;
                    if self.json {
                        return Ok(self.out.json(&finding_json(finding, request))?);
                    }
                    let line = finding_line(finding, &self.out);
                    Ok(self.out.line(&line)?)
                })?;
                if none && !self.json {
                    self.out.line("no findings")?;
                }
                Ok(())
            }
        }
    }

    /// The rows that fit, and how many of all they are.
    fn fitting(&mut self, query: &Query) -> Result<(), Failure> {
        let lens = match self.kind {
            Kind::Frames | Kind::Events => Lens::Wire,
            _ => Lens::Exchanges,
        };
        self.heading()?;
        let (mut shown, mut last) = (0, None);
        filter::each(self.recording, lens, query, |item| {
            // Several messages of a batch may fit: it is one frame.
            let is_again = last.replace(item.key.seq) == Some(item.key.seq);
            if self.kind != Kind::Frames || !is_again {
                shown += u64::from(self.item(item)?);
            }
            Ok(())
        })?;
        if self.json {
            return Ok(());
        }
        let (of, what) = match self.kind {
            Kind::Frames => (self.summary.frames, "frame"),
            Kind::Exchanges => (self.summary.exchanges, "exchange"),
            _ => {
                let rows = self.recording.count_rows(lens, Seq(0), Seq(u64::MAX))?;
                (rows, "row")
            }
        };
        let below = format!("{} of {}", count(shown), plural(of, what));
        Ok(self.out.inked(Ink::Faint, &below)?)
    }

    /// Shows an item; `false` if it is of another kind than was asked for.
    fn item(&mut self, item: Item) -> Result<bool, Failure> {
        match (self.kind, &item.what) {
            (Kind::Frames, What::Message { head, .. } | What::Line { head, .. }) => {
                self.frame(head, None)?;
            }
            (Kind::Events, What::Event(event)) => self.event(event)?,
            (Kind::Exchanges, What::Exchange(exchange)) => self.exchange(exchange)?,
            (Kind::Any, _) if self.json => {
                Row::from(item).json(self.recording, &mut self.out)?;
            }
            (Kind::Any, _) => {
                let row = Row::from(item);
                let line = row.line(self.end(), self.listing, &self.out);
                self.out.line(&line)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn exchange(&mut self, exchange: &Exchange) -> Result<(), Failure> {
        if self.json {
            return Ok(self.out.json(&ExchangeJson::from(exchange))?);
        }
        let row = RowView::of_exchange(exchange);
        let line = self.listing.row(&row, &row.what(self.end()), &self.out);
        Ok(self.out.line(&line)?)
    }

    /// A frame; its bytes are read where they are not given.
    fn frame(&mut self, head: &FrameHead, raw: Option<&[u8]>) -> Result<(), Failure> {
        if !self.json {
            let words = frame_words(self.recording, head, raw)?;
            let line = self.listing.frame(head, &words, &self.out);
            return Ok(self.out.line(&line)?);
        }
        let read = match raw {
            Some(_) => Vec::new(),
            None => self.recording.raw(head.seq)?,
        };
        Ok(self.out.json(&FrameJson::new(head, raw.unwrap_or(&read)))?)
    }

    fn event(&mut self, event: &Event) -> Result<(), Failure> {
        if self.json {
            return Ok(self.out.json(&event_json(event))?);
        }
        let line = self.listing.event(event, &self.out);
        Ok(self.out.line(&line)?)
    }

    /// The first findings.
    fn findings(&mut self) -> Result<(), Failure> {
        let found = self.recording.findings(0)?;
        let out = &mut self.out;
        if !found.is_empty() {
            out.line("")?;
            out.inked(Ink::Strong, "findings")?;
        }
        for finding in found.iter().take(MOST_FINDINGS) {
            out.line(&format!("  {}", finding_line(finding, out)))?;
        }
        let more = self.summary.findings.saturating_sub(MOST_FINDINGS as u64);
        if more > 0 {
            let (more, id) = (count(more), escape(&self.summary.id));
            let hint = format!("  … {more} more: mcpreel show {id} --findings");
            out.inked(Ink::Faint, &hint)?;
        }
        Ok(())
    }

    /// The last lines on stderr, after a signal, an exit code, or an end with nothing agreed.
    fn last_words(&mut self) -> Result<(), Failure> {
        match self.end() {
            None => return Ok(()),
            Some(End::Exited { code: 0 } | End::Unknown)
                if self.summary.session.version().is_some() =>
            {
                return Ok(());
            }
            Some(_) => {}
        }
        let query = Query::parse("kind:stderr").unwrap_or_default();
        let lines = filter::newest(self.recording, Lens::Wire, &query, LAST_LINES)?;
        let out = &mut self.out;
        if !lines.is_empty() {
            out.line("")?;
            out.inked(Ink::Strong, "last lines on stderr")?;
        }
        for seq in lines.into_iter().rev().map(|key| key.seq) {
            let raw = self.recording.piece(seq, 0..LAST_LINE)?;
            let place = out.paint(Ink::Faint, &pad_start(&format!("#{}", seq.0), 8));
            out.line(&format!("{place}  {}", quote(&raw)))?;
        }
        Ok(())
    }

    /// The summary as one JSON object.
    fn summary_json(&mut self) -> Result<(), Failure> {
        let state = select::state(self.recording, &self.summary);
        let mut summary = serde_json::to_value(&self.summary)?;
        summary["state"] = state.into();
        if let Some(context) = summary.get_mut("context") {
            json::null_what_is_unknown(context);
        }
        summary["redaction"] = json::redaction(summary["redaction"].as_str()).into();
        for side in ["client", "server"] {
            let place = format!("/session/{side}/capabilities");
            if let Some(capabilities) = summary.pointer_mut(&place) {
                // On record as the text from the wire; what is no JSON stays text.
                let text = capabilities.as_str();
                let parsed = text.and_then(|text| serde_json::from_str(text).ok());
                *capabilities = parsed.unwrap_or_else(|| capabilities.take());
            }
        }
        let path = serde_json::json!({"path": self.recording.path().to_string_lossy()});
        Ok(self.out.json(&json::joined(path, summary))?)
    }

    /// Prints the two sides, the agreed version, the end of the session, and remarks that a reader
    /// must know before trusting the rest: gaps, warnings, recovery.
    fn summary(&mut self) -> Result<(), Failure> {
        let (recording, summary, out) = (self.recording, &self.summary, &mut self.out);
        let title = format!("{}  {}", summary.id, escape(&summary.name));
        let state = select::state(recording, summary);
        out.line(&format!("{}  {state}", out.paint(Ink::Strong, &title)))?;
        let file = escape(&recording.path().to_string_lossy()).into_owned();
        let mut facts = vec![("file", file)];
        if let Some(played) = &summary.context.played {
            facts.push(("replay of", escape(played).into_owned()));
        }
        let (started, long) = (when::exact(summary.wall_ns), clock(summary.t_last_ns));
        facts.push(("started", format!("{started}, {long} long")));
        facts.extend(phrases_session::facts(summary, recording.given_up_count()?));
        for (name, value) in facts {
            let name = out.paint(Ink::Faint, &pad_end(name, 11));
            out.line(&format!("{name}{value}"))?;
        }
        let next = |after| recording.events(after);
        pages(
            0,
            next,
            |row| row.id,
            |row| {
                if phrases_session::is_remarkable(&row.event.kind) {
                    let name = out.paint(Ink::Warn, &pad_end("remark", 11));
                    out.line(&format!("{name}{}", phrases::event(&row.event.kind)))?;
                }
                Ok(())
            },
        )
    }
}
