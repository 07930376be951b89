//! A client of the Rust SDK over streamable HTTP: `rmcp-http-client URL LOG legacy|auto|2026-07-28`. It does
//! what `tests/interop/clients/http_plan.py` does, and keeps the same log.

use super::rmcp_server::run_async;
use futures_core::stream::BoxStream;
use hyper::header::{HeaderName, HeaderValue};
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ClientJsonRpcMessage,
    ElicitRequestParams, ElicitResult, ElicitationAction, Implementation, ProtocolVersion,
};
use rmcp::service::{RequestContext, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use sse_stream::Sse;
use std::collections::HashMap;
use std::fs::File;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Runs the mode, if it is this one.
pub fn run(mode: &str, arguments: &[String]) -> Option<ExitCode> {
    match (mode, arguments) {
        ("rmcp-http-client", [url, log, era]) => {
            let log = Log(Arc::new(File::create(log).expect("the log can be written")));
            run_async(converse(url, era, log));
            Some(ExitCode::SUCCESS)
        }
        _ => None,
    }
}

/// The log, a line for each request of HTTP, call and question.
#[derive(Clone)]
struct Log(Arc<File>);

impl Log {
    fn write(&self, line: &Value) {
        let line = format!("{line}\n");
        (&*self.0)
            .write_all(line.as_bytes())
            .expect("the log can be written");
    }
}

fn ms_since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// What the client prints.
#[expect(
    clippy::print_stdout,
    reason = "it is not the program: what it prints is what the test compares"
)]
fn print(line: &Value) {
    println!("{line}");
}

/// The HTTP client that the SDK has by itself, with a log.
#[derive(Clone)]
struct Logged(reqwest::Client, Log);

type Failed = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;

impl Logged {
    /// `status` is null where the SDK hides it.
    fn note(&self, method: &str, message: &Value, status: Option<u16>, start: Instant) {
        let rpc = message.get("method").map_or(json!("answer"), Value::clone);
        let rpc = if message.is_null() { Value::Null } else { rpc };
        self.1.write(&json!({
            "n": 0, "method": method, "path": "/mcp", "status": status, "rpc": rpc,
            "id": message.get("id"), "ms": ms_since(start),
        }));
    }
}

fn status_of(error: &Failed) -> Option<u16> {
    match error {
        StreamableHttpError::ServerDoesNotSupportSse => Some(405),
        StreamableHttpError::SessionExpired => Some(404),
        StreamableHttpError::HttpStatus(error) => Some(error.status),
        StreamableHttpError::Client(error) => error.status().map(|status| status.as_u16()),
        _ => None,
    }
}

impl StreamableHttpClient for Logged {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let (start, said) = (Instant::now(), json!(message));
        let answer = self
            .0
            .post_message(uri, message, session, auth, headers)
            .await;
        let status = match &answer {
            Ok(StreamableHttpPostResponse::Accepted) => Some(202),
            Ok(StreamableHttpPostResponse::Sse(..)) => Some(200),
            // An error may have come with any status.
            Ok(StreamableHttpPostResponse::Json(answer, _)) => {
                json!(answer).get("result").map(|_| 200)
            }
            Ok(_) => None,
            Err(error) => status_of(error),
        };
        self.note("POST", &said, status, start);
        answer
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<(), Failed> {
        let start = Instant::now();
        let answer = self.0.delete_session(uri, session, auth, headers).await;
        self.note("DELETE", &Value::Null, None, start);
        answer
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        let start = Instant::now();
        let answer = self.0.get_stream(uri, session, last, auth, headers).await;
        let status = answer.as_ref().map_or_else(status_of, |_| Some(200));
        self.note("GET", &Value::Null, status, start);
        answer
    }
}

/// A user who is called Ada.
struct Ada(Log);

impl ClientHandler for Ada {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(capabilities, Implementation::new("peer", "1.0.0"))
    }

    async fn create_elicitation(
        &self,
        asked: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let asked = json!(asked);
        let key = if asked["requestedSchema"]["properties"]["value"].is_object() {
            "value"
        } else {
            "name"
        };
        let answer = json!({ key: "Ada" });
        self.0
            .write(&json!({"asked": asked["message"], "answered": answer}));
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(answer))
    }
}

type Running = RunningService<RoleClient, Ada>;

async fn converse(url: &str, era: &str, log: Log) {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = match era {
        "legacy" => ClientLifecycleMode::Initialize,
        "auto" => ClientLifecycleMode::Auto {
            preferred_versions,
            legacy_version: None,
        },
        _ => ClientLifecycleMode::Discover { preferred_versions },
    };
    let config = StreamableHttpClientTransportConfig::with_uri(url);
    let http = Logged(reqwest::Client::new(), log.clone());
    let transport = StreamableHttpClientTransport::with_client(http, config);
    let client = Ada(log.clone()).serve_with_lifecycle(transport, lifecycle);
    let client = client.await.expect("the server answers");
    let tools = client.list_all_tools().await.expect("it has tools");
    let mut tools: Vec<_> = tools.into_iter().map(|tool| tool.name).collect();
    tools.sort();
    print(&json!({"step": "tools", "names": tools}));
    let known = [
        ("ask", json!({})),
        ("echo", json!({"text": "héllo ✓"})),
        ("fail", json!({"reason": "because"})),
        ("slow", json!({})),
    ];
    for (name, arguments) in known {
        if tools.iter().any(|tool| tool == name) {
            print(&call(&client, &log, name, arguments).await);
        }
    }
    let at_once = |n| json!({ "text": format!("at once {n}") });
    let (first, slow, second) = tokio::join!(
        call(&client, &log, "echo", at_once(0)),
        call(&client, &log, "slow", json!({"pause_ms": 20})),
        call(&client, &log, "echo", at_once(1)),
    );
    print(&json!([first, slow, second]));
    print(&call(&client, &log, "no-such-tool", json!({})).await);
    let large = "0123456789abcdef".repeat(8000);
    print(&call(&client, &log, "echo", json!({ "text": large })).await);
    client.cancel().await.expect("it ends");
    print(&json!({"step": "closed"}));
}

/// What came of a call.
async fn call(client: &Running, log: &Log, name: &'static str, arguments: Value) -> Value {
    let start = Instant::now();
    let params = CallToolRequestParams::new(name);
    let params = params.with_arguments(rmcp::model::object(arguments.clone()));
    let limit = Duration::from_secs(10);
    let result = tokio::time::timeout(limit, client.call_tool(params)).await;
    let ms = ms_since(start);
    let (outcome, text) = match result.expect("it is answered in time") {
        Ok(result) => {
            let is_error = result.is_error.unwrap_or_default();
            let result = json!(result);
            let text = result["content"][0]["text"].as_str().map(short);
            (if is_error { "tool-error" } else { "ok" }, text)
        }
        Err(error) => ("error", Some(error.to_string())),
    };
    log.write(&json!({
        "call": name, "arguments": arguments, "outcome": outcome, "text": text, "ms": ms,
    }));
    json!({"step": name, "outcome": outcome, "text": text})
}

/// A text, or its length and the beginning of its hash where it is long.
fn short(text: &str) -> String {
    if text.chars().count() < 400 {
        return text.to_owned();
    }
    let digest = Sha256::digest(text);
    let first = digest.first_chunk().copied().unwrap_or_default();
    format!(
        "{} {:016x}",
        text.chars().count(),
        u64::from_be_bytes(first)
    )
}
