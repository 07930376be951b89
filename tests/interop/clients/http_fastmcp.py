"""A client of FastMCP.   http_fastmcp.py URL [LOG] [auto|legacy|2026-07-28|sse]"""
from contextlib import asynccontextmanager
from fastmcp import Client
from fastmcp.client.transports import SSETransport, StreamableHttpTransport
from mcp.client.streamable_http import create_mcp_http_client
from mcp_types import ElicitResult
import http_plan as plan


class Adapter:
    def __init__(self, client):
        self.client, self.version = client, client.protocol_version

    async def list(self):
        return await self.client.list_tools()

    async def call(self, name, arguments, progress):
        return await self.client.call_tool_mcp(name, arguments, progress_handler=progress)


async def elicit(message, response_type, params, context):
    return ElicitResult(action="accept", content=plan.answer(message, params.requested_schema))


def factory(headers=None, timeout=None, auth=None, **_):
    return plan.hooked(create_mcp_http_client(headers=headers, timeout=timeout, auth=auth))


@asynccontextmanager
async def connect(url, mode):
    sse = mode == "sse"
    transport = (SSETransport if sse else StreamableHttpTransport)(url, httpx_client_factory=factory)
    async with Client(transport, mode="legacy" if sse else mode, elicitation_handler=elicit) as client:
        yield Adapter(client)


plan.run(connect)
