"""The client of FastMCP; see `converse.py`."""

from contextlib import asynccontextmanager

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from mcp_types import (
    PromptReference,
    ResourceTemplateReference,
    SamplingCapability,
    SamplingToolsCapability,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

import converse


class Adapter:
    """The methods of a conversation, by those of the client."""

    def __init__(self, client):
        self.client = client
        self.version = client.protocol_version
        self.modern = self.version in MODERN_PROTOCOL_VERSIONS
        self.server = converse.plain(client.server_info)
        resources = client.server_capabilities.resources
        self.subscribes = bool(resources and resources.subscribe)

    def has(self, feature):
        """Whether the server declared it."""
        return getattr(self.client.server_capabilities, feature) is not None

    async def tools(self):
        return await self.client.list_tools()

    async def resources(self):
        return await self.client.list_resources()

    async def templates(self):
        return await self.client.list_resource_templates()

    async def prompts(self):
        return await self.client.list_prompts()

    async def call(self, name, arguments, progress):
        return await self.client.call_tool_mcp(name, arguments, progress_handler=progress)

    async def read(self, uri):
        return await self.client.read_resource(uri)

    async def prompt(self, name, arguments):
        return await self.client.get_prompt(name, arguments)

    async def complete(self, ref, argument, context):
        kind = PromptReference if ref["type"] == "ref/prompt" else ResourceTemplateReference
        return await self.client.complete(kind.model_validate(ref), argument, context)

    async def ping(self):
        await self.client.ping()

    async def set_level(self, level):
        await self.client.set_logging_level(level)

    async def roots_changed(self):
        await self.client.send_roots_list_changed()

    async def subscribe(self, uri):
        await self.client.session.subscribe_resource(uri)

    async def unsubscribe(self, uri):
        await self.client.session.unsubscribe_resource(uri)

    async def listen(self, uri, change):
        """This client does not listen; it only does what would change something."""
        await change()

    async def stay(self):
        """Nor at the end."""


def handlers(answers):
    """What the client does when the server asks or tells."""

    async def sample(messages, params, context):
        return answers.sample(params)

    async def elicit(message, response_type, params, context):
        return answers.elicit(params)

    async def roots(context):
        return answers.roots().roots

    async def hear(message):
        await answers.hear(getattr(message, "method", "error"))

    return {
        "sampling_handler": sample,
        "sampling_capabilities": SamplingCapability(tools=SamplingToolsCapability()),
        "elicitation_handler": elicit,
        "roots": roots,
        "message_handler": hear,
    }


@asynccontextmanager
async def connect(mode, command, answers):
    """An adapter of a connected client."""
    transport = StdioTransport(command=command[0], args=command[1:], keep_alive=False)
    async with Client(transport, mode=mode, **handlers(answers)) as client:
        yield Adapter(client)


if __name__ == "__main__":
    converse.main(connect)
