//! Calls that failed, grouped by what was answered.

use crate::quote::expression;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::Seq;
use regex::Regex;
use std::sync::LazyLock;

/// Calls of one method and name that failed, [`Self::COUNTED`] at most.
#[derive(Clone, Debug)]
pub struct Failed {
    /// Calls by their answers, at least one group: the most frequent answers first; what was never
    /// answered comes last.
    pub ways: Vec<Alike>,
    pub is_all: bool,
}

/// Calls that were answered in the same way.
#[derive(Clone, Debug)]
pub struct Alike {
    /// The first of these calls.
    pub exchange: Exchange,
    /// The answer to that call, in a line of its own: that of an exchange has room for less.
    pub answer: Option<Box<str>>,
    /// The requests of all of these calls, in order.
    pub requests: Vec<Seq>,
}

impl Failed {
    /// Calls that are looked at; a tool may fail a million times.
    pub const COUNTED: usize = 100;

    /// Groups calls, which are in their order. `None` if there are none.
    pub fn new(exchanges: Vec<Exchange>, is_all: bool) -> Option<Self> {
        let mut ways: Vec<Alike> = Vec::new();
        for exchange in exchanges {
            let request = exchange.request.0;
            let is_same = |way: &&mut Alike| is_alike(&way.exchange, &exchange);
            match ways.iter_mut().find(is_same) {
                Some(same) => same.requests.push(request),
                None => ways.push(Alike {
                    answer: exchange.answered().map(Into::into),
                    exchange,
                    requests: vec![request],
                }),
            }
        }
        ways.sort_by_key(|one| {
            let is_silent = one.exchange.response.is_none();
            (is_silent, usize::MAX - one.requests.len())
        });
        (!ways.is_empty()).then_some(Self { ways, is_all })
    }

    /// The first call of those that were answered in the same way most often.
    pub fn first(&self) -> &Exchange {
        &self.ways[0].exchange
    }

    pub fn count(&self) -> u64 {
        let ways = self.ways.iter();
        ways.map(|alike| alike.requests.len() as u64).sum()
    }
}

impl Alike {
    /// The answer without the words that its status and its code say already.
    pub fn said(&self) -> Option<&str> {
        let said = without_status(self.answer.as_deref()?, self.exchange.code.as_deref());
        Some(said).filter(|said| !said.is_empty())
    }
}

fn without_status<'a>(answer: &'a str, code: Option<&str>) -> &'a str {
    let said = answer
        .strip_prefix("tool error")
        .or_else(|| answer.strip_prefix("error"))
        .unwrap_or(answer)
        .trim();
    let said = code
        .and_then(|code| said.strip_prefix(code))
        .unwrap_or(said);
    said.trim_start_matches(':').trim()
}

/// Characters of two answers that are compared: summaries are cut at different lengths.
const COMPARED: usize = 40;

fn is_alike(one: &Exchange, other: &Exchange) -> bool {
    let said = |exchange: &Exchange| {
        let answer = exchange.answered().unwrap_or_default();
        let said = without_ids(without_status(answer, exchange.code.as_deref()));
        said.chars().take(COMPARED).collect::<String>()
    };
    one.status == other.status && one.code == other.code && said(one) == said(other)
}

/// A text with `0` in place of every word that has a digit in it: counts, times, ids. Behind a word
/// like `status` a number says what happened, not to whom, and is kept.
fn without_ids(text: &str) -> String {
    static WORD: LazyLock<Regex> = LazyLock::new(|| {
        let codes = r"(?:http(?:/[\d.]+)?|status|code|error|errno|exit|signal)";
        let pattern = format!(r"(?i)(\b{codes}\W+)?\b[\w-]*\d(?:[\w-]|\.\d)*");
        expression(&pattern)
    });
    let replaced = WORD.replace_all(text, |found: &regex::Captures<'_>| {
        let is_code = found.get(1).is_some();
        let word = if is_code { &found[0] } else { "0" };
        word.to_owned()
    });
    replaced.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ids_make_no_difference_and_codes_do() {
        let same = |one: &str, other: &str| without_ids(one) == without_ids(other);
        assert!(same(
            "request 7f3a timed out after 1.5 s",
            "request 9b timed out after 30 s"
        ));
        assert!(same(
            "no job 0b1c9f2e-7c1d-4f6e-9a53-5d2f7c1b0aff",
            "no job feedbeef-dead-4bee-8bad-c0ffee00c0de"
        ));
        assert!(!same("HTTP/1.1 404 of /a", "HTTP/1.1 503 of /a"));
        assert!(!same("status code 404", "status code 503"));
        assert!(same(
            "Error: request 7f3a failed",
            "Error: request 9b failed"
        ));
        assert!(!same(
            "No station called Atlantis",
            "Quota exceeded: 100 of 100 calls"
        ));
        assert_eq!(without_ids("é 3é_x: 12."), "é 0: 0.");
    }
}
