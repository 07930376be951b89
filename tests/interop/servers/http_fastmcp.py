"""A server of FastMCP over HTTP.   http_fastmcp.py PORT [stateful|stateless|json|sse]"""
import asyncio
import sys

import uvicorn
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError

from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

port, mode = int(sys.argv[1]), sys.argv[2]
options = {"stateless": {"stateless_http": True}, "json": {"json_response": True}, "sse": {"transport": "sse"}}.get(mode, {})
mcp = FastMCP("fast", version="1.0.0")


@mcp.tool
def echo(text: str) -> str:
    """Says it back."""
    return text


@mcp.tool
async def slow(ctx: Context, steps: int = 3, pause_ms: int = 50) -> str:
    """Takes some time and tells how far it is."""
    for step in range(steps):
        await ctx.report_progress(step + 1, steps, f"step {step + 1}")
        await asyncio.sleep(pause_ms / 1000)
    return f"{steps} steps"


@mcp.tool
def fail(reason: str) -> str:
    """Fails."""
    raise ToolError(reason)


@mcp.tool
async def ask(ctx: Context) -> str | InputRequiredResult:
    """Asks the user."""
    version = getattr(ctx.request_context, "protocol_version", "")
    if version and version >= "2026":
        told = (ctx.input_responses or {}).get("user")
        if told is None:
            schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
            question = ElicitRequest(params=ElicitRequestFormParams(message="Who are you?", requested_schema=schema))
            return InputRequiredResult(input_requests={"user": question}, request_state="asked")
        return f"Hello, {told.content['name']}"
    told = await ctx.elicit("Who are you?", response_type=str)
    return f"Hello, {told.data}" if told.action == "accept" else told.action


app = mcp.http_app(path="/sse" if mode == "sse" else "/mcp", **options)
uvicorn.run(app, host="127.0.0.1", port=port, log_level="error", timeout_graceful_shutdown=1)
