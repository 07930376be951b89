//! The progress notifications of an exchange: their token, whether they rise, where they end. How
//! many came, and with which values, is nobody's promise.

use crate::compare::Class;
use mcpreel_wire::json::{Document, Number, Value, canonical};
use mcpreel_wire::mcp::keys;

/// Bytes of a token that are looked at: longer ones are compared by their beginning.
const MAX_TOKEN: usize = 256;

/// The progress notifications of an exchange, as far as they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    count: u64,
    /// The token of the first one, canonical.
    token: Option<String>,
    /// Whether one had another token than the first.
    mixed: bool,
    /// Whether one was no higher than the one before.
    fell: bool,
    last: Option<Number>,
    /// Whether the last one had a total, and reached it.
    end: Option<bool>,
}

impl Progress {
    /// One more `notifications/progress`; bytes that are none are passed over.
    pub fn add(&mut self, message: &[u8]) {
        if let Ok(document) = Document::parse(message)
            && let Some(params) = document.root().get("params")
        {
            self.params(params);
        }
    }

    fn params(&mut self, params: Value<'_>) {
        let token = params.get("progressToken").map(token);
        if self.count == 0 {
            self.token = token;
        } else {
            self.mixed |= token != self.token;
        }
        self.count += 1;
        let number = |member| params.get(member).and_then(|value| value.number());
        let (now, total) = (number("progress"), number("total"));
        if let (Some(last), Some(now)) = (&self.last, &now) {
            self.fell |= now <= last;
        }
        self.end = total.zip(now.clone()).map(|(total, now)| now >= total);
        self.last = now;
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// What the progress `right` has that this one has not, `asked` being the two requests.
    pub(super) fn beside(
        &self,
        right: &Self,
        asked: [Option<&[u8]>; 2],
    ) -> Vec<(Class, &'static str)> {
        let mut found = Vec::new();
        if self.count == 0 || right.count == 0 {
            return found;
        }
        let [was, is] = [self, right];
        if was.is_for(asked[0]) && !is.is_for(asked[1]) {
            found.push((
                Class::Breaking,
                "progress for another token than was asked for",
            ));
        }
        if !was.fell && is.fell {
            found.push((Class::Changed, "progress does not always rise any more"));
        }
        match (was.end, is.end) {
            (Some(true), Some(false)) => {
                found.push((Class::Changed, "progress ends before its total"));
            }
            (Some(true), None) => found.push((Class::Changed, "progress has no total any more")),
            _ => {}
        }
        found
    }

    /// Whether all of it is for the token of the request; where that is not known, for one token.
    fn is_for(&self, request: Option<&[u8]>) -> bool {
        let asked = request.and_then(asked);
        !self.mixed && (asked.is_none() || asked == self.token)
    }
}

/// The token that a request asks for progress with.
fn asked(request: &[u8]) -> Option<String> {
    let document = Document::parse(request).ok()?;
    let meta = document.root().get("params")?.get("_meta")?;
    meta.get(keys::PROGRESS_TOKEN).map(token)
}

fn token(value: Value<'_>) -> String {
    if value.raw().len() > MAX_TOKEN {
        return value.raw_text().chars().take(MAX_TOKEN).collect();
    }
    canonical(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(told: &[(&str, &str)]) -> Progress {
        let mut progress = Progress::default();
        for (token, rest) in told {
            let params = format!(r#"{{"progressToken":{token},{rest}}}"#);
            let message = format!(r#"{{"method":"notifications/progress","params":{params}}}"#);
            progress.add(message.as_bytes());
        }
        progress
    }

    fn request(token: &str) -> Vec<u8> {
        format!(r#"{{"params":{{"_meta":{{"progressToken":{token}}}}}}}"#).into_bytes()
    }

    fn found(left: &[(&str, &str)], right: &[(&str, &str)]) -> Vec<(Class, &'static str)> {
        let [a, b] = [request("1"), request("\"x\"")];
        progress(left).beside(&progress(right), [Some(&a), Some(&b)])
    }

    #[test]
    fn how_many_came_with_which_values_is_no_difference() {
        let left = [
            ("1", r#""progress":1,"total":4"#),
            ("1", r#""progress":4,"total":4"#),
        ];
        let right = [
            ("\"x\"", r#""progress":0.5,"total":10"#),
            ("\"x\"", r#""progress":3,"total":10"#),
            ("\"x\"", r#""progress":10,"total":10"#),
        ];
        assert_eq!(found(&left, &right), []);
        assert_eq!(found(&left, &[]), []);
        assert_eq!(found(&[], &right), []);
        let without = [("1", r#""progress":1"#), ("1", r#""progress":7"#)];
        assert_eq!(found(&without, &right), []);
    }

    #[test]
    fn token_rise_and_end_are_compared() {
        let left = [
            ("1", r#""progress":1,"total":4"#),
            ("1", r#""progress":4,"total":4"#),
        ];
        let says = |right: &[(&str, &str)]| {
            let found = found(&left, right);
            found
                .into_iter()
                .map(|(class, _)| class)
                .collect::<Vec<_>>()
        };
        let whole = r#""progress":4,"total":4"#;
        assert_eq!(says(&[("\"x\"", whole)]), []);
        assert_eq!(says(&[("\"y\"", whole)]), [Class::Breaking]);
        assert_eq!(
            says(&[("\"x\"", whole), ("1", whole)]),
            [Class::Breaking, Class::Changed]
        );
        let falls = [("\"x\"", r#""progress":5,"total":4"#), ("\"x\"", whole)];
        assert_eq!(says(&falls), [Class::Changed]);
        assert_eq!(
            says(&[("\"x\"", r#""progress":3,"total":4"#)]),
            [Class::Changed]
        );
        assert_eq!(says(&[("\"x\"", r#""progress":4"#)]), [Class::Changed]);
    }
}
