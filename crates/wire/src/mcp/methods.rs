//! Every method of every revision: what it is, who may send it, and what must have been declared.

use super::Revision;
use super::Revision::{
    V2024_11_05 as A, V2025_03_26 as B, V2025_06_18 as C, V2025_11_25 as D, V2026_07_28 as E,
};
use crate::message::Direction;
use Way::{Both, ToClient, ToServer};

/// The extension that took the tasks of 2025-11-25 over.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// A method that the protocol defines.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    pub name: &'static str,
    pub kind: Kind,
    uses: [Option<Use>; 2],
}

/// Whether a method wants a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Request,
    Notification,
}

/// How a method is used in a span of revisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The first revision that has it.
    pub from: Revision,
    /// The last revision that has it, or the newest one known.
    pub to: Revision,
    pub way: Way,
    /// What must have been declared by the side that offers it: the receiver of a request, for
    /// notifications usually the sender.
    pub capability: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    ToServer,
    ToClient,
    Both,
}

impl Way {
    /// Whether it includes `direction`.
    pub fn allows(self, direction: Direction) -> bool {
        match self {
            Self::Both => true,
            Self::ToServer => direction == Direction::ClientToServer,
            Self::ToClient => direction == Direction::ServerToClient,
        }
    }
}

impl Method {
    const fn new(name: &'static str, kind: Kind) -> Self {
        let uses = [None, None];
        Self { name, kind, uses }
    }

    const fn used(mut self, from: Revision, to: Revision, way: Way) -> Self {
        let slot = self.uses[0].is_some() as usize;
        self.uses[slot] = Some(Use {
            from,
            to,
            way,
            capability: None,
        });
        self
    }

    const fn needs(mut self, capability: &'static str) -> Self {
        let slot = self.uses[1].is_some() as usize;
        if let Some(last) = &mut self.uses[slot] {
            last.capability = Some(capability);
        }
        self
    }

    /// How it is used, oldest revisions first.
    pub fn uses(&self) -> impl Iterator<Item = &Use> {
        self.uses.iter().flatten()
    }

    /// How it is used in `revision`, `None` where that has no such method.
    pub fn used_in(&self, revision: Revision) -> Option<&Use> {
        self.uses()
            .find(|usage| (usage.from..=usage.to).contains(&revision))
    }
}

/// The method called `name`, by its name in the protocol or another that some peers use; `None`
/// for methods that are not known here.
pub fn find(name: &str) -> Option<&'static Method> {
    let name = canonical(name);
    METHODS.iter().find(|method| method.name == name)
}

/// The protocol's name for a method that some peers call differently; any other name as it is.
pub fn canonical(name: &str) -> &str {
    match name {
        "initialized" => "notifications/initialized",
        name => name,
    }
}

const fn request(name: &'static str) -> Method {
    Method::new(name, Kind::Request)
}

const fn notification(name: &'static str) -> Method {
    Method::new(name, Kind::Notification)
}

/// Every method of the core protocol and its tasks extension.
#[rustfmt::skip]
pub const METHODS: &[Method] = &[
    request("initialize").used(A, D, ToServer),
    request("server/discover").used(E, E, ToServer),
    request("ping").used(A, D, Both),
    request("tools/list").used(A, E, ToServer).needs("tools"),
    request("tools/call").used(A, E, ToServer).needs("tools"),
    request("resources/list").used(A, E, ToServer).needs("resources"),
    request("resources/templates/list").used(A, E, ToServer).needs("resources"),
    request("resources/read").used(A, E, ToServer).needs("resources"),
    request("resources/subscribe").used(A, D, ToServer).needs("resources.subscribe"),
    request("resources/unsubscribe").used(A, D, ToServer).needs("resources.subscribe"),
    request("prompts/list").used(A, E, ToServer).needs("prompts"),
    request("prompts/get").used(A, E, ToServer).needs("prompts"),
    request("completion/complete").used(A, A, ToServer).used(B, E, ToServer).needs("completions"),
    request("logging/setLevel").used(A, D, ToServer).needs("logging"),
    request("subscriptions/listen").used(E, E, ToServer),
    request("sampling/createMessage").used(A, D, ToClient).needs("sampling"),
    request("roots/list").used(A, D, ToClient).needs("roots"),
    request("elicitation/create").used(C, D, ToClient).needs("elicitation"),
    request("tasks/get").used(D, D, Both).needs("tasks")
        .used(E, E, ToServer),
    request("tasks/result").used(D, D, Both).needs("tasks"),
    request("tasks/list").used(D, D, Both).needs("tasks.list"),
    request("tasks/cancel").used(D, D, Both).needs("tasks.cancel")
        .used(E, E, ToServer),
    request("tasks/update").used(E, E, ToServer),
    notification("notifications/initialized").used(A, D, ToServer),
    notification("notifications/cancelled").used(A, E, Both),
    notification("notifications/progress").used(A, D, Both).used(E, E, ToClient),
    notification("notifications/message").used(A, E, ToClient).needs("logging"),
    notification("notifications/tools/list_changed").used(A, E, ToClient).needs("tools.listChanged"),
    notification("notifications/prompts/list_changed").used(A, E, ToClient).needs("prompts.listChanged"),
    notification("notifications/resources/list_changed").used(A, E, ToClient).needs("resources.listChanged"),
    notification("notifications/resources/updated").used(A, E, ToClient).needs("resources.subscribe"),
    notification("notifications/roots/list_changed").used(A, D, ToServer).needs("roots.listChanged"),
    notification("notifications/elicitation/complete").used(D, D, ToClient).needs("elicitation.url"),
    notification("notifications/tasks/status").used(D, D, Both).needs("tasks"),
    notification("notifications/subscriptions/acknowledged").used(E, E, ToClient),
    notification("notifications/tasks").used(E, E, ToClient),
];

// The lists of the protocol, which a peer asks for in pages.

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
pub fn list_of(method: &str) -> Option<&'static List> {
    LISTS.iter().find(|list| list.method == method)
}
