//! A client and a server of the Rust SDK have the same conversation with the recorder between them
//! as without it, in both eras.

mod support;

use rmcp::model::{CallToolRequestParams, ProgressNotificationParam, ProtocolVersion};
use rmcp::service::{NotificationContext, RunningService};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use support::{Library, peer, wait_for};

/// Calls that are under way at the same time.
const CONCURRENT: i64 = 40;

/// A client that keeps the progress that it is told.
#[derive(Clone, Default)]
struct Client {
    progress: Arc<Mutex<Vec<Value>>>,
}

impl ClientHandler for Client {
    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let told = json!([progress.progress, progress.total]);
        self.progress.lock().expect("no thread panics").push(told);
    }
}

type Running = RunningService<RoleClient, Client>;

/// All that a client sees in a conversation with the server that `command` starts.
async fn conversation(command: tokio::process::Command, lifecycle: ClientLifecycleMode) -> Value {
    let transport = TokioChildProcess::new(command).expect("the program starts");
    let client = Client::default()
        .serve_with_lifecycle(transport, lifecycle)
        .await;
    let client = client.expect("the server answers");
    let seen = json!({
        "server": client.peer_info().map(|info| json!(info.server_info)),
        "tools": client.list_all_tools().await.map(|tools| json!(tools)).ok(),
        "sums": sums(&client).await,
        "fail": call(&client, "fail", json!({})).await,
        "missing": call(&client, "missing", json!({})).await,
        "steps": call(&client, "steps", json!({})).await,
        "progress": progress(&client),
    });
    client.cancel().await.expect("the server ends");
    seen
}

async fn sums(client: &Running) -> Value {
    let calls = (0..CONCURRENT).map(|n| {
        let peer = client.peer().clone();
        tokio::spawn(async move { call_of(&peer, "add", json!({"a": n, "b": n * n})).await })
    });
    let mut sums = Vec::new();
    for call in calls.collect::<Vec<_>>() {
        sums.push(call.await.expect("no task panics"));
    }
    json!(sums)
}

async fn call(client: &Running, tool: &'static str, arguments: Value) -> Value {
    call_of(client.peer(), tool, arguments).await
}

async fn call_of(peer: &rmcp::Peer<RoleClient>, tool: &'static str, arguments: Value) -> Value {
    let params = CallToolRequestParams::new(tool).with_arguments(rmcp::model::object(arguments));
    match peer.call_tool(params).await {
        Ok(result) => json!({ "result": result }),
        Err(error) => json!({ "error": error.to_string() }),
    }
}

/// Notifications are handled beside the answer that follows them.
fn progress(client: &Running) -> Value {
    let told = || {
        client
            .service()
            .progress
            .lock()
            .expect("no thread panics")
            .clone()
    };
    let mut told = wait_for("all five steps", || {
        Some(told()).filter(|told| told.len() == 5)
    });
    told.sort_by_key(ToString::to_string);
    json!(told)
}

fn modes() -> [(&'static str, ClientLifecycleMode); 3] {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    [
        ("legacy", ClientLifecycleMode::Initialize),
        (
            "modern",
            ClientLifecycleMode::Discover {
                preferred_versions: preferred_versions.clone(),
            },
        ),
        (
            "modern",
            ClientLifecycleMode::Auto {
                preferred_versions,
                legacy_version: None,
            },
        ),
    ]
}

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
            Some(3),
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
