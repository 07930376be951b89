"""A client of the Python SDK 2.x.   http_python.py URL [LOG] [auto|legacy|2026-07-28|sse]"""
from contextlib import asynccontextmanager
from mcp.client import Client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
from mcp_types import ElicitResult
import http_plan as plan


class Adapter:
    def __init__(self, client):
        self.client, self.version = client, client.protocol_version

    async def list(self):
        return (await self.client.list_tools()).tools

    async def call(self, name, arguments, progress):
        return await self.client.call_tool(name, arguments, progress_callback=progress)


async def elicit(context, params):
    return ElicitResult(action="accept", content=plan.answer(params.message, params.requested_schema))


@asynccontextmanager
async def connect(url, mode):
    if mode == "sse":
        from mcp.client.sse import sse_client

        def factory(headers=None, timeout=None, auth=None):
            return plan.hooked(create_mcp_http_client(headers=headers, timeout=timeout, auth=auth))

        async with Client(sse_client(url, httpx_client_factory=factory), mode="legacy", elicitation_callback=elicit) as client:
            yield Adapter(client)
        return
    async with plan.hooked(create_mcp_http_client()) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode, elicitation_callback=elicit) as client:
            yield Adapter(client)


plan.run(connect)
