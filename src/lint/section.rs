//! Sections of the specifications that rules refer to.

use crate::protocol::mcp::Revision;

/// A section of a specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// What it is called, with its page: `Transports, stdio`.
    pub title: &'static str,
    /// Where it is published.
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A page of every revision of MCP.
    Mcp(&'static str),
    /// Anywhere else.
    Elsewhere(&'static str),
}

impl Section {
    /// A section on a page of MCP's specification: `basic/transports#stdio`.
    #[must_use]
    pub const fn mcp(title: &'static str, page: &'static str) -> Self {
        let place = Place::Mcp(page);
        Self { title, place }
    }

    /// A section of another specification, with its address.
    #[must_use]
    pub const fn elsewhere(title: &'static str, url: &'static str) -> Self {
        let place = Place::Elsewhere(url);
        Self { title, place }
    }

    /// Its address in `revision`.
    #[must_use]
    pub fn url(self, revision: Revision) -> String {
        match self.place {
            Place::Mcp(page) => {
                format!("https://modelcontextprotocol.io/specification/{revision}/{page}")
            }
            Place::Elsewhere(url) => url.to_owned(),
        }
    }
}

/// Transports, stdio.
pub const STDIO: Section = Section::mcp("Transports, stdio", "basic/transports#stdio");
/// Base protocol, Messages.
pub const MESSAGES: Section = Section::mcp("Base protocol, Messages", "basic#messages");
/// Base protocol, Requests.
pub const REQUESTS: Section = Section::mcp("Base protocol, Requests", "basic#requests");
/// Base protocol, Responses.
pub const RESPONSES: Section = Section::mcp("Base protocol, Responses", "basic#responses");
/// Base protocol, Notifications.
pub const NOTIFICATIONS: Section =
    Section::mcp("Base protocol, Notifications", "basic#notifications");
/// Base protocol, `_meta`.
pub const META: Section = Section::mcp("Base protocol, _meta", "basic#meta");
/// Lifecycle.
pub const LIFECYCLE: Section = Section::mcp("Lifecycle", "basic/lifecycle");
/// Lifecycle, Capability negotiation.
pub const CAPABILITIES: Section = Section::mcp(
    "Lifecycle, Capability negotiation",
    "basic/lifecycle#capability-negotiation",
);
/// Lifecycle, Shutdown.
pub const SHUTDOWN: Section = Section::mcp("Lifecycle, Shutdown", "basic/lifecycle#shutdown");
/// Lifecycle, Timeouts.
pub const TIMEOUTS: Section = Section::mcp("Lifecycle, Timeouts", "basic/lifecycle#timeouts");
/// Cancellation.
pub const CANCELLATION: Section = Section::mcp("Cancellation", "basic/utilities/cancellation");
/// Progress.
pub const PROGRESS: Section = Section::mcp("Progress", "basic/utilities/progress");
/// Pagination.
pub const PAGINATION: Section = Section::mcp("Pagination", "server/utilities/pagination");
/// Completion.
pub const COMPLETION: Section = Section::mcp("Completion", "server/utilities/completion");
/// Logging.
pub const LOGGING: Section = Section::mcp("Logging", "server/utilities/logging");
/// Tools.
pub const TOOLS: Section = Section::mcp("Tools", "server/tools");
/// Tools, Tool names.
pub const TOOL_NAMES: Section = Section::mcp("Tools, Tool names", "server/tools#tool-names");
/// Tools, Output schema.
pub const TOOL_OUTPUT: Section = Section::mcp("Tools, Output schema", "server/tools#output-schema");
/// Tools, x-mcp-header (2026-07-28).
pub const TOOL_HEADERS: Section = Section::mcp("Tools, x-mcp-header", "server/tools#x-mcp-header");
/// Base protocol, JSON Schema usage.
pub const JSON_SCHEMA: Section = Section::mcp(
    "Base protocol, JSON Schema usage",
    "basic#json-schema-usage",
);
/// Resources.
pub const RESOURCES: Section = Section::mcp("Resources", "server/resources");
/// Prompts.
pub const PROMPTS: Section = Section::mcp("Prompts", "server/prompts");
/// Sampling.
pub const SAMPLING: Section = Section::mcp("Sampling", "client/sampling");
/// Elicitation.
pub const ELICITATION: Section = Section::mcp("Elicitation", "client/elicitation");
/// Roots.
pub const ROOTS: Section = Section::mcp("Roots", "client/roots");
/// JSON-RPC 2.0, section 4 (requests and notifications).
pub const JSONRPC_REQUEST: Section = Section::elsewhere(
    "JSON-RPC 2.0, section 4",
    "https://www.jsonrpc.org/specification#request_object",
);
/// JSON-RPC 2.0, section 5 (responses and errors).
pub const JSONRPC_RESPONSE: Section = Section::elsewhere(
    "JSON-RPC 2.0, section 5",
    "https://www.jsonrpc.org/specification#response_object",
);
/// RFC 8259, the JSON format.
pub const JSON: Section = Section::elsewhere("RFC 8259", "https://www.rfc-editor.org/rfc/rfc8259");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_has_its_address_in_each_revision() {
        assert_eq!(
            STDIO.url(Revision::V2025_06_18),
            "https://modelcontextprotocol.io/specification/2025-06-18/basic/transports#stdio"
        );
        assert_eq!(
            JSON.url(Revision::V2025_06_18),
            "https://www.rfc-editor.org/rfc/rfc8259"
        );
    }
}
