//! A round of input: what the server asked for then, and what it asks for now.

use super::Edits;
use crate::diff::align;
use crate::diff::key::Digest;
use mcpreel_wire::json::{Value, quoted};
use std::borrow::Cow;

/// The changes of the retry of an input round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// The state that has to go back, `None`: none.
    state: Option<Box<str>>,
    /// Keys of the recorded answers, and those that they have now; `None`: nobody asks for it.
    keys: Vec<(Box<str>, Option<Box<str>>)>,
    /// Questions that are asked now and were not then.
    pub unexpected: Vec<Unexpected>,
}

/// A question that the recording has no answer to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unexpected {
    pub key: Box<str>,
    pub method: Box<str>,
}

impl Round {
    /// From the recorded and the live result, both of which ask for input. `words` says by which
    /// words a recorded and a live question are known.
    pub fn new(then: Value<'_>, now: Value<'_>, words: [&dyn Fn(Value<'_>) -> Digest; 2]) -> Self {
        let [then_asked, now_asked] = [(then, words[0]), (now, words[1])].map(|(result, words)| {
            let asked = result.get("inputRequests").into_iter();
            let asked = asked
                .flat_map(|asked| asked.members())
                .map(|(key, request)| {
                    let method = request.get("method").and_then(|method| method.as_str());
                    let key: Box<str> = key.as_str().unwrap_or_default().into();
                    let method: Box<str> = method.unwrap_or_default().into();
                    (words(request), key, method)
                });
            asked.collect::<Vec<_>>()
        });
        let pairs = align::by_key(
            [&then_asked, &now_asked],
            &[
                &|(words, key, _)| (Some(*words), Some(key.clone()), None),
                &|(words, ..)| (Some(*words), None, None),
                &|(_, key, method)| (None, Some(key.clone()), Some(method.clone())),
            ],
        );
        let state = now.get("requestState").and_then(|state| state.as_str());
        let mut round = Self {
            state: state.map(Into::into),
            ..Self::default()
        };
        for [left, right] in pairs {
            let live = right.map(|at| now_asked[at].clone());
            match (left, live) {
                (Some(at), live) => {
                    let recorded = then_asked[at].1.clone();
                    round.keys.push((recorded, live.map(|(_, key, _)| key)));
                }
                (None, Some((_, key, method))) => round.unexpected.push(Unexpected { key, method }),
                (None, None) => {}
            }
        }
        round
    }

    /// A recorded answer or retry with the object `members`, its questions or answers, under the
    /// keys that they have now.
    pub fn as_now<'t>(&self, members: Option<Value<'_>>, message: &'t [u8]) -> Cow<'t, [u8]> {
        let mut edits = Edits::default();
        if let Some(members) = members {
            self.rename(members, &mut edits);
        }
        edits.apply(message)
    }

    /// The key that a recorded question has now.
    fn live(&self, key: Value<'_>) -> Option<&str> {
        let mut keys = self.keys.iter();
        keys.find(|(recorded, _)| key.is_str(recorded))?
            .1
            .as_deref()
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
        // Nobody asks such a recorded question any more.
        let is_over = |key: Value<'_>| {
            let mut keys = self.keys.iter();
            keys.any(|(recorded, live)| live.is_none() && key.is_str(recorded))
        };
        match params.get("inputResponses") {
            None => {}
            Some(responses) if responses.members().all(|(key, _)| is_over(key)) => {
                edits.replace(responses, "{}");
            }
            Some(responses) => {
                self.rename(responses, edits);
                edits.remove(responses, is_over);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::key;
    use crate::rewrite::Rewrites;
    use crate::rules::Side;
    use mcpreel_wire::json::Document;

    /// Questions as `KEY=MESSAGE`.
    fn round(then: &[&str], now: &[&str]) -> Round {
        let [then, now] = [then, now].map(|questions| {
            let asked = questions.iter().map(|question| {
                let (key, message) = question.split_once('=').unwrap();
                format!(r#""{key}":{{"method":"m","params":{{"message":"{message}"}}}}"#)
            });
            let asked = asked.collect::<Vec<_>>().join(",");
            format!(r#"{{"inputRequests":{{{asked}}},"requestState":"s"}}"#)
        });
        let [then, now] = [&then, &now].map(|text| Document::parse(text.as_bytes()).unwrap());
        let words = |side| move |asked: Value<'_>| key::words(asked, side, &Rewrites::NONE, None);
        let (left, right) = (words(Side::Left), words(Side::Right));
        Round::new(then.root(), now.root(), [&left, &right])
    }

    #[test]
    fn questions_are_known_by_what_they_ask_and_else_by_their_keys() {
        let both = |keys: [(&str, Option<&str>); 2]| {
            keys.map(|(then, now)| (Box::from(then), now.map(Box::from)))
        };
        let found = round(&["a=name?", "b=age?"], &["k2=age?", "k1=name?"]);
        assert_eq!(found.keys, both([("a", Some("k1")), ("b", Some("k2"))]));
        assert_eq!(found.state.as_deref(), Some("s"));
        assert!(found.unexpected.is_empty());
        let found = round(&["a=name?", "b=age?"], &["a=your name?", "r=town?"]);
        assert_eq!(found.keys, both([("a", Some("a")), ("b", None)]));
        assert_eq!(&*found.unexpected[0].key, "r");
    }
}
