//! `mcpreel show`: a recording, its rows, or one frame with its exchange.
//!
//! With a filter the rows are those of the viewer, exchanges and what belongs to none; `--frames`,
//! `--exchanges` and `--events` show only rows of that kind.

mod show_frame;

use super::exit::{Exit, Failure, Outcome, usage};
use super::filter::Filter;
use super::folder::Folder;
use super::output::{Ink, Output};
use super::rows::{self, Printer, each_finding, finding_line, quote};
use super::{filter, quantity, select};
use clap::Args;
use mcpreel_lint::cause::causes;
use mcpreel_share::export::all_rows;
use mcpreel_share::phrases::{self, phrases_network, phrases_session, when};
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_store::schema::State;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{ExchangeId, Status};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{Lens, What};
use mcpreel_trace::query::Query;
use mcpreel_trace::session::{End, Session};
use mcpreel_wire::text::{clock, count, escape, plural};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::time::Duration;

/// Findings below a recording; `--findings` shows all.
const MOST_FINDINGS: usize = 10;
/// Lines of stderr that are shown after a bad end.
const LAST_LINES: u32 = 8;

const EXAMPLES: &str = "\
Examples:
  mcpreel show                   the newest recording
  mcpreel show 7f3a              by the beginning of its id
  mcpreel show '7f3a#1187'       one frame and its exchange (7f3a:1187 is the same)
  mcpreel show -q 'is:failed OR latency>2s' -n 20
  mcpreel show @2 --frames --json | jq -r 'select(.stream == \"stderr\") | .text'";

/// The legend of the words and signs.
const LEGEND: &str = "\
How to read it:
  #            the number of a frame: one line of a stream as it was read, counted
               over all streams; exchanges have the number of their request
  LATENCY      with > before it: no answer came in this time
  failed       answered with an error, cancelled, or never answered
  →  ←         from the client to the server, from the server to the client

STATE of a recording:
  live         it is being recorded
  pending      the session is over, the rest of it is not indexed yet
  interrupted  the recorder was killed; the rest is in the spool
  recovered    it was interrupted, and completed from its spool
  cut          a copy of a live recording, which may be short
  complete     all of it is there

STATUS of an exchange:
";

/// The long help: the legend ends with what each status means.
fn long_help() -> String {
    let mut help = format!("{EXAMPLES}\n\n{LEGEND}");
    for status in Status::ALL {
        _ = writeln!(help, "  {:<14}  {}", status.as_str(), status.help());
    }
    help
}

/// Show a recording, or one frame of it with its exchange
///
/// Without options: who spoke, what they agreed on, how it ended, then a line per exchange. With
/// `#SEQ` after the recording: that frame, and the whole exchange that it belongs to.
#[derive(Debug, Args)]
#[command(after_help = long_help())]
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
    /// Only the last N rows
    #[arg(short = 'n', long, value_name = "N", value_parser = quantity::number)]
    limit: Option<usize>,
    /// Only rows of this time before the end, or before now in a live recording: 30s, 10m
    #[arg(long, value_name = "TIME", value_parser = quantity::age)]
    since: Option<Duration>,
    /// One JSON object per line; without another option the summary in one object, with #SEQ the
    /// frame, its exchanges and the HTTP that carried them
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, Default, Args)]
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
    /// Events of the process and of the recording
    #[arg(long)]
    events: bool,
    /// Findings of the rules
    #[arg(long, conflicts_with_all = ["query", "limit", "since"])]
    findings: bool,
}

impl Show {
    pub fn run(&self) -> Outcome {
        let query = self.query()?;
        let (recording, selected) = select::open(&self.recording, &self.folder)?;
        let summary = recording.summary()?;
        let mut rows = Printer::stdout(self.json, summary.frames);
        let what = self.what;
        let is_other = what.exchanges || what.events || what.findings;
        let is_any = !(what.frames || is_other);
        (rows.typed, rows.of_frames) = (is_any, what.frames);
        rows.why_lost = phrases::why_lost(&summary);
        let now = select::now(&recording, &summary);
        let until = now.unwrap_or(Moment(summary.t_last_ns));
        // Nobody knows when a recorder was killed.
        let is_cut_off =
            summary.state == State::Recovered && summary.session.phase.end() == Some(&End::Unknown);
        rows.until = (!is_cut_off).then_some(until);
        let is_network = summary.context.url.is_some();
        match (selected.seq, &query) {
            (Some(_), query) if query.is_some() || is_other => {
                let way_out = "#SEQ names one frame; leave it out, or leave out the options";
                return Err(usage(way_out));
            }
            (Some(seq), _) => self.one_frame(&recording, seq, &summary, &mut rows)?,
            (None, Some(query)) => self.fitting(&recording, query, &summary, &mut rows)?,
            (None, None) if !is_any => self.all(&recording, is_network, &mut rows)?,
            (None, None) if self.json => rows.out.json(&summary_json(&recording, &summary)?)?,
            (None, None) => {
                write_summary(&recording, &summary, until, &mut rows.out)?;
                rows.out.line("")?;
                self.all(&recording, is_network, &mut rows)?;
                write_authorization(&recording, &mut rows.out)?;
                write_findings(&recording, &summary, &mut rows.out)?;
                write_last_words(&recording, &summary, &mut rows.out)?;
            }
        }
        rows.out.flush()?;
        Ok(Exit::Fine)
    }

