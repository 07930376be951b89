//! JSON-RPC: the shape of messages and their ids.

use super::family::Family;
use super::finding::Findings;
use super::rule::Rule;
use super::seen::Seen;
use crate::protocol::message::{Body, Direction, Message, Problem};

static VERSION: Rule = Rule::error("rpc-version", "`jsonrpc` is missing or not \"2.0\"");
static UNCLASSIFIABLE: Rule = Rule::error(
    "rpc-unclassifiable",
    "an object without `method`, `result` and `error`",
);
static METHOD_NOT_STRING: Rule = Rule::error("rpc-method-not-string", "`method` is no string");
static METHOD_AND_RESULT: Rule = Rule::error(
    "rpc-method-and-result",
    "`method` together with `result` or `error`",
);
static PARAMS_NOT_OBJECT: Rule = Rule::error("rpc-params-not-object", "`params` is no object");
static RESULT_AND_ERROR: Rule = Rule::error("rpc-result-and-error", "both `result` and `error`");
static RESULT_NOT_OBJECT: Rule = Rule::error("rpc-result-not-object", "`result` is no object");
static ERROR_SHAPE: Rule = Rule::error(
    "rpc-error-shape",
    "`error` lacks `code` or `message`, or is no object",
);
static ERROR_CODE: Rule = Rule::error("rpc-error-code", "`error.code` is no integer");
static ID_NULL: Rule = Rule::error("id-null", "a request with the id `null`");
static ID_TYPE: Rule = Rule::error("id-type", "an id that is neither string nor integer");
static REQUEST_WITHOUT_ID: Rule = Rule::error(
    "request-without-id",
    "a method that is a request, sent without an id",
);
static NOTIFICATION_WITH_ID: Rule = Rule::error(
    "notification-with-id",
    "a notification that is sent with an id",
);
static RESPONSE_MISSING_ID: Rule = Rule::warning(
    "response-missing-id",
    "a response without an id, though nothing unreadable was sent",
);

/// The family of JSON-RPC rules. It remembers how many messages of each side could not be read
/// by the other: each of them excuses one response without an id.
#[derive(Debug, Default)]
pub struct Rpc {
    unreadable_c2s: u64,
    unreadable_s2c: u64,
}

impl Family for Rpc {
    fn name(&self) -> &'static str {
        "JSON-RPC"
    }

    fn rules(&self) -> &'static [&'static Rule] {
        static RULES: &[&Rule] = &[
            &VERSION,
            &UNCLASSIFIABLE,
            &METHOD_NOT_STRING,
            &METHOD_AND_RESULT,
            &PARAMS_NOT_OBJECT,
            &RESULT_AND_ERROR,
            &RESULT_NOT_OBJECT,
            &ERROR_SHAPE,
            &ERROR_CODE,
            &ID_NULL,
            &ID_TYPE,
            &REQUEST_WITHOUT_ID,
            &NOTIFICATION_WITH_ID,
            &RESPONSE_MISSING_ID,
        ];
        RULES
    }

    fn frame(&mut self, seen: &Seen<'_>, findings: &mut Findings) {
        let Some(direction) = seen.head.stream.messages() else {
            return;
        };
        if !seen.content.problems.iter().all(is_readable) {
            *self.unreadable(direction) += 1;
        }
        for (at, message) in seen.content.messages.iter().enumerate() {
            let exchange = seen.messages.get(at).and_then(|record| record.exchange);
            for problem in &message.problems {
                if let Some(rule) = self.rule(direction, problem) {
                    let detail = detail(message, seen.content.batch);
                    findings.push(rule.at(seen.head.seq, detail).about(exchange));
                }
            }
            if !message.problems.iter().all(is_readable) {
                *self.unreadable(direction) += 1;
            }
        }
    }
}

impl Rpc {
    fn unreadable(&mut self, direction: Direction) -> &mut u64 {
        match direction {
            Direction::ClientToServer => &mut self.unreadable_c2s,
            Direction::ServerToClient => &mut self.unreadable_s2c,
        }
    }

    fn rule(&mut self, direction: Direction, problem: &Problem) -> Option<&'static Rule> {
        Some(match problem {
            Problem::Version => &VERSION,
            Problem::Unclassifiable => &UNCLASSIFIABLE,
            Problem::MethodNotString => &METHOD_NOT_STRING,
            Problem::MethodAndResult => &METHOD_AND_RESULT,
            Problem::ResultAndError => &RESULT_AND_ERROR,
            Problem::ParamsNotObject => &PARAMS_NOT_OBJECT,
            Problem::ResultNotObject => &RESULT_NOT_OBJECT,
            Problem::ErrorShape => &ERROR_SHAPE,
            Problem::ErrorCode => &ERROR_CODE,
            Problem::IdNull => &ID_NULL,
            Problem::IdType => &ID_TYPE,
            Problem::NotificationWithId => &NOTIFICATION_WITH_ID,
            Problem::RequestWithoutId => &REQUEST_WITHOUT_ID,
            Problem::ResponseWithoutId => {
                let excuses = self.unreadable(direction.reverse());
                if *excuses > 0 {
                    *excuses -= 1;
                    return None;
                }
                &RESPONSE_MISSING_ID
            }
            _ => return None,
        })
    }
}

/// Whether a peer that meets the problem can still tell the id of the message.
fn is_readable(problem: &Problem) -> bool {
    !matches!(
        problem,
        Problem::NotJson { .. }
            | Problem::TooDeep { .. }
            | Problem::Truncated
            | Problem::InvalidUtf8 { .. }
            | Problem::NotObject { .. }
            | Problem::EmptyBatch
            | Problem::Unclassifiable
            | Problem::MethodNotString
            | Problem::IdNull
            | Problem::IdType
            | Problem::RequestWithoutId
    )
}

fn detail(message: &Message, batch: bool) -> String {
    use super::quote::text;
    let what = match &message.body {
        Body::Request(request) => {
            let (method, id) = (text(&request.method), text(request.id.json()));
            format!("request {method}, id {id}")
        }
        Body::Notification(notification) => {
            format!("notification {}", text(&notification.method))
        }
        Body::Response(response) => match &response.id {
            Some(id) => format!("response, id {}", text(id.json())),
            None => "response without id".to_owned(),
        },
        Body::Invalid => "no message".to_owned(),
    };
    if batch {
        format!("{what} (part {} of the batch)", message.part)
    } else {
        what
    }
}
