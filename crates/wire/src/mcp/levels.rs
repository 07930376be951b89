//! How urgent a log message is (Logging, Log Levels; RFC 5424).

/// The levels, the least urgent first.
pub const LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];