    /// The filter of all options that select rows.
    fn query(&self) -> Result<Option<Query>, Failure> {
        let query = filter::parse(self.filter.query.as_deref())?;
        let since = self.since.map(|time| format!("time>-{}s", time.as_secs()));
        let since = filter::parse_as("--since", since.as_deref())?;
        let all = self.limit.map(|_| Query::default());
        Ok([query, since, all].into_iter().flatten().reduce(Query::and))
    }

    fn one_frame(
        &self,
        recording: &Recording,
        seq: Seq,
        summary: &Summary,
        rows: &mut Printer,
    ) -> Result<(), Failure> {
        let Some(head) = recording.head(seq)? else {
            let (seq, last) = (seq.0, summary.frames);
            let message = format!("there is no frame #{seq}: the last one is #{last}");
            return Err(Failure::Usage(message));
        };
        if self.json {
            rows.typed = false;
            rows.frame(recording, &head, None, &[])?;
            rows.typed = true;
            for exchange in recording.exchanges_of_frame(seq)? {
                rows.exchange(&exchange, None, false)?;
            }
            return match recording.http(head.carried.http)? {
                Some(http) => rows.http(&http, recording.timing(&http)?),
                None => Ok(()),
            };
        }
        show_frame::write(recording, &head, rows.until, &mut rows.out)
    }

    /// Prints every row of the kind; without a kind every exchange.
    fn all(
        &self,
        recording: &Recording,
        is_network: bool,
        rows: &mut Printer,
    ) -> Result<(), Failure> {
        if self.what.findings {
            let mut none = !self.json;
            each_finding(recording, |finding, request| {
                none = false;
                rows.finding(finding, request)
            })?;
            if none {
                rows.out.line("no findings")?;
            }
            return Ok(());
        }
        rows.heading()?;
        if self.what.frames {
            rows.frames(recording)?;
        } else if self.what.events {
            for row in all_rows(0, |after| recording.events(*after), |row| row.id) {
                rows.event(&row?.event)?;
            }
        } else if is_network && !self.what.exchanges {
            filter::each(
                recording,
                Lens::Exchanges,
                &Query::default(),
                |item| match &item.what {
                    What::Exchange(_) | What::Http(_) => rows.item(recording, &item),
                    _ => Ok(()),
                },
            )?;
        } else {
            let page = |after: &ExchangeId| recording.exchanges(*after, 1000);
            for exchange in all_rows(ExchangeId(0), page, |exchange| exchange.id) {
                rows.exchange(&exchange?, None, false)?;
            }
        }
        Ok(())
    }

    /// Prints the rows that fit, and how many of all they are.
    fn fitting(
        &self,
        recording: &Recording,
        query: &Query,
        summary: &Summary,
        rows: &mut Printer,
    ) -> Result<(), Failure> {
        let (frames, exchanges, events) = (self.what.frames, self.what.exchanges, self.what.events);
        let is_wire = frames || events;
        let lens = [Lens::Exchanges, Lens::Wire][usize::from(is_wire)];
        rows.heading()?;
        let (mut shown, mut last, mut kept) = (0, None, VecDeque::new());
        filter::each(recording, lens, query, |item| {
            let is_wanted = match &item.what {
                What::Exchange(_) => true,
                What::Event(_) => !frames && !exchanges,
                // Several messages of a batch may fit: it is one frame.
                _ if frames => last.replace(item.key.seq) != Some(item.key.seq),
                _ => !events && !exchanges,
            };
            if !is_wanted {
                return Ok(());
            }
            shown += 1;
            let Some(limit) = self.limit else {
                return rows.item(recording, &item);
            };
            kept.push_back(item);
            if kept.len() > limit {
                kept.pop_front();
                shown -= 1;
            }
            Ok(())
        })?;
        for item in &kept {
            rows.item(recording, item)?;
        }
        if self.json {
            return Ok(());
        }
        let of = match () {
            () if frames => plural(summary.frames, "frame"),
            () if exchanges => plural(summary.exchanges, "exchange"),
            () => plural(recording.count_rows(lens, Seq(0), Seq(u64::MAX))?, "row"),
        };
        let below = format!("{} of {of}", count(shown));
        Ok(rows.out.inked(Ink::Faint, &below)?)
    }
}

/// Prints how far clients came that had to log in.
fn write_authorization(recording: &Recording, out: &mut Output) -> Result<(), Failure> {
    let steps = recording.authorization()?;
    if !steps.is_empty() {
        out.inked(Ink::Strong, "\nauthorization")?;
    }
    let lines = phrases_network::authorization(&steps, None);
    Ok(lines.iter().try_for_each(|line| out.line(line))?)
}

