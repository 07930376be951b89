//! A server made with the Rust SDK, in both eras.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::stdio;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use std::process::ExitCode;
use std::sync::Arc;

/// Runs the mode, if it is one of these.
pub fn run(mode: &str, arguments: &[String]) -> Option<ExitCode> {
    match (mode, arguments) {
        ("rmcp-server", []) => Some(ExitCode::from(u8::from(!serve()))),
        _ => None,
    }
}

fn serve() -> bool {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.expect("the runtime starts").block_on(async {
        match Tools.serve(stdio()).await {
            Ok(service) => service.waiting().await.is_ok(),
            Err(_) => false,
        }
    })
}

/// Three tools: one that answers, one that fails, one that tells how far it is.
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
            ["add", "fail", "steps"].map(tool).to_vec(),
        ))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let number = |name: &str| {
            call.arguments
                .as_ref()
                .and_then(|all| all.get(name)?.as_i64())
        };
        let text = |text: String| vec![ContentBlock::text(text)];
        match &*call.name {
            "add" => {
                let sum = number("a").zip(number("b")).map(|(a, b)| a + b);
                let sum =
                    sum.ok_or_else(|| ErrorData::invalid_params("a and b are numbers", None))?;
                Ok(CallToolResult::success(text(sum.to_string())).into())
            }
            "fail" => Ok(CallToolResult::error(text("as asked".into())).into()),
            "steps" => {
                let token = context.meta.get_progress_token();
                let token =
                    token.ok_or_else(|| ErrorData::invalid_params("it needs a token", None))?;
                for step in 1..=5_u8 {
                    let progress = ProgressNotificationParam::new(token.clone(), f64::from(step));
                    drop(context.peer.notify_progress(progress.with_total(5.0)).await);
                }
                Ok(CallToolResult::success(text("there".into())).into())
            }
            _ => Err(ErrorData::invalid_params("no such tool", None)),
        }
    }
}
