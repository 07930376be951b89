//! The lists of the protocol, which clients ask for in pages.

/// A list that a peer may ask for.
#[derive(Debug)]
pub struct List {
    pub method: &'static str,
    /// The member of the result that is the list.
    pub member: &'static str,
    /// The notification that says that the list has changed; empty where there is none.
    pub changed: &'static str,
    /// The member of a subscription's filter that asks for this notification.
    pub filter: &'static str,
}

const fn list(
    method: &'static str,
    member: &'static str,
    changed: &'static str,
    filter: &'static str,
) -> List {
    List {
        method,
        member,
        changed,
        filter,
    }
}

const TOOLS: &str = "notifications/tools/list_changed";
const PROMPTS: &str = "notifications/prompts/list_changed";
const RESOURCES: &str = "notifications/resources/list_changed";

pub static LISTS: [List; 5] = [
    list("tools/list", "tools", TOOLS, "toolsListChanged"),
    list("prompts/list", "prompts", PROMPTS, "promptsListChanged"),
    list(
        "resources/list",
        "resources",
        RESOURCES,
        "resourcesListChanged",
    ),
    list(
        "resources/templates/list",
        "resourceTemplates",
        RESOURCES,
        "resourcesListChanged",
    ),
    list("tasks/list", "tasks", "", ""),
];

/// The list that `method` asks for.
pub fn of(method: &str) -> Option<&'static List> {
    LISTS.iter().find(|list| list.method == method)
}
