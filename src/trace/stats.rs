//! Latencies per method and per tool.
