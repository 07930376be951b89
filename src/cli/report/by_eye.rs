//! What a person should look at before a report is handed on: no rule decides it.

use crate::cli::exit::Failure;
use crate::cli::redact;
use mcpreel_redact::{OPTIONAL, Policy, Settings};
use mcpreel_store::reader::Recording;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::{Seq, StreamId};
use mcpreel_wire::text::{escape, plural, size};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Tools that are named.
const MOST_TOOLS: usize = 12;

/// Rows that are read at once.
const PAGE: u32 = 1000;

/// What there is to look at in a redacted recording, a line each, escaped.
pub fn lines(redacted: &Recording) -> Result<Vec<String>, Failure> {
    let mut lines = Vec::new();
    lines.extend(tools(redacted)?);
    let stderr = stderr(redacted)?;
    if stderr > 0 {
        lines.push(format!("stderr of the server, {}", size(stderr)));
    }
    lines.push("the command line, and the names of folders and machines in it".to_owned());
    lines.extend(optional(redacted)?);
    Ok(lines)
}

/// The tools whose arguments and results are in it.
fn tools(redacted: &Recording) -> Result<Option<String>, Failure> {
    let mut called: BTreeMap<_, u64> = BTreeMap::new();
    let mut after = ExchangeId(0);
    loop {
        let page = redacted.light_exchanges(after, None, PAGE)?;
        let Some(last) = page.last() else { break };
        after = last.id;
        for exchange in page {
            if let Some(name) = exchange.name.filter(|_| &*exchange.method == "tools/call") {
                *called.entry(name).or_default() += 1;
            }
        }
    }
    if called.is_empty() {
        return Ok(None);
    }
    let named = called.iter().take(MOST_TOOLS);
    let mut named: Vec<_> = named
        .map(|(tool, calls)| format!("{} ({calls})", escape(tool)))
        .collect();
    if called.len() > MOST_TOOLS {
        named.push(plural((called.len() - MOST_TOOLS) as u64, "more tool"));
    }
    Ok(Some(format!(
        "arguments and results of {}",
        named.join(", ")
    )))
}

fn stderr(redacted: &Recording) -> Result<u64, Failure> {
    let (mut bytes, mut after) = (0, Seq(0));
    loop {
        let page = redacted.heads(after, PAGE)?;
        let Some(last) = page.last() else {
            return Ok(bytes);
        };
        after = last.seq;
        let lines = page.iter().filter(|head| head.stream == StreamId::STDERR);
        bytes += lines.map(|head| head.size).sum::<u64>();
    }
}

/// What rules find that hold only where they are asked for.
fn optional(redacted: &Recording) -> Result<Vec<String>, Failure> {
    let settings = Settings {
        email: true,
        home: true,
        ..Settings::default()
    };
    let policy = Policy::new(&settings).map_err(anyhow::Error::from)?;
    let report = redact::look(redacted, &Arc::new(policy))?;
    let found = report.rules.iter();
    let found = found.filter(|(rule, _)| OPTIONAL.contains(&&***rule));
    let lines = found.map(|(rule, count)| {
        let option = rule.split('-').next().unwrap_or_default();
        let places = plural(*count, "place");
        format!("{rule} in {places}: --{option} replaces that as well")
    });
    Ok(lines.collect())
}
