"""A server of the Python SDK over HTTP, of 1.x or 2.x.   http_python.py PORT [stateful|stateless|json|sse]"""
import asyncio
import sys

import uvicorn
from pydantic import BaseModel

try:
    from mcp.server.mcpserver import Context, MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
except ImportError:
    from mcp.server.fastmcp import Context, FastMCP as MCPServer
    from mcp.server.fastmcp.exceptions import ToolError

port, mode = int(sys.argv[1]), sys.argv[2]
mcp = MCPServer("python")
options = {"stateless": {"stateless_http": True}, "json": {"json_response": True}}.get(mode, {})


class Name(BaseModel):
    name: str


@mcp.tool()
def echo(text: str) -> str:
    """Says it back."""
    return text


@mcp.tool()
async def slow(ctx: Context, steps: int = 3, pause_ms: int = 50) -> str:
    """Takes some time and tells how far it is."""
    for step in range(steps):
        await ctx.report_progress(step + 1, steps, f"step {step + 1}")
        await asyncio.sleep(pause_ms / 1000)
    return f"{steps} steps"


@mcp.tool()
def fail(reason: str) -> str:
    """Fails."""
    raise ToolError(reason)


if hasattr(mcp, "settings") and hasattr(mcp.settings, "stateless_http"):

    async def ask(ctx: Context) -> str:
        """Asks the user."""
        told = await ctx.elicit("Who are you?", Name)
        return f"Hello, {told.data.name}" if told.action == "accept" else told.action

    # Without a session, or in JSON, there is no way to ask.
    if not options:
        mcp.tool()(ask)
    for name, value in options.items():
        setattr(mcp.settings, name, value)
    app = mcp.sse_app() if mode == "sse" else mcp.streamable_http_app()
else:
    from typing import Annotated

    from mcp.server.mcpserver.resolve import Elicit, Resolve

    def who() -> Elicit[Name]:
        """The question, put to the user as the era of the request has it."""
        return Elicit("Who are you?", Name)

    @mcp.tool()
    def ask(told: Annotated[Name, Resolve(who)]) -> str:
        """Asks the user."""
        return f"Hello, {told.name}"

    app = mcp.sse_app() if mode == "sse" else mcp.streamable_http_app(**options)

uvicorn.run(app, host="127.0.0.1", port=port, log_level="error", timeout_graceful_shutdown=1)
