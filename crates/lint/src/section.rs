//! Sections of the specifications that rules refer to.

use mcpreel_wire::mcp::Revision;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// The title in most revisions, with the page: `Transports, stdio`.
    pub title: &'static str,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A page of every revision of MCP.
    Mcp(&'static str),
    Elsewhere(&'static str),
}

impl Section {
    /// The address in `revision`, or in the last one before it that has the page.
    pub fn url(self, revision: Revision) -> String {
        match self.place {
            Place::Mcp(page) => {
                // Later, tasks are an extension.
                let revision = match page {
                    "basic/utilities/tasks" => revision.min(Revision::V2025_11_25),
                    _ => revision,
                };
                let page = moved(page, revision);
                format!("https://modelcontextprotocol.io/specification/{revision}/{page}")
            }
            Place::Elsewhere(url) => url.to_owned(),
        }
    }
}

/// The place in `revision` of a page that most revisions have at `page`.
fn moved(page: &'static str, revision: Revision) -> &'static str {
    match (revision, page) {
        (Revision::V2024_11_05, "basic#messages") => "basic/messages",
        (Revision::V2024_11_05, "basic#requests") => "basic/messages#requests",
        (Revision::V2024_11_05, "basic#responses") => "basic/messages#responses",
        (Revision::V2024_11_05, "basic#notifications") => "basic/messages#notifications",
        (Revision::V2024_11_05, "basic/lifecycle#timeouts") => "basic/lifecycle",
        (Revision::V2026_07_28, "basic/transports#stdio") => "basic/transports/stdio",
        (Revision::V2026_07_28, "basic/transports#streamable-http") => {
            "basic/transports/streamable-http"
        }
        (Revision::V2024_11_05, "basic/transports#streamable-http") => {
            "basic/transports#http-with-sse"
        }
        (Revision::V2026_07_28, "basic/lifecycle#shutdown") => "basic/transports/stdio#shutdown",
        (Revision::V2026_07_28, "basic/lifecycle#timeouts") => {
            "basic/patterns/cancellation#timeouts"
        }
        (Revision::V2026_07_28, page) if page.starts_with("basic/lifecycle") => "basic/versioning",
        (Revision::V2026_07_28, "basic/utilities/cancellation") => "basic/patterns/cancellation",
        (Revision::V2026_07_28, "basic/utilities/progress") => "basic/patterns/progress",
        _ => page,
    }
}

/// A section on a page of MCP's specification: `basic/transports#stdio`.
const fn mcp(title: &'static str, page: &'static str) -> Section {
    let place = Place::Mcp(page);
    Section { title, place }
}

/// A section of another specification, with its address.
const fn elsewhere(title: &'static str, url: &'static str) -> Section {
    let place = Place::Elsewhere(url);
    Section { title, place }
}

pub const STDIO: Section = mcp("Transports, stdio", "basic/transports#stdio");
pub const HTTP_CONTENT_ENCODING: Section = elsewhere(
    "RFC 9110, 8.4",
    "https://www.rfc-editor.org/rfc/rfc9110#section-8.4",
);
pub const HTTP_BODY_LENGTH: Section = elsewhere(
    "RFC 9112, 6",
    "https://www.rfc-editor.org/rfc/rfc9112#section-6",
);
pub const STREAMABLE_HTTP: Section = mcp(
    "Transports, Streamable HTTP",
    "basic/transports#streamable-http",
);
pub const AUTHORIZATION: Section = mcp("Authorization", "basic/authorization");
pub const MESSAGES: Section = mcp("Base protocol, Messages", "basic#messages");
pub const REQUESTS: Section = mcp("Base protocol, Requests", "basic#requests");
pub const RESPONSES: Section = mcp("Base protocol, Responses", "basic#responses");
pub const NOTIFICATIONS: Section = mcp("Base protocol, Notifications", "basic#notifications");
pub const ERROR_CODES: Section = mcp("Base protocol, Error codes", "basic#error-codes");
pub const META: Section = mcp("Base protocol, _meta", "basic#meta");
pub const RESULT_TYPE: Section = mcp("Base protocol, ResultType", "basic#resulttype");
pub const VERSIONING: Section = mcp("Versioning and compatibility", "basic/versioning");
pub const INPUT_ROUNDS: Section = mcp("Multi round-trip requests", "basic/patterns/mrtr");
pub const SUBSCRIPTIONS: Section = mcp("Subscriptions", "basic/patterns/subscriptions");
pub const MODERN_STDIO: Section = mcp("stdio", "basic/transports/stdio");
pub const DEPRECATED: Section = mcp("Deprecated features", "deprecated");
pub const LIFECYCLE: Section = mcp("Lifecycle", "basic/lifecycle");
pub const CAPABILITIES: Section = mcp(
    "Capability negotiation",
    "basic/lifecycle#capability-negotiation",
);
pub const NEGOTIATION: Section = mcp(
    "Lifecycle, Version negotiation",
    "basic/lifecycle#version-negotiation",
);
pub const SHUTDOWN: Section = mcp("Shutdown", "basic/lifecycle#shutdown");
pub const TIMEOUTS: Section = mcp("Timeouts", "basic/lifecycle#timeouts");
pub const CANCELLATION: Section = mcp("Cancellation", "basic/utilities/cancellation");
pub const PROGRESS: Section = mcp("Progress", "basic/utilities/progress");
pub const PING: Section = mcp("Ping", "basic/utilities/ping");
pub const DISCOVERY: Section = mcp("Discovery", "server/discover");
pub const CACHING: Section = mcp("Caching", "server/utilities/caching");
pub const PAGINATION: Section = mcp("Pagination", "server/utilities/pagination");
pub const COMPLETION: Section = mcp("Completion", "server/utilities/completion");
pub const LOGGING: Section = mcp("Logging", "server/utilities/logging");
pub const TOOLS: Section = mcp("Tools", "server/tools");
pub const TOOL_NAMES: Section = mcp("Tools, Tool names", "server/tools#tool-names");
pub const TOOL_OUTPUT: Section = mcp("Tools, Output schema", "server/tools#output-schema");
pub const TOOL_HEADERS: Section = mcp("Tools, x-mcp-header", "server/tools#x-mcp-header");
pub const JSON_SCHEMA: Section = mcp(
    "Base protocol, JSON Schema usage",
    "basic#json-schema-usage",
);
pub const RESOURCES: Section = mcp("Resources", "server/resources");
pub const PROMPTS: Section = mcp("Prompts", "server/prompts");
pub const SAMPLING: Section = mcp("Sampling", "client/sampling");
pub const ELICITATION: Section = mcp("Elicitation", "client/elicitation");
pub const ROOTS: Section = mcp("Roots", "client/roots");
pub const TASKS: Section = mcp("Tasks", "basic/utilities/tasks");
pub const ICONS: Section = mcp("Base protocol, icons", "basic#icons");
pub const SCHEMA: Section = elsewhere(
    "Schema of the revision",
    "https://github.com/modelcontextprotocol/modelcontextprotocol/tree/main/schema",
);
pub const JSONRPC_ERROR: Section = elsewhere(
    "JSON-RPC 2.0, section 5.1",
    "https://www.jsonrpc.org/specification#error_object",
);
pub const JSONRPC_BATCH: Section = elsewhere(
    "JSON-RPC 2.0, section 6",
    "https://www.jsonrpc.org/specification#batch",
);
pub const JSON: Section = elsewhere("RFC 8259", "https://www.rfc-editor.org/rfc/rfc8259");
pub const BASE64: Section = elsewhere(
    "RFC 4648, section 4",
    "https://www.rfc-editor.org/rfc/rfc4648#section-4",
);
pub const URI: Section = elsewhere("RFC 3986", "https://www.rfc-editor.org/rfc/rfc3986");
pub const TRACE_CONTEXT: Section =
    elsewhere("W3C Trace Context", "https://www.w3.org/TR/trace-context/");
