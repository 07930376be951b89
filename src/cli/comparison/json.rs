//! A comparison for programs: one JSON object per line, a summary first.

use super::party::opens;
use super::words;
use super::{Compared, Party};
use crate::cli::exit::Failure;
use crate::cli::output::Output;
use mcpreel_replay::compare::{Class, Half};
use mcpreel_replay::report::{Account, Difference, Offer, Outcome, Report};
use mcpreel_trace::frame::Seq;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Writes it.
pub fn write(compared: &Compared<'_>, out: &mut Output) -> Result<(), Failure> {
    out.json(&summary(compared))?;
    let report = compared.report;
    for (trouble, text) in &report.troubles {
        out.json(&json!({"kind": "trouble", "trouble": trouble.as_str(), "text": text}))?;
    }
    for offer in &report.offers {
        out.json(&offered(offer, compared.parties))?;
    }
    for account in &report.accounts {
        exchange(account, compared.parties, out)?;
    }
    for rule in &report.unfired {
        let at = mcpreel_wire::text::escape(&rule.at);
        let rule = mcpreel_wire::text::escape(&rule.rule);
        out.json(&json!({"kind": "unfired", "at": at, "rule": rule}))?;
    }
    Ok(())
}

fn summary(compared: &Compared<'_>) -> Value {
    let report = compared.report;
    let counts: Map<_, _> = Class::ALL
        .into_iter()
        .map(|class| (class.as_str().to_owned(), report.count(class).into()))
        .collect();
    let [left, right] = compared.parties.each_ref().map(side);
    json!({
        "kind": "summary",
        "verdict": words::verdict(compared),
        "exit_code": report.exit_code(),
        "fail_on": report.fail_on.as_str(),
        "left": left,
        "right": right,
        "compared": report.compared,
        "same": report.same,
        "redacted": report.redacted,
        "counts": counts,
        "rules": compared.rules,
        "left_out": left_out(report),
    })
}

fn left_out(report: &Report) -> Value {
    let unlooked = report.unlooked;
    json!({
        "unwanted": report.unwanted,
        "passed_over": report.passed_over,
        "exchanges": report.more_accounts,
        "offers": report.more_offers,
        "troubles": report.more_troubles,
        "values": unlooked.values,
        "outlines": unlooked.outlines,
        "place_by_place": unlooked.coarse,
        "unkeyed": unlooked.unkeyed,
    })
}

fn side(party: &Party) -> Value {
    json!({
        "id": party.id,
        "name": party.name,
        "version": party.version,
        "path": party.path,
        "seq": party.seq.map(|seq| seq.0),
        "exchanges": party.exchanges,
        "state": party.state,
        "gap_bytes": party.gap_bytes,
    })
}

/// A value that differs.
#[derive(Serialize)]
struct Line<'r> {
    kind: &'static str,
    class: &'static str,
    #[serde(flatten)]
    about: About<'r>,
    left: Option<u64>,
    right: Option<u64>,
    half: &'static str,
    path: &'r str,
    change: &'static str,
    was: Option<&'r str>,
    is: Option<&'r str>,
    note: Option<&'r str>,
    open: Vec<String>,
}

/// What it belongs to.
#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
enum About<'r> {
    Call {
        method: &'r str,
        name: Option<&'r str>,
    },
    Offer {
        list: &'static str,
        name: &'r str,
        times: u64,
    },
}

fn line<'r>(
    kind: &'static str,
    about: About<'r>,
    seqs: [Option<Seq>; 2],
    difference: &'r Difference,
    parties: &[Party; 2],
) -> Line<'r> {
    let [left, right] = seqs.map(|seq| seq.map(|seq| seq.0));
    Line {
        kind,
        class: difference.class.as_str(),
        about,
        left,
        right,
        half: match difference.half {
            Half::Request => "request",
            Half::Response => "response",
        },
        path: &difference.path,
        change: difference.change.as_str(),
        was: difference.left.as_deref(),
        is: difference.right.as_deref(),
        note: difference.note.as_deref(),
        open: opens(parties, seqs),
    }
}

fn offered<'r>(offer: &'r Offer, parties: &[Party; 2]) -> Line<'r> {
    let about = About::Offer {
        list: offer.list.member(),
        name: &offer.name,
        times: offer.times,
    };
    let seqs = [offer.left, offer.right];
    line("offer", about, seqs, &offer.difference, parties)
}

fn exchange(account: &Account, parties: &[Party; 2], out: &mut Output) -> Result<(), Failure> {
    let about = About::Call {
        method: &account.method,
        name: account.name.as_deref(),
    };
    let seqs = [account.left, account.right];
    for difference in &account.differences {
        out.json(&line("difference", about, seqs, difference, parties))?;
    }
    if account.outcome != Outcome::Differs || account.more > 0 {
        let [left, right] = seqs.map(|seq| seq.map(|seq| seq.0));
        out.json(&json!({
            "kind": "exchange",
            "class": account.class.map(Class::as_str),
            "method": account.method,
            "name": account.name,
            "left": left,
            "right": right,
            "outcome": words::outcome(account),
            "text": words::said(account),
            "differences_left_out": account.more,
            "open": opens(parties, seqs),
        }))?;
    }
    Ok(())
}
