"""A conversation of the Python SDK with the server of a command line, as one JSON document.

    drive.py MODE COMMAND [ARGUMENT]...

MODE is `legacy` (the initialize handshake) or `auto` (a probe for the modern era first). The
document holds what the client saw, and nothing that differs from run to run.
"""

import asyncio
import json
import sys

from mcp import StdioServerParameters
from mcp.client import Client
from mcp_types import (
    CreateMessageResult,
    ElicitResult,
    ListRootsResult,
    Root,
    TextContent,
)

CONCURRENT = 30

asked = []
progress = []


async def sample(context, params):
    """Answers the server's question for a model."""
    asked.append("sampling")
    text = TextContent(type="text", text="forty-two")
    return CreateMessageResult(role="assistant", content=text, model="none", stop_reason="endTurn")


async def elicit(context, params):
    """Answers the server's question for the user."""
    asked.append("elicitation")
    return ElicitResult(action="decline")


async def roots(context):
    """Answers the server's question for the folders."""
    asked.append("roots")
    return ListRootsResult(roots=[Root(uri="file:///tmp", name="tmp")])


async def told(done, total, message):
    """Keeps how far the server says that it is."""
    progress.append([done, total])


def plain(value):
    """A result of the SDK as JSON."""
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


async def attempt(call):
    """A result, or the error in its place."""
    try:
        return plain(await call)
    except Exception as error:  # noqa: BLE001 (whatever the client raises is what it saw)
        return {"error": f"{type(error).__name__}: {error}"}


async def converse(client):
    """All that the client sees."""
    tools = await client.list_tools()
    resources = await client.list_resources()
    calls = [client.call_tool("get-sum", {"a": n, "b": n * n}) for n in range(CONCURRENT)]
    long = {"duration": 1, "steps": 4}
    return {
        "version": client.protocol_version,
        "server": plain(client.server_info),
        "tools": sorted(tool.name for tool in tools.tools),
        "resources": plain(resources),
        "contents": [await attempt(client.read_resource(one.uri)) for one in resources.resources],
        "templates": await attempt(client.list_resource_templates()),
        "prompts": await attempt(client.list_prompts()),
        "prompt": await attempt(client.get_prompt("args-prompt", {"city": "Oslo"})),
        "echo": await attempt(client.call_tool("echo", {"message": "Grüße \u2028 \U0001f9ed " * 5000})),
        "image": await attempt(client.call_tool("get-tiny-image", {})),
        "structured": await attempt(client.call_tool("get-structured-content", {"location": "Chicago"})),
        "missing": await attempt(client.call_tool("no-such-tool", {})),
        "wrong": await attempt(client.call_tool("get-sum", {"a": "one"})),
        "sums": [plain(result) for result in await asyncio.gather(*calls)],
        "long": await attempt(
            client.call_tool("trigger-long-running-operation", long, progress_callback=told)
        ),
        "sampling": await attempt(
            client.call_tool("trigger-sampling-request", {"prompt": "?", "maxTokens": 10})
        ),
        "elicitation": await attempt(client.call_tool("trigger-elicitation-request", {})),
        "roots": await attempt(client.call_tool("get-roots-list", {})),
    }


async def main():
    mode, command, *arguments = sys.argv[1:]
    server = StdioServerParameters(command=command, args=arguments)
    callbacks = {
        "sampling_callback": sample,
        "elicitation_callback": elicit,
        "list_roots_callback": roots,
    }
    async with Client(server, mode=mode, **callbacks) as client:
        seen = await converse(client)
    seen |= {"asked": sorted(set(asked)), "progress": progress}
    json.dump(seen, sys.stdout, indent=1, sort_keys=True)


asyncio.run(main())
