//! A client made with the Rust SDK, and the conversation that it has with the peer's server.

use super::wait_for;
use rmcp::model::{CallToolRequestParams, ProgressNotificationParam, ProtocolVersion};
use rmcp::service::{NotificationContext, RunningService};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

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
pub async fn conversation(
    command: tokio::process::Command,
    lifecycle: ClientLifecycleMode,
) -> Value {
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

/// The ways in which it begins, and the era that each leads to.
pub fn modes() -> [(&'static str, ClientLifecycleMode); 3] {
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
