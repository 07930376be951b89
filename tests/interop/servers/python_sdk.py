"""A server of the Python SDK that has a little of everything, in both eras.

    python_sdk.py
"""

import asyncio
from typing import Annotated

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, ListRoots, Resolve, Sample
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import (
    Completion,
    CreateMessageResult,
    CreateMessageResultWithTools,
    ImageContent,
    ListRootsResult,
    ResourceLink,
    SamplingMessage,
    TextContent,
    Tool,
    ToolResultContent,
)
from pydantic import BaseModel

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
NOTES = ["first", "second", "third"]

server = MCPServer("notes", title="Notes", version="1.0.0", instructions="Ask for notes.")


class Weather(BaseModel):
    """What structured content is made of."""

    city: str
    degrees: float
    sky: list[str]


class Name(BaseModel):
    """What the user is asked for."""

    name: str
    age: int = 30


@server.tool(title="Add")
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def weather(city: str) -> Weather:
    """The weather in a city."""
    return Weather(city=city, degrees=21.5, sky=["clear", "windy"])


@server.tool()
def fail(reason: str) -> str:
    """Fails by its nature."""
    raise ToolError(reason)


@server.tool()
async def steps(count: int, ctx: Context, pause_ms: int = 10) -> str:
    """Takes some time and tells how far it is."""
    for step in range(count):
        await ctx.report_progress(step + 1, count, f"step {step + 1}")
        await asyncio.sleep(pause_ms / 1000)
    return f"{count} steps"


@server.tool()
async def say(text: str, ctx: Context) -> str:
    """Writes to the log of the client."""
    await ctx.debug(f"about to say {text}")
    await ctx.warning({"text": text})
    return text


@server.tool()
def show(ctx: Context) -> list[TextContent | ImageContent | ResourceLink]:
    """Content of several kinds."""
    text = TextContent(type="text", text="a pixel, and where to read on")
    image = ImageContent(type="image", data=PIXEL, mime_type="image/png")
    link = ResourceLink(type="resource_link", uri="note://first", name="first")
    # Links are content since that revision.
    return [text, image] if ctx.protocol_version < "2025-06-18" else [text, image, link]


def who() -> Elicit[Name]:
    """The question that is put to the user."""
    return Elicit("Who are you?", Name)


def thought() -> Sample:
    """The question that is put to the model."""
    text = TextContent(type="text", text="What is the answer?")
    return Sample([SamplingMessage(role="user", content=text)], max_tokens=20)


DICE = Tool(name="dice", description="Throws a die.", input_schema={"type": "object"})
THROW = SamplingMessage(role="user", content=TextContent(type="text", text="Throw a die."))


def thrown() -> Sample:
    """The question that the model needs a tool for."""
    return Sample([THROW], max_tokens=20, tools=[DICE])


def told(use: Annotated[CreateMessageResultWithTools, Resolve(thrown)]) -> Sample:
    """The same question with what the tool said."""
    four = [TextContent(type="text", text="4")]
    answer = ToolResultContent(type="tool_result", tool_use_id=use.content[0].id, content=four)
    asked = [THROW, SamplingMessage(role="assistant", content=use.content)]
    return Sample([*asked, SamplingMessage(role="user", content=[answer])], max_tokens=20, tools=[DICE])


def folders() -> ListRoots:
    """The question for the folders of the client."""
    return ListRoots()


@server.tool()
def greet_user(name: Annotated[Name, Resolve(who)]) -> str:
    """Asks the user."""
    return f"Hello, {name.name}"


@server.tool()
def ask_model(answer: Annotated[CreateMessageResult, Resolve(thought)]) -> str:
    """Asks the model of the client."""
    return answer.content.text


@server.tool()
def throw(answer: Annotated[CreateMessageResultWithTools, Resolve(told)]) -> str:
    """Asks the model, which asks back for a tool."""
    return answer.content.text


@server.tool()
def list_folders(roots: Annotated[ListRootsResult, Resolve(folders)]) -> list[str]:
    """Asks for the folders of the client."""
    return [str(root.uri) for root in roots.roots]


@server.tool()
async def grow(ctx: Context) -> str:
    """One tool more, and one note that is another than it was."""
    def extra() -> str:
        """Was not there from the start."""
        return "extra"

    server.add_tool(extra)
    await ctx.notify_tools_changed()
    await ctx.notify_resource_updated("note://first")
    return "grown"


@server.resource("note://first", mime_type="text/plain")
def first() -> str:
    """A note."""
    return "the first note"


@server.resource("note://pixel", mime_type="image/png")
def pixel() -> bytes:
    """A note that is no text."""
    return b"\x89PNG\r\n"


@server.resource("note://by-name/{name}", mime_type="text/plain")
def note(name: str) -> str:
    """A note by its name."""
    return f"the note {name}"


@server.prompt(title="Summarise")
def summarise(note: str, style: str = "short") -> str:
    """Asks for the summary of a note."""
    return f"Summarise the note {note}: {style}."


@server.completion()
async def complete(ref, argument, context):
    """The names of notes."""
    values = [name for name in NOTES if name.startswith(argument.value)]
    return Completion(values=values, total=len(values), has_more=False)


server.run()
