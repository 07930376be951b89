"""The client of the Python SDK; see `converse.py`."""

from contextlib import AsyncExitStack, asynccontextmanager

from mcp import StdioServerParameters
from mcp.client import Client
from mcp_types import (
    PromptReference,
    ResourceTemplateReference,
    SamplingCapability,
    SamplingToolsCapability,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

import converse


class Adapter:
    """The methods of a conversation, by those of the SDK."""

    def __init__(self, client, stack):
        self.client, self.stack = client, stack
        self.version = client.protocol_version
        self.modern = self.version in MODERN_PROTOCOL_VERSIONS
        self.server = converse.plain(client.server_info)
        resources = client.server_capabilities.resources
        self.subscribes = bool(resources and resources.subscribe)

    def has(self, feature):
        """Whether the server declared it."""
        return getattr(self.client.server_capabilities, feature) is not None

    async def pages(self, list_page, member):
        """All pages of a list, read anew."""
        found, cursor = [], None
        while True:
            page = await list_page(cursor=cursor)
            found += getattr(page, member)
            cursor = page.next_cursor
            if cursor is None:
                return found

    async def tools(self):
        return await self.pages(self.client.list_tools, "tools")

    async def resources(self):
        return await self.pages(self.client.list_resources, "resources")

    async def templates(self):
        return await self.pages(self.client.list_resource_templates, "resource_templates")

    async def prompts(self):
        return await self.pages(self.client.list_prompts, "prompts")

    async def call(self, name, arguments, progress):
        return await self.client.call_tool(name, arguments, progress_callback=progress)

    async def read(self, uri):
        return await self.client.read_resource(uri)

    async def prompt(self, name, arguments):
        return await self.client.get_prompt(name, arguments)

    async def complete(self, ref, argument, context):
        kind = PromptReference if ref["type"] == "ref/prompt" else ResourceTemplateReference
        return await self.client.complete(kind.model_validate(ref), argument, context)

    async def ping(self):
        await self.client.send_ping()

    async def set_level(self, level):
        await self.client.set_logging_level(level)

    async def roots_changed(self):
        await self.client.send_roots_list_changed()

    async def subscribe(self, uri):
        await self.client.subscribe_resource(uri)

    async def unsubscribe(self, uri):
        await self.client.unsubscribe_resource(uri)

    def changes(self):
        """The kinds of change that the server tells."""
        has = self.client.server_capabilities
        kinds = {"tools": has.tools, "prompts": has.prompts, "resources": has.resources}
        return {f"{kind}_list_changed": True for kind, one in kinds.items() if one and one.list_changed}

    async def listen(self, uri, change):
        """What was promised, and what came first. Listens until all has come that the change brings:
        what comes while the listening ends is told in one session, and not in the next."""
        wanted = self.changes() | ({"resource_subscriptions": [uri]} if self.subscribes else {})
        if not wanted:
            await change()
            return None
        async with self.client.listen(**wanted) as subscription:
            await change()
            last = first = await anext(subscription)
            while self.subscribes and uri not in str(last):
                last = await anext(subscription)
        return {"honored": converse.plain(subscription.honored), "first": str(first)}

    async def stay(self):
        """Listens until the connection is closed, where there is something to listen to."""
        if self.stack is not None and self.modern and self.changes():
            await self.stack.enter_async_context(self.client.listen(**self.changes()))


def callbacks(answers):
    """What the client does when the server asks or tells."""

    async def sample(context, params):
        return answers.sample(params)

    async def elicit(context, params):
        return answers.elicit(params)

    async def roots(context):
        return answers.roots()

    async def hear(message):
        await answers.hear(getattr(message, "method", "error"))

    return {
        "sampling_callback": sample,
        "sampling_capabilities": SamplingCapability(tools=SamplingToolsCapability()),
        "elicitation_callback": elicit,
        "list_roots_callback": roots,
        "message_handler": hear,
        "log_level": "info",
    }


@asynccontextmanager
async def connect(mode, command, answers):
    """An adapter of a connected client."""
    program, *args = command
    server = program if program.startswith("http:") else StdioServerParameters(command=program, args=args)
    options = callbacks(answers)
    if mode != "known":
        async with Client(server, mode=mode, **options) as client:
            yield Adapter(client, None)
        return
    async with Client(server) as first:
        known = {"mode": first.protocol_version, "prior_discover": first.session.discover_result}
    async with Client(server, **known, **options) as client, AsyncExitStack() as stack:
        yield Adapter(client, stack)


if __name__ == "__main__":
    converse.main(connect)
