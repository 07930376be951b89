//! Reserved keys of `_meta` (Base protocol, General fields).

/// Ties progress notifications to the request that carried it.
pub const PROGRESS_TOKEN: &str = "progressToken";
pub const TRACEPARENT: &str = "traceparent";
/// The version that a request of the modern era speaks; required there.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// What the client can do, in every request of the modern era; required there.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Who the client is, in requests of the modern era.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// Who the server is, in results of the modern era.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// From which level on a modern request wants log messages.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// The listen stream that a notification belongs to.
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// The task that a message belongs to (2025-11-25).
pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
