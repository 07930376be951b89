//! Calls that failed, by what was said of them.

use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::frame::Seq;

/// Calls of one method and name that failed, [`Self::COUNTED`] at most.
#[derive(Clone, Debug)]
pub struct Failed {
    /// The calls that are told first: those that were answered in the same way most often.
    pub first: Alike,
    /// The others, the most frequent answers first; what was never answered comes last.
    pub others: Vec<Alike>,
    pub is_all: bool,
}

#[derive(Clone, Debug)]
pub struct Alike {
    pub exchange: Exchange,
    /// What it was answered, in a line of its own: that of an exchange has room for less.
    pub answer: Option<Box<str>>,
    /// The requests of all of them, in order.
    pub requests: Vec<Seq>,
}

impl Failed {
    /// Calls that are looked at; a tool may fail a million times.
    pub const COUNTED: u64 = 100;

    /// Calls in their order, told apart by what was answered. `None` if there are none.
    pub fn new(exchanges: Vec<Exchange>, is_all: bool) -> Option<Self> {
        let mut alike: Vec<(Way, Alike)> = Vec::new();
        for exchange in exchanges {
            let (way, request) = (Way::of(&exchange), exchange.request.0);
            if let Some((_, same)) = alike.iter_mut().find(|(other, _)| other.is_same(&way)) {
                same.requests.push(request);
                continue;
            }
            let one = Alike {
                answer: exchange.answered().map(Into::into),
                exchange,
                requests: vec![request],
            };
            alike.push((way, one));
        }
        let mut alike: Vec<_> = alike.into_iter().map(|(_, alike)| alike).collect();
        alike.sort_by_key(|one| {
            let is_silent = one.exchange.response.is_none();
            (is_silent, usize::MAX - one.requests.len())
        });
        let mut alike = alike.into_iter();
        Some(Self {
            first: alike.next()?,
            others: alike.collect(),
            is_all,
        })
    }

    /// All of them, in the order in which they are told.
    pub fn ways(&self) -> impl Iterator<Item = &Alike> {
        std::iter::once(&self.first).chain(&self.others)
    }

    pub fn count(&self) -> u64 {
        self.ways().map(|alike| alike.requests.len() as u64).sum()
    }
}

impl Alike {
    /// What the answer says, without the words that its status and its code say already.
    pub fn said(&self) -> Option<&str> {
        said(self.answer.as_deref()?, self.exchange.code.as_deref())
    }
}

fn said<'a>(answer: &'a str, code: Option<&str>) -> Option<&'a str> {
    let said = if let Some(rest) = answer.strip_prefix("tool error") {
        rest.strip_prefix(':').unwrap_or(rest)
    } else if let Some(rest) = answer.strip_prefix("error") {
        let rest = rest.trim_start();
        code.and_then(|code| rest.strip_prefix(code))
            .unwrap_or(rest)
    } else {
        answer
    };
    Some(said.trim()).filter(|said| !said.is_empty())
}

struct Way {
    status: Status,
    code: Option<Box<str>>,
    said: String,
}

impl Way {
    fn of(exchange: &Exchange) -> Self {
        let answer = exchange.answered().unwrap_or_default();
        let said = said(answer, exchange.code.as_deref()).unwrap_or_default();
        Self {
            status: exchange.status,
            code: exchange.code.clone(),
            said: without_ids(said),
        }
    }

    /// Of an answer that was cut where there was no more room for it, the beginning has to do.
    fn is_same(&self, other: &Self) -> bool {
        let (one, two) = (self.said.as_str(), other.said.as_str());
        let is_beginning = |part: &str, of: &str| {
            let part = part.strip_suffix('…');
            part.is_some_and(|part| of.trim_end_matches('…').starts_with(part))
        };
        let is_same = one == two || is_beginning(one, two) || is_beginning(two, one);
        is_same && self.status == other.status && self.code == other.code
    }
}

