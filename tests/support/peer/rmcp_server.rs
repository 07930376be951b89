//! A server made with the Rust SDK, in both eras: `rmcp-server` over pipes,
//! `rmcp-http-server PORT stateful|stateless|json` over streamable HTTP.

use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ElicitRequest,
    ElicitRequestParams, Implementation, InputRequest, InputRequiredResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::stdio;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::json;
use std::convert::Infallible;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// Runs the mode, if it is one of these.
pub fn run(mode: &str, arguments: &[String]) -> Option<ExitCode> {
    let served = match (mode, arguments) {
        ("rmcp-server", []) => run_async(serve()),
        ("rmcp-http-server", [port, mode]) => run_async(serve_http(port, mode)),
        _ => return None,
    };
    Some(ExitCode::from(u8::from(!served)))
}

/// Runs it to its end, on two threads.
pub fn run_async<T>(what: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.expect("the runtime starts").block_on(what)
}

async fn serve() -> bool {
    match Tools.serve(stdio()).await {
        Ok(service) => service.waiting().await.is_ok(),
        Err(_) => false,
    }
}

async fn serve_http(port: &str, mode: &str) -> bool {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(mode == "stateful")
        .with_json_response(mode == "json");
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(|| Ok(Tools), sessions, config);
    let Ok(listener) = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await else {
        return false;
    };
    while let Ok((socket, _)) = listener.accept().await {
        let service = service.clone();
        let answer = service_fn(move |request| {
            let service = service.clone();
            async move { Ok::<_, Infallible>(service.handle(request).await) }
        });
        let serving = hyper::server::conn::http1::Builder::new();
        tokio::spawn(serving.serve_connection(TokioIo::new(socket), answer));
    }
    false
}

/// Tools: `add` and `echo` answer, `fail` fails, `steps` and `slow` tell how far they are, `ask` asks.
struct Tools;

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        let info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.with_server_info(Implementation::new("peer", "1.2.3"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = Arc::new(rmcp::model::object(serde_json::json!({"type": "object"})));
        let tool = |name: &'static str| Tool::new(name, "of the peer", Arc::clone(&schema));
        Ok(ListToolsResult::with_all_items(
            ["add", "ask", "echo", "fail", "slow", "steps"]
                .map(tool)
                .to_vec(),
        ))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let given = call.arguments.clone().unwrap_or_default();
        let number = |name: &str| given.get(name)?.as_i64();
        match &*call.name {
            "add" => {
                let sum = number("a").zip(number("b")).map(|(a, b)| a + b);
                let sum =
                    sum.ok_or_else(|| ErrorData::invalid_params("a and b are numbers", None))?;
                Ok(said(sum.to_string()))
            }
            "echo" => Ok(said(given["text"].as_str().unwrap_or_default())),
            "fail" => Ok(CallToolResult::error(vec![ContentBlock::text("as asked")]).into()),
            "steps" if context.meta.get_progress_token().is_none() => {
                Err(ErrorData::invalid_params("it needs a token", None))
            }
            "steps" => {
                tell_steps(&context, 5, Duration::ZERO).await;
                Ok(said("there"))
            }
            "slow" => {
                let pause = number("pause_ms").and_then(|ms| ms.try_into().ok());
                tell_steps(&context, 3, Duration::from_millis(pause.unwrap_or(50))).await;
                Ok(said("3 steps"))
            }
            "ask" => ask(&call, &context).await,
            _ => Err(ErrorData::invalid_params("no such tool", None)),
        }
    }
}

fn said(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

/// Tells so many steps, if anybody wants to know, with a pause behind each.
async fn tell_steps(context: &RequestContext<RoleServer>, steps: u8, pause: Duration) {
    for step in 1..=steps {
        if let Some(token) = context.meta.get_progress_token() {
            let progress = ProgressNotificationParam::new(token, f64::from(step));
            let progress = progress.with_total(f64::from(steps));
            drop(context.peer.notify_progress(progress).await);
        }
        tokio::time::sleep(pause).await;
    }
}

/// Asks the user for the name, as the era of the request has it.
async fn ask(
    call: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let hello = |answer: &serde_json::Value| {
        said(format!(
            "Hello, {}",
            answer["name"].as_str().unwrap_or_default()
        ))
    };
    if let Some(answer) = call
        .input_responses
        .as_ref()
        .and_then(|all| all.get("user"))
    {
        return Ok(hello(&answer["content"]));
    }
    let schema =
        json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let question = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: "Who are you?".into(),
        requested_schema: serde_json::from_value(schema).expect("it is a schema"),
    };
    let is_modern = |version: rmcp::model::ProtocolVersion| !version.has_initialize();
    if context.protocol_version().is_some_and(is_modern) {
        let question = InputRequest::Elicitation(ElicitRequest::new(question));
        let questions = [("user".to_owned(), question)].into();
        return Ok(InputRequiredResult::new(Some(questions), Some("asked".into())).into());
    }
    let answer = context.peer.create_elicitation(question).await;
    let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(hello(&answer.content.unwrap_or_default()))
}
