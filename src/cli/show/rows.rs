//! The rows of a recording, page by page: as lines for people, or as JSON.

use crate::cli::exit::Failure;
use crate::cli::json;
use crate::cli::lines::{self, Width};
use crate::cli::output::{Ink, Output};
use mcpreel_share::phrases;
use mcpreel_store::reader::{FindingRow, Recording};
use mcpreel_trace::event::Event;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_wire::text::{escape, escape_bytes, pad_start};

/// Bytes of a frame without messages that are quoted.
const QUOTED: usize = 200;

type Shown = Result<(), Failure>;

fn width(recording: &Recording) -> Result<Width, Failure> {
    Ok(Width::up_to(recording.summary()?.frames))
}

fn each_frame(
    recording: &Recording,
    mut show: impl FnMut(&FrameHead, Option<&[u8]>) -> Shown,
) -> Shown {
    let mut after = Seq(0);
    loop {
        let page = recording.frames(after)?;
        let Some((last, _)) = page.last() else {
            return Ok(());
        };
        after = last.seq;
        for (head, raw) in &page {
            show(head, raw.as_deref())?;
        }
    }
}

/// Every frame as JSON.
pub fn frames_json(recording: &Recording, out: &mut Output) -> Shown {
    each_frame(recording, |head, raw| frame_json(recording, head, raw, out))
}

/// One frame as JSON; its bytes are read where they are not given.
pub fn frame_json(
    recording: &Recording,
    head: &FrameHead,
    raw: Option<&[u8]>,
    out: &mut Output,
) -> Shown {
    let read;
    let raw = if let Some(raw) = raw {
        raw
    } else {
        read = recording.raw(head.seq)?;
        &read
    };
    Ok(out.json(&json::Frame::new(head, raw))?)
}

/// Every frame as a line.
pub fn frames(recording: &Recording, out: &mut Output) -> Shown {
    let width = width(recording)?;
    out.line(&lines::frame_heading(width, out))?;
    each_frame(recording, |head, raw| {
        let what = frame_words(recording, head, raw)?;
        Ok(out.line(&lines::frame(head, &what, width, out))?)
    })
}

/// What a frame says: its messages, else its beginning.
pub fn frame_words(
    recording: &Recording,
    head: &FrameHead,
    raw: Option<&[u8]>,
) -> Result<String, Failure> {
    let messages = recording.messages_of_frame(head.seq)?;
    if messages.is_empty() {
        return Ok(quote(raw.unwrap_or(b"(long)")));
    }
    let summaries = messages.iter().map(|row| escape(&row.record.summary));
    Ok(summaries.collect::<Vec<_>>().join(" · "))
}

/// The beginning of a line that is no message.
pub fn quote(raw: &[u8]) -> String {
    let raw = raw.trim_ascii_end();
    if raw.len() > QUOTED {
        format!("{}…", escape_bytes(&raw[..QUOTED]))
    } else {
        escape_bytes(raw).into_owned()
    }
}

fn each_exchange(recording: &Recording, mut show: impl FnMut(&Exchange) -> Shown) -> Shown {
    let mut after = ExchangeId(0);
    loop {
        let page = recording.exchanges(after)?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = last.id;
        page.iter().try_for_each(&mut show)?;
    }
}

/// Every exchange as JSON.
pub fn exchanges_json(recording: &Recording, out: &mut Output) -> Shown {
    each_exchange(recording, |exchange| {
        Ok(out.json(&json::ExchangeLine::from(exchange))?)
    })
}

/// Every exchange as a line.
pub fn exchanges(recording: &Recording, out: &mut Output) -> Shown {
    let summary = recording.summary()?;
    let (width, end) = (Width::up_to(summary.frames), summary.session.phase.end());
    out.line(&lines::exchange_heading(width, out))?;
    each_exchange(recording, |exchange| {
        let line = lines::exchange(exchange, exchange.t_request, end, width, out);
        Ok(out.line(&line)?)
    })
}

/// Gives every event to `show`, in order.
pub fn each_event(recording: &Recording, mut show: impl FnMut(&Event) -> Shown) -> Shown {
    let mut after = 0;
    loop {
        let page = recording.events(after)?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = last.id;
        page.iter().try_for_each(|row| show(&row.event))?;
    }
}

/// Every event as JSON.
pub fn events_json(recording: &Recording, out: &mut Output) -> Shown {
    each_event(recording, |event| {
        Ok(out.json(&json::EventLine::from(event))?)
    })
}

/// Every event as a line.
pub fn events(recording: &Recording, out: &mut Output) -> Shown {
    let width = width(recording)?;
    let heading = lines::event_heading(width, out);
    out.line(&heading)?;
    each_event(recording, |event| {
        let what = phrases::event(&event.kind);
        Ok(out.line(&lines::event(event.t, event.after_seq, &what, width, out))?)
    })
}

/// Gives every finding to `show`, in order, with the seq of the request that it is about.
pub fn each_finding(
    recording: &Recording,
    mut show: impl FnMut(&FindingRow, Option<u64>) -> Shown,
) -> Shown {
    let mut after = 0;
    loop {
        let page = recording.findings(after)?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = last.id;
        for finding in &page {
            let request = recording.request_of(finding)?;
            show(finding, request.map(|seq| seq.0))?;
        }
    }
}

/// Every finding as JSON; exchanges are named by the seq of their request.
pub fn findings_json(recording: &Recording, out: &mut Output) -> Shown {
    each_finding(recording, |finding, request| {
        Ok(out.json(&json::FindingLine::new(finding, request))?)
    })
}

/// Every finding as a line.
pub fn findings(recording: &Recording, out: &mut Output) -> Shown {
    let mut none = true;
    each_finding(recording, |finding, _| {
        none = false;
        Ok(out.line(&finding_line(finding, out))?)
    })?;
    if none {
        out.line("no findings")?;
    }
    Ok(())
}

/// A finding on one line.
pub fn finding_line(finding: &FindingRow, out: &Output) -> String {
    let severity = lines::severity(&finding.severity, out);
    let place = finding
        .frame
        .map_or_else(String::new, |seq| format!("#{}", seq.0));
    let place = pad_start(&place, 6);
    let rule = out.paint(Ink::Strong, &escape(&finding.rule));
    let path = finding.path.as_deref().map_or_else(String::new, |path| {
        out.paint(Ink::Faint, &format!("  {}", escape(path)))
    });
    format!(
        "{severity}  {place}  {rule}: {}{path}",
        escape(&finding.detail)
    )
}
