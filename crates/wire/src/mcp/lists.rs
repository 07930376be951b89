//! The lists of the protocol, which a peer asks for in pages.

/// A list that a peer may ask for.
#[derive(Debug)]
pub struct List {
    pub method: &'static str,
    /// The member of the result that is the list.
    pub member: &'static str,
    /// The member that names an element.
    pub element: &'static str,
    /// The notification that says that the list has changed; empty where there is none.
    pub changed: &'static str,
    /// The member of a subscription's filter that asks for this notification.
    pub filter: &'static str,
}

const TOOLS: [&str; 2] = ["notifications/tools/list_changed", "toolsListChanged"];
const PROMPTS: [&str; 2] = ["notifications/prompts/list_changed", "promptsListChanged"];
const RESOURCES: [&str; 2] = [
    "notifications/resources/list_changed",
    "resourcesListChanged",
];
const ROOTS: [&str; 2] = ["notifications/roots/list_changed", ""];

pub static LISTS: [List; 6] = [
    list("tools/list", "tools", "name", TOOLS),
    list("prompts/list", "prompts", "name", PROMPTS),
    list("resources/list", "resources", "uri", RESOURCES),
    // The templates have no notification of their own.
    list(
        "resources/templates/list",
        "resourceTemplates",
        "uriTemplate",
        RESOURCES,
    ),
    list("tasks/list", "tasks", "taskId", ["", ""]),
    // The only list of the client.
    list("roots/list", "roots", "uri", ROOTS),
];

const fn list(
    method: &'static str,
    member: &'static str,
    element: &'static str,
    [changed, filter]: [&'static str; 2],
) -> List {
    List {
        method,
        member,
        element,
        changed,
        filter,
    }
}

/// The list that `method` asks for.
pub fn of(method: &str) -> Option<&'static List> {
    LISTS.iter().find(|list| list.method == method)
}
