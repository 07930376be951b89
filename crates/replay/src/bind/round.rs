//! A round of input: what the server asked for then, and what it asks for now.

use super::Edits;
use crate::diff::key::Digest;
use mcpreel_wire::json::{Value, quoted};
use std::borrow::Cow;

/// How the retry of an input round has to be changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// The id of a retry that the recording has not, a JSON text: what the recorded request says has
    /// been said before.
    id: Option<Box<str>>,
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
    pub key: Box<str>,
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
            keys,
            unexpected: unexpected.collect(),
            ..Self::of(now)
        }
    }

    /// From a live result that asks for input where the recording has no such round: the retry gets
    /// this id, a JSON text.
    pub fn more(now: Value<'_>, id: &str) -> Self {
        let unexpected = questions(now).map(|(key, method, _)| Unexpected { key, method });
        Self {
            id: Some(id.into()),
            unexpected: unexpected.collect(),
            ..Self::of(now)
        }
    }

    /// The same request again under this id, a JSON text.
    pub fn again(id: &str) -> Self {
        Self {
            id: Some(id.into()),
            ..Self::default()
        }
    }

    /// Nothing but the state that a live result wants back.
    fn of(now: Value<'_>) -> Self {
        let state = now.get("requestState").and_then(|state| state.as_str());
        Self {
            state: state.map(Into::into),
            ..Self::default()
        }
    }

    /// The recorded answer with the result `then`, its questions under the keys that they have now.
    pub fn as_now<'t>(&self, then: Value<'_>, answer: &'t [u8]) -> Cow<'t, [u8]> {
        self.renamed(then.get("inputRequests"), answer)
    }

    /// The recorded retry that is `then`, its answers under the keys that the questions have now.
    pub fn retry_as_now<'t>(&self, then: Value<'_>, retry: &'t [u8]) -> Cow<'t, [u8]> {
        let params = then.get("params");
        self.renamed(
            params.and_then(|params| params.get("inputResponses")),
            retry,
        )
    }

    fn renamed<'t>(&self, members: Option<Value<'_>>, message: &'t [u8]) -> Cow<'t, [u8]> {
        let mut edits = Edits::default();
        if let Some(members) = members {
            self.rename(members, &mut edits);
        }
        edits.apply(message)
    }

    /// The key that a recorded question has now, if it is asked.
    fn live(&self, key: Value<'_>) -> Option<&str> {
        let mut keys = self.keys.iter();
        let found = keys.find(|(recorded, _)| key.is_str(recorded));
        found.and_then(|(_, live)| live.as_deref())
    }

    /// Whether nobody asks a recorded question any more; what was never asked is not looked at.
    fn is_over(&self, key: Value<'_>) -> bool {
        let is_gone =
            |(recorded, live): &(Box<str>, Option<_>)| live.is_none() && key.is_str(recorded);
        self.id.is_some() || self.keys.iter().any(is_gone)
    }

    /// Gives the members of an object the keys that they have now.
    fn rename(&self, members: Value<'_>, edits: &mut Edits) {
        for (key, _) in members.members() {
            if let Some(live) = self.live(key).filter(|live| !key.is_str(live)) {
                edits.replace_string(key, live);
            }
        }
    }

    /// Puts the state and the keys that the server wants back into the recorded retry.
    pub(super) fn answer(&self, message: Value<'_>, edits: &mut Edits) {
        if let Some((id, recorded)) = self.id.as_ref().zip(message.get("id")) {
            edits.replace(recorded, id);
        }
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
            Some(responses) => self.respond(responses, &given, edits),
        }
    }

    /// Gives the recorded answers the keys that they have now, and those in `given` besides.
    fn respond(&self, responses: Value<'_>, given: &str, edits: &mut Edits) {
        if responses.members().all(|(key, _)| self.is_over(key)) {
            edits.replace(responses, &format!("{{{given}}}"));
            return;
        }
        self.rename(responses, edits);
        edits.remove(responses, |key| self.is_over(key));
        if !given.is_empty() {
            edits.insert_members(responses, given);
        }
    }

    /// Answers an unexpected question with a JSON text.
    pub fn give(&mut self, key: &str, json: &str) {
        self.given.push((key.into(), json.into()));
    }
}

/// What a result asks for: keys, methods, and all of it.
fn questions(result: Value<'_>) -> impl Iterator<Item = (Box<str>, Box<str>, Value<'_>)> {
    let asked = result.get("inputRequests");
    let members = asked.into_iter().flat_map(|asked| asked.members());
    members.map(|(key, request)| {
        let method = request.get("method").and_then(|method| method.as_str());
        let key = key.as_str().unwrap_or_default().into();
        (key, method.unwrap_or_default().into(), request)
    })
}

fn requests(result: Value<'_>, words: &dyn Fn(Value<'_>) -> Digest) -> Vec<Request> {
    let asked = questions(result).map(|(key, method, request)| Request {
        key,
        method,
        words: words(request),
    });
    asked.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::key;
    use crate::rewrite::Rewrites;
    use crate::rules::Side;
    use mcpreel_wire::json::Document;

    fn round(then: &str, now: &str) -> Round {
        let (then, now) = (
            Document::parse(then.as_bytes()).unwrap(),
            Document::parse(now.as_bytes()).unwrap(),
        );
        let words = |side| move |asked: Value<'_>| key::words(asked, side, &Rewrites::NONE, None);
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
