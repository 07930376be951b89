//! The reference server of the protocol, driven by the Python SDK: the same results with and without
//! the recorder in between. Needs npm, python3 and their registries.

#![cfg(feature = "long-tests")]

mod support;

use serde_json::Value;
use std::process::Command;
use support::{Library, MCPREEL, text, wait_for};

#[test]
fn the_python_sdk_sees_the_same_of_the_reference_server() {
    let library = Library::new();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/interop/run.sh");
    let output = Command::new(script)
        .arg(MCPREEL)
        .arg(library.path())
        .output();
    let output = output.expect("the script is there");
    assert!(output.status.success(), "{}", text(&output));
    support::note(format_args!("{}", String::from_utf8_lossy(&output.stdout)));
    for mode in ["auto", "legacy"] {
        assert_is_on_record(&library, mode);
    }
}

/// What the driver does stands in the recording of this name.
fn assert_is_on_record(library: &Library, name: &str) {
    let summary = wait_for("the end of the recorder", || {
        let summary = library.json(&["show", name]).remove(0);
        (summary["state"] != "live").then_some(summary)
    });
    assert_eq!(summary["state"], "complete", "{summary:#}");
    let exchanges = library.json(&["show", name, "--exchanges"]);
    let count = |key: &str, value: &str| {
        let is = |exchange: &&Value| exchange[key] == value;
        exchanges.iter().filter(is).count()
    };
    assert_eq!(count("name", "get-sum"), 31, "{exchanges:#?}");
    assert_eq!(count("status", "tool-error"), 2, "{exchanges:#?}");
    let asked = ["sampling/createMessage", "elicitation/create", "roots/list"];
    for method in asked {
        let ok = |exchange: &Value| {
            exchange["method"] == method
                && exchange["direction"] == "s2c"
                && exchange["status"] == "ok"
        };
        assert!(exchanges.iter().any(ok), "{method}: {exchanges:#?}");
    }
    let probes = usize::from(name == "auto");
    assert_eq!(
        (
            count("method", "server/discover"),
            count("method", "initialize")
        ),
        (probes, 1)
    );
    let gone = ["open", "lost", "unanswered", "late"];
    assert!(
        gone.iter().all(|status| count("status", status) == 0),
        "{exchanges:#?}"
    );
}
