//! Failures on purpose: `FILTER → delay 5s | error -32603 [message] | drop | crash`.

use compact_str::CompactString;
use mcpreel_store::select::LiveFilter;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::query::Query;
use mcpreel_wire::json::Number;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The failure of requests that fit a filter.
#[derive(Clone, Debug)]
pub struct Fault {
    filter: Arc<Mutex<LiveFilter>>,
    pub effect: Effect,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    Delay(Duration),
    Error {
        code: CompactString,
        message: CompactString,
    },
    Drop,
    Crash,
}

/// A text that is no fault, with the syntax of one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultError {
    #[error("write a filter, → (or ->), and what happens, for example 'tool:search → delay 5s'")]
    Arrow,
    #[error("in its filter, {0}")]
    Filter(CompactString),
    #[error("after the arrow comes one of: delay 5s, error -32603 [message], drop, crash")]
    Effect,
}

impl Fault {
    /// Reads a fault. `duration` reads `5s` and the like.
    pub fn parse(
        text: &str,
        duration: impl Fn(&str) -> Option<Duration>,
    ) -> Result<Self, FaultError> {
        let arrows = ["→", "->"].map(|arrow| text.split_once(arrow));
        let split = arrows.into_iter().flatten().min_by_key(|it| it.0.len());
        let (filter, effect) = split.ok_or(FaultError::Arrow)?;
        let effect = effect_of(effect.trim(), duration).ok_or(FaultError::Effect)?;
        let query = Query::parse(filter.trim());
        let query = query.map_err(|error| FaultError::Filter(error.to_string().into()))?;
        let filter = LiveFilter::new(&query);
        let filter = filter.map_err(|error| FaultError::Filter(error.to_string().into()))?;
        Ok(Self {
            filter: Arc::new(Mutex::new(filter)),
            effect,
        })
    }

    /// Whether the filter fits this request, which came at `now`.
    pub fn fits(&self, request: &[u8], now: Moment) -> bool {
        let filter = self.filter.lock().unwrap_or_else(PoisonError::into_inner);
        filter.fits(request, now).unwrap_or(false)
    }
}

fn effect_of(text: &str, duration: impl Fn(&str) -> Option<Duration>) -> Option<Effect> {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    match (word, rest) {
        ("drop", "") => Some(Effect::Drop),
        ("crash", "") => Some(Effect::Crash),
        ("delay", rest) => duration(rest).map(Effect::Delay),
        ("error", rest) => {
            let (code, message) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            let whole = Number::parse(code).is_some_and(|number| number.is_integer());
            let message = match message.trim() {
                "" => "an error by way of --fault",
                message => message,
            };
            whole.then(|| Effect::Error {
                code: code.into(),
                message: message.into(),
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn duration(text: &str) -> Option<Duration> {
        let ms = text.strip_suffix("ms")?;
        Some(Duration::from_millis(ms.parse().ok()?))
    }

    fn parse(text: &str) -> Result<Fault, FaultError> {
        Fault::parse(text, duration)
    }

    #[test]
    fn what_happens_stands_behind_an_arrow() {
        let error = |code: &str, message: &str| Effect::Error {
            code: code.into(),
            message: message.into(),
        };
        for (text, effect) in [
            ("tool:search → drop", Effect::Drop),
            ("tool:search->crash", Effect::Crash),
            ("a -> delay 50ms", Effect::Delay(Duration::from_millis(50))),
            (
                "tool:x → error -32603",
                error("-32603", "an error by way of --fault"),
            ),
            ("tool:x → error 7 it -> broke", error("7", "it -> broke")),
            ("tool:x -> error 7 it → broke", error("7", "it → broke")),
        ] {
            assert_eq!(parse(text).unwrap().effect, effect, "{text}");
        }
        assert_eq!(parse("tool:search drop").unwrap_err(), FaultError::Arrow);
        for text in [
            "a → explode",
            "a → delay 5",
            "a → error",
            "a → error 1.5",
            "a → drop it",
        ] {
            assert_eq!(parse(text).unwrap_err(), FaultError::Effect, "{text}");
        }
        let filter = parse("toool:x → drop").unwrap_err();
        assert!(matches!(&filter, FaultError::Filter(_)), "{filter}");
    }

    #[test]
    fn a_filter_sees_the_live_request() {
        let bytes = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"search","arguments":{"q":"rust"}}}"#;
        for (filter, fits) in [
            ("tool:search", true),
            ("tool:search params.arguments.q=go", false),
            ("params.arguments.q~^ru id:7", true),
            ("method:tools/call", true),
            ("is:open era:legacy", true),
            ("has:latency", false),
            ("rust", true),
        ] {
            let fault = parse(&format!("{filter} → drop")).unwrap();
            assert_eq!(fault.fits(bytes, Moment(0)), fits, "{filter}");
        }
    }
}
