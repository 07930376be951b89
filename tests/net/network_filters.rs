//! Filters, figures and comparisons know what came over HTTP.

use crate::copies::run;
use crate::reading::rows;
use crate::wire;
use serde_json::Value;
use std::collections::BTreeMap;
use tempfile::TempDir;

/// The recording of a file of `wire`, and its folder.
fn recorded(file: &str) -> (String, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    drop(wire::recording(dir.path(), &wire::file(file)));
    (dir.path().join("a.reel").display().to_string(), dir)
}

/// The methods of the rows that each filter finds.
fn finds(file: &str, filters: &[(&str, &str)]) {
    let (reel, _dir) = recorded(file);
    for (filter, expected) in filters {
        let rows = rows(&["show", &reel, "-q", filter, "--json"]).into_iter();
        let methods = rows.map(|row| row["method"].as_str().unwrap_or("event").to_owned());
        let found = methods.collect::<Vec<_>>().join(" ");
        assert_eq!(found, *expected, "{file}: {filter}");
    }
}

#[test]
fn a_filter_asks_for_headers_of_either_head_and_for_resumed_streams() {
    let all = "initialize notifications/initialized GET tools/call GET";
    finds(
        "polled",
        &[
            ("is:resumed", "GET"),
            ("has:header.last-event-id", "GET"),
            (
                "header.SERVER=uvicorn kind:request",
                "initialize tools/call",
            ),
            (
                "header.server:UVI has:header.server -is:sse",
                "notifications/initialized",
            ),
            (r"header.mcp-session-id~^[0-9a-f]{32}$", all),
            ("header.host=127", ""),
            ("-header.host!=127.0.0.1:49271", all),
            ("header.accept=text/event-stream -is:resumed", "GET"),
        ],
    );
}

#[test]
fn a_filter_asks_for_what_http_said_of_a_call() {
    let calls = "tools/call ".repeat(9);
    finds(
        "ts2-fallback",
        &[
            ("http.status>=400", "server/discover"),
            ("http.status:202", "notifications/initialized"),
            ("http.method:GET", "GET"),
            ("http.method:DELETE", "DELETE"),
            ("url~^/mcp$ http.method:POST tool:ask", "tools/call"),
            ("url:/messages", ""),
            ("status:probe", "server/discover"),
            ("conversation:1 method:tools/call", calls.trim_end()),
            ("conversation:2", ""),
            (
                "is:sse -method:tools/call kind:request",
                "initialize tools/list elicitation/create",
            ),
        ],
    );
    // Of 2024-11-05 the answers come elsewhere, in a stream of their own.
    finds(
        "py1-sse",
        &[
            ("url~^/sse", "GET elicitation/create"),
            ("url:/messages http.status:202 tool:fail", "tools/call"),
        ],
    );
}

#[test]
fn figures_of_calls_over_http_leave_a_probe_out_of_what_failed() {
    let (reel, _dir) = recorded("ts2-fallback");
    let figures: BTreeMap<_, _> = rows(&["stats", &reel, "--json"])
        .iter()
        .filter(|row| row["name"].is_null())
        .filter_map(|row| {
            let name = row["method"].as_str()?.to_owned();
            Some((name, [&row["count"], &row["failed"]].map(Value::as_u64)))
        })
        .collect();
    for (method, count, failed) in [
        ("initialize", 1, 0),
        ("server/discover", 1, 0),
        ("tools/call", 9, 2),
        ("elicitation/create", 1, 0),
    ] {
        let expected = [Some(count), Some(failed)];
        assert_eq!(figures.get(method), Some(&expected), "{method}");
    }
}

#[test]
fn two_sessions_that_differ_only_in_how_they_were_carried_do_the_same() {
    let ((left, _one), (right, _two)) = (recorded("py1-stateful"), recorded("py1-sse"));
    let said = run(&["diff", &left, &right]);
    assert!(
        said.contains("12 exchanges compared, 12 of them the same"),
        "{said}"
    );
}
