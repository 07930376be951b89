//! A client and a server of the Rust SDK have the same conversation with the recorder between them
//! as without it, in both eras.

use crate::support::rmcp_client::{conversation, modes};
use crate::support::{Library, peer, wait_for};
use serde_json::Value;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rust_sdk_sees_the_same_with_and_without_the_recorder() {
    for (era, lifecycle) in modes() {
        let library = Library::new();
        let mut server = tokio::process::Command::new(peer());
        server.arg("rmcp-server");
        let without = conversation(server, lifecycle.clone()).await;
        assert_eq!(
            without["sums"].as_array().map(Vec::len),
            Some(40),
            "{without:#}"
        );
        assert_eq!(
            without["tools"].as_array().map(Vec::len),
            Some(6),
            "{without:#}"
        );
        let mut recorder = library.mcpreel("run");
        recorder.arg(peer()).arg("rmcp-server");
        let with = conversation(recorder.into(), lifecycle).await;
        assert_eq!(with, without, "{era}");
        assert_is_on_record(&library, era);
    }
}

/// Every call stands in the recording, with how it ended.
fn assert_is_on_record(library: &Library, era: &str) {
    wait_for("the end of the recorder", || {
        library
            .json(&["ls"])
            .iter()
            .all(|recording| recording["state"] != "live")
            .then_some(())
    });
    let exchanges = library.json(&["show", "@", "--exchanges"]);
    let count = |name: &str, status: &str| {
        let is = |exchange: &&Value| exchange["name"] == name && exchange["status"] == status;
        exchanges.iter().filter(is).count()
    };
    let counted = [
        count("add", "ok"),
        count("fail", "tool-error"),
        count("missing", "error"),
        count("steps", "ok"),
    ];
    assert_eq!(counted, [40, 1, 1, 1], "{exchanges:#?}");
    let handshake = if era == "modern" {
        "server/discover"
    } else {
        "initialize"
    };
    assert_eq!(exchanges[0]["method"], handshake);
    assert!(
        exchanges.iter().all(|exchange| exchange["era"] == era),
        "{exchanges:#?}"
    );
    assert_nothing_is_alarming(library);
}

/// What is found in a conversation without fault: that the client calls a tool that is not there,
/// that the server does not say who it is in results of the modern era (it SHOULD),
/// and that the server speaks an older revision than it was asked for. Slowness is the machine's.
fn assert_nothing_is_alarming(library: &Library) {
    const TRUE: [&str; 5] = [
        "tool-unknown-called",
        "lifecycle-version-downgraded",
        "modern-server-info-missing",
        "request-slow",
        "latency-outlier",
    ];
    let findings = library.json(&["show", "@", "--findings"]);
    let is_false = |finding: &&Value| {
        let rule = finding["rule"].as_str().unwrap_or_default();
        finding["severity"] == "error" || !TRUE.contains(&rule)
    };
    let false_alarms: Vec<_> = findings.iter().filter(is_false).collect();
    assert!(false_alarms.is_empty(), "{false_alarms:#?}");
    let calls = findings.iter().filter(|finding| finding["rule"] == TRUE[0]);
    assert_eq!(calls.count(), 1, "{findings:#?}");
}