/// Words behind which a number says what happened, not to whom.
const BEFORE_CODES: [&str; 7] = ["http", "status", "code", "error", "errno", "exit", "signal"];

/// Letters of a word that may be a number or an id.
fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-')
}

/// A text with `0` in place of every word that has a digit in it: counts, times, ids. What stands
/// behind a word like `status` is kept.
fn without_ids(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    // The two words before, of which the second is the version in `HTTP/1.1 404`.
    let mut before = [String::new(), String::new()];
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if !is_of_word(first) {
            normal.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (word, after) = rest.split_at(word_length(rest));
        let [second, first] = &before;
        let is_code = BEFORE_CODES.contains(&first.as_str()) || second == "http";
        if word.contains(|letter: char| letter.is_ascii_digit()) && !is_code {
            normal.push('0');
        } else {
            normal.push_str(word);
        }
        let [_, last] = before;
        before = [last, word.to_lowercase()];
        rest = after;
    }
    normal
}

/// Bytes of the word at the beginning of `text`; a point between digits belongs to a number.
fn word_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_point = |at: usize| bytes[at] == b'.' && at > 0 && is_digit(at - 1) && is_digit(at + 1);
    let end = text
        .char_indices()
        .find(|(at, letter)| !is_of_word(*letter) && !is_point(*at));
    end.map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(seq: u64, status: Status, answer: &str) -> Exchange {
        Exchange {
            request: (Seq(seq), 0),
            response: (!answer.is_empty()).then_some((Seq(seq + 1), 0)),
            status,
            summary: format!("tools/call t → {answer}").into(),
            ..Exchange::begun(
                mcpreel_wire::message::Direction::ClientToServer,
                mcpreel_wire::id::RequestId::from_json("1").expect("it is JSON"),
                "tools/call",
            )
        }
    }

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

    #[test]
    fn calls_are_told_apart_by_their_answers_the_most_frequent_first() {
        let calls = vec![
            call(1, Status::Lost, ""),
            call(3, Status::ToolError, "tool error: no station"),
            call(5, Status::ToolError, "tool error: quota of 100 is used up"),
            call(7, Status::ToolError, "tool error: quota of 7 is used up"),
        ];
        let failed = Failed::new(calls, true).unwrap();
        assert_eq!(failed.count(), 4);
        assert_eq!(failed.first.requests, [Seq(5), Seq(7)]);
        let others: Vec<_> = failed.others.iter().map(|one| one.requests[0]).collect();
        assert_eq!(others, [Seq(3), Seq(1)]);
        assert!(Failed::new(Vec::new(), true).is_none());
    }

    #[test]
    fn an_answer_that_was_cut_is_the_same_as_the_whole_one() {
        let failed = |answers: [&str; 2]| {
            let call = |(at, answer): (usize, &str)| {
                call(
                    at as u64,
                    Status::ToolError,
                    &format!("tool error: {answer}"),
                )
            };
            let calls = answers.into_iter().enumerate().map(call).collect();
            Failed::new(calls, true).unwrap().others.len()
        };
        assert_eq!(
            failed(["no station in…", "no station in Atlantis, not at 12 o'cl…"]),
            0
        );
        assert_eq!(failed(["no station in Atlantis", "no station…"]), 0);
        assert_eq!(failed(["no station…", "no quota…"]), 1);
    }

    #[test]
    fn what_the_status_says_is_not_said_again() {
        let said = |status, code: Option<&str>, answer: &str| {
            let mut one = call(1, status, answer);
            one.code = code.map(Into::into);
            let failed = Failed::new(vec![one], true).unwrap();
            failed.first.said().unwrap_or_default().to_owned()
        };
        assert_eq!(said(Status::ToolError, None, "tool error: quota"), "quota");
        assert_eq!(said(Status::ToolError, None, "tool error"), "");
        assert_eq!(
            said(Status::Error, Some("-32602"), "error -32602 Unknown tool"),
            "Unknown tool"
        );
        assert_eq!(said(Status::Error, Some("-32603"), "error -32603"), "");
    }
}
