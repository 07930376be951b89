//! Names of methods that peers use in place of the protocol's.

use super::rules::DIALECT_METHOD;
use crate::finding::Finding;
use crate::quote;
use crate::seen::Part;
use mcpreel_wire::mcp::methods;
use mcpreel_wire::message::Body;

/// Names from other protocols and from memory, and what was probably meant. Unlike those of
/// [`methods::DIALECT`] they are not taken for it.
const MEANT: &[(&str, &str)] = &[
    ("$/cancelRequest", "notifications/cancelled"),
    ("$/progress", "notifications/progress"),
    ("call_tool", "tools/call"),
    ("cancelled", "notifications/cancelled"),
    ("get_prompt", "prompts/get"),
    ("list_prompts", "prompts/list"),
    ("list_resources", "resources/list"),
    ("list_tools", "tools/list"),
    ("mcp/initialize", "initialize"),
    ("notifications/canceled", "notifications/cancelled"),
    ("notifications/log", "notifications/message"),
    ("notifications/logging", "notifications/message"),
    ("progress", "notifications/progress"),
    ("prompt/get", "prompts/get"),
    ("prompt/list", "prompts/list"),
    ("read_resource", "resources/read"),
    ("resource/list", "resources/list"),
    ("resource/read", "resources/read"),
    ("tool/call", "tools/call"),
    ("tool/list", "tools/list"),
    ("tools.call", "tools/call"),
    ("tools.list", "tools/list"),
    ("tools/execute", "tools/call"),
    ("tools/invoke", "tools/call"),
    ("tools/run", "tools/call"),
];

/// The finding of a name that is not the protocol's.
pub(super) fn look(part: &Part<'_>) -> Option<Finding> {
    let method = match &part.message.body {
        Body::Request(request) => &*request.method,
        Body::Notification(notification) => &*notification.method,
        Body::Response(_) | Body::Invalid => return None,
    };
    let ours = meant(method)?;
    let detail = format!("{} is {ours} here", quote::text(method));
    Some(part.at(&DIALECT_METHOD, detail).path("method"))
}

fn meant(method: &str) -> Option<&'static str> {
    let all = methods::DIALECT.iter().chain(MEANT);
    let mut named = all.filter(|(theirs, _)| *theirs == method);
    named.next().map(|(_, ours)| *ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_stands_for_a_method_and_is_none_itself() {
        for (theirs, ours) in MEANT {
            assert!(
                methods::METHODS.iter().all(|known| known.name != *theirs),
                "{theirs}"
            );
            assert!(
                methods::METHODS.iter().any(|known| known.name == *ours),
                "{ours}"
            );
        }
        assert_eq!(meant("initialized"), Some("notifications/initialized"));
        assert_eq!(meant("initialize"), None);
    }
}
