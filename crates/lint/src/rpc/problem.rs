//! What was seen when a message was read, as findings.

use super::describe;
use super::rules::{
    ERROR_CODE, ERROR_SHAPE, ID_NULL, ID_TYPE, METHOD_AND_RESULT, METHOD_NOT_STRING,
    NOTIFICATION_WITH_ID, PARAMS_NOT_OBJECT, REQUEST_WITHOUT_ID, RESPONSE_MISSING_ID,
    RESULT_AND_ERROR, RESULT_NOT_OBJECT, UNCLASSIFIABLE, VERSION,
};
use crate::finding::Finding;
use crate::quote;
use crate::seen::Part;
use mcpreel_wire::mcp::errors;
use mcpreel_wire::message::Problem;

/// The finding of a problem, if it is one of this family.
pub(super) fn finding(problem: &Problem, part: &Part<'_>) -> Option<Finding> {
    let (rule, path) = match problem {
        Problem::Version => (&VERSION, Some("jsonrpc")),
        Problem::Unclassifiable => (&UNCLASSIFIABLE, None),
        Problem::MethodNotString => (&METHOD_NOT_STRING, Some("method")),
        Problem::MethodAndResult => (&METHOD_AND_RESULT, Some("method")),
        Problem::ResultAndError => (&RESULT_AND_ERROR, None),
        Problem::ParamsNotObject => (&PARAMS_NOT_OBJECT, Some("params")),
        Problem::ResultNotObject => (&RESULT_NOT_OBJECT, Some("result")),
        Problem::ErrorShape => (&ERROR_SHAPE, Some("error")),
        Problem::ErrorCode => (&ERROR_CODE, Some("error.code")),
        Problem::IdNull => (&ID_NULL, Some("id")),
        Problem::IdType => (&ID_TYPE, Some("id")),
        Problem::NotificationWithId => (&NOTIFICATION_WITH_ID, Some("id")),
        Problem::RequestWithoutId => (&REQUEST_WITHOUT_ID, None),
        Problem::ResponseWithoutId => (&RESPONSE_MISSING_ID, None),
        _ => return None,
    };
    let mut detail = describe(part.message, part.seen.content.batch);
    if let Some(more) = more(problem, part) {
        detail = format!("{detail}: {more}");
    }
    let finding = part.at(rule, detail);
    Some(match path.filter(|path| stands(part, path)) {
        Some(path) => finding.path(path),
        None => finding,
    })
}

/// Whether the message has the member that a path begins with.
fn stands(part: &Part<'_>, path: &str) -> bool {
    let top = path.split('.').next().unwrap_or_default();
    part.get(top).is_some()
}

/// What stands there instead of what should.
fn more(problem: &Problem, part: &Part<'_>) -> Option<String> {
    let shown = |member: &str| {
        let value = part.get(member)?;
        Some(format!(
            "{}, {}",
            value.kind().as_str(),
            quote::bytes(value.raw())
        ))
    };
    match problem {
        Problem::Version => match part.get("jsonrpc") {
            Some(version) => Some(format!("it says {}", quote::bytes(version.raw()))),
            None => part.value.map(|_| "there is none".to_owned()),
        },
        Problem::MethodNotString => shown("method"),
        Problem::ParamsNotObject => shown("params"),
        Problem::ResultNotObject => shown("result"),
        Problem::ErrorShape => error_shape(part),
        Problem::ErrorCode => error_code(part),
        _ => None,
    }
}

fn error_shape(part: &Part<'_>) -> Option<String> {
    let error = part.get("error")?;
    if !error.is_object() {
        let shown = quote::bytes(error.raw());
        return Some(format!("{}, {shown}", error.kind().as_str()));
    }
    let code = error.get("code").is_none().then_some("no code");
    let message = match error.get("message") {
        None => Some("no message"),
        Some(message) if message.as_str().is_none() => Some("its message is no string"),
        Some(_) => None,
    };
    let wrong: Vec<_> = code.into_iter().chain(message).collect();
    Some(wrong.join(", "))
}

/// The code as it stands and, where it is a name or a number in quotes, the number it stands for.
fn error_code(part: &Part<'_>) -> Option<String> {
    let code = part.error()?.get("code")?;
    let shown = quote::bytes(code.raw());
    let meant = code
        .as_str()
        .and_then(|name| errors::named(&name, part.era()));
    Some(match meant {
        Some(number) => match errors::meaning(number, part.era()) {
            Some(meaning) => format!("{shown}, probably {number} ({meaning})"),
            None => format!("{shown}, probably {number}"),
        },
        None => shown,
    })
}