/// Prints the first findings.
fn write_findings(
    recording: &Recording,
    summary: &Summary,
    out: &mut Output,
) -> Result<(), Failure> {
    let found = recording.findings(0)?;
    if !found.is_empty() {
        out.inked(Ink::Strong, "\nfindings")?;
    }
    for finding in found.iter().take(MOST_FINDINGS) {
        out.line(&format!("  {}", finding_line(finding, out)))?;
    }
    let more = recording.last_finding()?;
    let more = more.saturating_sub(MOST_FINDINGS as u64);
    if more > 0 {
        let (more, id) = (count(more), escape(&summary.id));
        let hint = format!("  … {more} more: mcpreel show {id} --findings");
        out.inked(Ink::Faint, &hint)?;
    }
    Ok(())
}

/// Prints the last lines on stderr, after a signal, an exit code, or an end with nothing agreed.
fn write_last_words(
    recording: &Recording,
    summary: &Summary,
    out: &mut Output,
) -> Result<(), Failure> {
    let has_agreed = summary.session.version().is_some();
    match summary.session.phase.end() {
        None => return Ok(()),
        Some(End::Exited { code: 0 } | End::Unknown) if has_agreed => return Ok(()),
        Some(_) => {}
    }
    let lines = recording.last_words(LAST_LINES)?;
    if !lines.is_empty() {
        out.inked(Ink::Strong, "\nlast lines on stderr")?;
    }
    let mut lines = lines.iter();
    Ok(lines.try_for_each(|line| out.line(&format!("  {}", quote(line))))?)
}

/// The summary as one JSON object.
fn summary_json(recording: &Recording, summary: &Summary) -> Result<serde_json::Value, Failure> {
    let mut object = serde_json::to_value(summary)?;
    object["state"] = select::state(recording, summary).into();
    if let Some(context) = object.get_mut("context") {
        rows::show_process(context);
    }
    let steps = recording.authorization()?;
    if !steps.is_empty() {
        object["authorization"] = serde_json::json!(steps);
    }
    object["redaction"] = rows::redaction(summary.redaction.as_deref()).into();
    for side in ["client", "server"] {
        let place = format!("/session/{side}/capabilities");
        if let Some(capabilities) = object.pointer_mut(&place) {
            // On record as the text from the wire; what is no JSON stays text.
            let text = capabilities.as_str();
            let parsed = text.and_then(|text| serde_json::from_str(text).ok());
            *capabilities = parsed.unwrap_or_else(|| capabilities.take());
        }
    }
    let path = serde_json::json!({"path": recording.path().to_string_lossy()});
    Ok(rows::joined(path, object))
}

/// Prints the two sides, the agreed version, the end of the session, and remarks that a reader
/// must know before trusting the rest: gaps, warnings, recovery.
fn write_summary(
    recording: &Recording,
    summary: &Summary,
    until: Moment,
    out: &mut Output,
) -> Result<(), Failure> {
    out.line(&select::title(recording, summary, out))?;
    let causes = causes(&recording.facts(select::now(recording, summary))?);
    if let Some(cause) = causes.first().filter(|it| it.is_trouble()) {
        out.fact("why", &out.paint(Ink::Bad, &escape(&cause.sentence)))?;
    }
    let file = escape(&recording.path().to_string_lossy()).into_owned();
    let mut facts = vec![("file", file)];
    if let Some(played) = &summary.context.played {
        facts.push(("replay of", escape(played).into_owned()));
    }
    let (started, long) = (when::exact(summary.wall_ns), clock(until.0));
    facts.push(("started", format!("{started}, {long} long")));
    facts.extend(phrases_session::facts(summary, recording)?);
    phrases_session::name_clients(&mut facts, &recording.conversations()?);
    for (name, value) in facts {
        out.fact(name, &value)?;
    }
    write_conversations(recording, summary, out)?;
    for row in all_rows(0, |after| recording.events(*after), |row| row.id) {
        let kind = row?.event.kind;
        if phrases_session::is_remarkable(&kind) {
            out.fact("remark", &out.paint(Ink::Warn, &phrases::event(&kind)))?;
        }
    }
    Ok(())
}

/// Prints who spoke in which conversation, where there are several, and which of them the lines above are
/// about.
fn write_conversations(
    recording: &Recording,
    summary: &Summary,
    out: &mut Output,
) -> Result<(), Failure> {
    let conversations = recording.conversations()?;
    if conversations.len() < 2 {
        return Ok(());
    }
    let sides = |it: &Session| (it.client.clone(), it.server.clone());
    let described = sides(&summary.session);
    let are_alike = conversations
        .iter()
        .all(|it| sides(&it.session) == described);
    for one in &conversations {
        let client = phrases::peer(&one.session.client);
        let client = client.unwrap_or_else(|| "a client without a name".to_owned());
        let version = one.session.version().unwrap_or("no version agreed");
        let above = if !are_alike && sides(&one.session) == described {
            "; described above"
        } else {
            ""
        };
        let (version, first) = (escape(version), one.first.0);
        let said = format!("{client}, {version}, from #{first} on{above}");
        out.fact(&format!("talk {}", one.id), &said)?;
    }
    Ok(())
}
