//! What spans and the values of their attributes are called.

use mcpreel_trace::exchange::Exchange;

/// `tools/call search_docs`: of tools and prompts the name stands in the name of the span.
pub(super) fn name_of(method: &str, name: Option<&str>) -> String {
    match (method, name) {
        ("tools/call" | "prompts/get", Some(name)) => format!("{method} {name}"),
        _ => method.to_owned(),
    }
}

pub(super) fn has_uri(method: &str) -> bool {
    matches!(
        method,
        "resources/read"
            | "resources/subscribe"
            | "resources/unsubscribe"
            | "notifications/resources/updated"
    )
}

pub(super) fn id(exchange: &Exchange) -> String {
    plain(exchange.rpc_id.json())
}

/// The text of a JSON string, or of whatever else it is.
pub(super) fn plain(json: &str) -> String {
    serde_json::from_str(json).unwrap_or_else(|_| json.to_owned())
}
