"""A client of the Python SDK 1.x.   http_python1.py URL [LOG] [legacy|sse]"""
from contextlib import asynccontextmanager
from mcp import ClientSession
from mcp.client.sse import sse_client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
from mcp.types import ElicitResult
import http_plan as plan


class Adapter:
    def __init__(self, session, version):
        self.session, self.version = session, version

    async def list(self):
        return (await self.session.list_tools()).tools

    async def call(self, name, arguments, progress):
        return await self.session.call_tool(name, arguments, progress_callback=progress)


async def elicit(context, params):
    return ElicitResult(action="accept", content=plan.answer(params.message, params.requestedSchema))


def factory(headers=None, timeout=None, auth=None):
    return plan.hooked(create_mcp_http_client(headers=headers, timeout=timeout, auth=auth))


@asynccontextmanager
async def connect(url, mode):
    transport = sse_client(url, httpx_client_factory=factory) if mode == "sse" else streamable_http_client(url, http_client=factory())
    async with transport as (read, write, *_), ClientSession(read, write, elicitation_callback=elicit) as session:
        yield Adapter(session, (await session.initialize()).protocolVersion)


plan.run(connect)
