//! A round of input: what the server asked for then, and what it asks for now.

use super::Edits;
use crate::protocol::json::{Value, quoted};
use crate::replay::key::Digest;

/// How the retry of an input round has to be changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// The state that has to go back, `None`: none.
    pub(super) state: Option<Box<str>>,
    /// Keys of the recorded answers, and those that they have now; `None`: nobody asks for it.
    pub(super) keys: Vec<(Box<str>, Option<Box<str>>)>,
    /// What is asked now and was not then.
    pub unexpected: Vec<Unexpected>,
    /// Answers to those by their keys, JSON texts.
    pub(super) given: Vec<(Box<str>, Box<str>)>,
}

/// A question that the recording has no answer to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unexpected {
    /// Its key.
    pub key: Box<str>,
    /// What is asked for.
    pub method: Box<str>,
}

struct Request {
    key: Box<str>,
    method: Box<str>,
    words: Digest,
}

impl Round {
    /// From the recorded and the live result, both of which ask for input. `words` says by which
    /// words a recorded and a live question are known.
    #[must_use]
    pub fn new(then: Value<'_>, now: Value<'_>, words: [&dyn Fn(Value<'_>) -> Digest; 2]) -> Self {
        let (then, mut now_asked) = (requests(then, words[0]), requests(now, words[1]));
        let mut keys = Vec::new();
        let mut rest = Vec::new();
        for asked in then {
            let same = |other: &Request| other.words == asked.words;
            let named = now_asked
                .iter()
                .position(|other| same(other) && other.key == asked.key);
            match named.or_else(|| now_asked.iter().position(same)) {
                Some(at) => keys.push((asked.key, Some(now_asked.remove(at).key))),
                None => rest.push(asked),
            }
        }
        for asked in rest {
            let same = |other: &Request| other.key == asked.key && other.method == asked.method;
            let at = now_asked.iter().position(same);
            keys.push((asked.key, at.map(|at| now_asked.remove(at).key)));
        }
        let unexpected = now_asked.into_iter().map(|request| Unexpected {
            key: request.key,
            method: request.method,
        });
        Self {
            state: now
                .get("requestState")
                .and_then(|state| Some(state.as_str()?.into())),
            keys,
            unexpected: unexpected.collect(),
            given: Vec::new(),
        }
    }

    /// Puts the state and the keys that the server wants back into the recorded retry.
    pub(super) fn answer(&self, message: Value<'_>, edits: &mut Edits) {
        let Some(params) = message.get("params") else {
            return;
        };
        match (params.get("requestState"), &self.state) {
            (Some(recorded), Some(live)) if recorded.is_str(live) => {}
            (Some(recorded), Some(live)) => edits.replace_string(recorded, live),
            (Some(_), None) => edits.remove(params, |name| name.is_str("requestState")),
            (None, Some(live)) => edits.insert(params, "requestState", &quoted(live)),
            (None, None) => {}
        }
        let given = self
            .given
            .iter()
            .map(|(key, json)| format!("{}:{json}", quoted(key)));
        let given = given.collect::<Vec<_>>().join(",");
        match params.get("inputResponses") {
            None if given.is_empty() => {}
            None => edits.insert(params, "inputResponses", &format!("{{{given}}}")),
            Some(responses) => rename(responses, self, &given, edits),
        }
    }

    /// Answers an unexpected question with a JSON text.
    pub fn give(&mut self, key: &str, json: &str) {
        self.given.push((key.into(), json.into()));
    }
}

/// What a result asks for.
fn requests(result: Value<'_>, words: &dyn Fn(Value<'_>) -> Digest) -> Vec<Request> {
    let asked = result.get("inputRequests");
    let members = asked.into_iter().flat_map(|asked| asked.members());
    members
        .map(|(key, request)| {
            let method = request.get("method").and_then(|method| method.as_str());
            Request {
                key: key.as_str().unwrap_or_default().into(),
                method: method.unwrap_or_default().into(),
                words: words(request),
            }
        })
        .collect()
}

/// Gives the answers of a round the keys that they have now.
fn rename(responses: Value<'_>, round: &Round, given: &str, edits: &mut Edits) {
    let live = |key: Value<'_>| {
        let found = round.keys.iter().find(|(recorded, _)| key.is_str(recorded));
        found.map(|(_, live)| live.as_deref())
    };
    if responses.members().all(|(key, _)| live(key) == Some(None)) {
        edits.replace(responses, &format!("{{{given}}}"));
        return;
    }
    for (key, _) in responses.members() {
        if let Some(Some(live)) = live(key)
            && !key.is_str(live)
        {
            edits.replace_string(key, live);
        }
    }
    edits.remove(responses, |key| live(key) == Some(None));
    if !given.is_empty() {
        edits.insert_members(responses, given);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::json::Document;
    use crate::replay::key::{Terms, key};
    use crate::replay::rewrite::Rewrites;
    use crate::replay::rules::{Scope, Side};

    fn round(then: &str, now: &str) -> Round {
        let (then, now) = (
            Document::parse(then.as_bytes()).unwrap(),
            Document::parse(now.as_bytes()).unwrap(),
        );
        let (scope, rewrites) = (Scope::default(), Rewrites::default());
        let words = |side| {
            let terms = Terms {
                scope: &scope,
                side,
                rewrites: &rewrites,
                wall_ns: None,
            };
            move |request: Value<'_>| key(request, terms).normalised
        };
        let (left, right) = (words(Side::Left), words(Side::Right));
        Round::new(then.root(), now.root(), [&left, &right])
    }

    fn asks(key: &str, method: &str, message: &str) -> String {
        format!(r#""{key}":{{"method":"{method}","params":{{"message":"{message}"}}}}"#)
    }

    fn result(requests: &[String], state: &str) -> String {
        format!(r#"{{"inputRequests":{{{}}}{state}}}"#, requests.join(","))
    }

    #[test]
    fn questions_are_known_by_what_they_ask() {
        let then = result(
            &[
                asks("a", "elicitation/create", "name?"),
                asks("b", "elicitation/create", "age?"),
            ],
            r#","requestState":"s1""#,
        );
        let now = result(
            &[
                asks("k2", "elicitation/create", "age?"),
                asks("k1", "elicitation/create", "name?"),
            ],
            r#","requestState":"s2""#,
        );
        let round = round(&then, &now);
        assert_eq!(
            round.keys,
            [
                ("a".into(), Some("k1".into())),
                ("b".into(), Some("k2".into()))
            ]
        );
        assert_eq!(round.state.as_deref(), Some("s2"));
        assert!(round.unexpected.is_empty());
    }

    #[test]
    fn what_is_asked_in_other_words_keeps_its_key() {
        let then = result(&[asks("a", "elicitation/create", "name?")], "");
        let now = result(
            &[
                asks("a", "elicitation/create", "your name?"),
                asks("r", "roots/list", ""),
            ],
            "",
        );
        let round = round(&then, &now);
        assert_eq!(round.keys, [("a".into(), Some("a".into()))]);
        assert_eq!(round.unexpected.len(), 1);
        assert_eq!(&*round.unexpected[0].method, "roots/list");
        assert_eq!(round.state, None);
    }

    #[test]
    fn what_nobody_asks_for_any_more_is_not_given() {
        let then = result(&[asks("a", "elicitation/create", "name?")], "");
        let round = round(&then, r#"{"requestState":"s"}"#);
        assert_eq!(round.keys, [("a".into(), None)]);
    }
}
