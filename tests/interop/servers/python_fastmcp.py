"""A server of FastMCP that has a little of everything, in both eras.

    python_fastmcp.py
"""

import asyncio

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.utilities.types import Image
from mcp_types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    TextContent,
)
from pydantic import BaseModel

PIXEL = b"\x89PNG\r\n"
NOTES = ["first", "second", "third"]

server = FastMCP("notes", version="1.0.0", instructions="Ask for notes.", list_page_size=4)


class Weather(BaseModel):
    """What structured content is made of."""

    city: str
    degrees: float
    sky: list[str]


@server.tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool
def weather(city: str) -> Weather:
    """The weather in a city."""
    return Weather(city=city, degrees=21.5, sky=["clear", "windy"])


@server.tool
def fail(reason: str) -> str:
    """Fails by its nature."""
    raise ToolError(reason)


@server.tool
async def steps(count: int, ctx: Context, pause_ms: int = 10) -> str:
    """Takes some time and tells how far it is."""
    for step in range(count):
        await ctx.report_progress(step + 1, count, f"step {step + 1}")
        await asyncio.sleep(pause_ms / 1000)
    return f"{count} steps"


@server.tool
async def say(text: str, ctx: Context) -> str:
    """Writes to the log of the client."""
    await ctx.debug(f"about to say {text}")
    await ctx.warning(text)
    return text


@server.tool
def show() -> list:
    """Content of several kinds."""
    return ["a pixel", Image(data=PIXEL, format="png")]


def question(key):
    """What the server wants to know of its client."""
    if key == "user":
        schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        params = ElicitRequestFormParams(message="Who are you?", requested_schema=schema)
        return ElicitRequest(params=params)
    if key == "model":
        text = TextContent(type="text", text="What is the answer?")
        messages = [SamplingMessage(role="user", content=text)]
        return CreateMessageRequest(params=CreateMessageRequestParams(messages=messages, max_tokens=20))
    return ListRootsRequest()


async def answer(key, ctx):
    """The client's answer; `None` where it is still to be asked, by a result of the modern era."""
    if ctx.request_context.protocol_version >= "2026":
        return (ctx.input_responses or {}).get(key)
    if key == "user":
        if ctx.session.client_capabilities.elicitation is None:
            raise ToolError("the user cannot be asked")
        params = question(key).params
        return await ctx.session.elicit(params.message, params.requested_schema)
    if key == "model":
        params = question(key).params
        return await ctx.session.create_message(params.messages, max_tokens=params.max_tokens)
    return await ctx.session.list_roots()


@server.tool
async def greet_user(ctx: Context) -> str | InputRequiredResult:
    """Asks the user."""
    told = await answer("user", ctx)
    if told is None:
        return InputRequiredResult(input_requests={"user": question("user")}, request_state="greeting")
    return f"Hello, {told.content['name']}"


@server.tool
async def ask_model(ctx: Context) -> str | InputRequiredResult:
    """Asks the model of the client."""
    told = await answer("model", ctx)
    if told is None:
        return InputRequiredResult(input_requests={"model": question("model")})
    return told.content.text


@server.tool
async def list_folders(ctx: Context) -> str | InputRequiredResult:
    """Asks for the folders of the client."""
    told = await answer("roots", ctx)
    if told is None:
        return InputRequiredResult(input_requests={"roots": question("roots")})
    return " ".join(str(root.uri) for root in told.roots)


@server.tool
async def grow(ctx: Context) -> str:
    """One tool more."""

    def extra() -> str:
        """Was not there from the start."""
        return "extra"

    server.add_tool(extra)
    return "grown"


@server.resource("note://first", mime_type="text/plain")
def first() -> str:
    """A note."""
    return "the first note"


@server.resource("note://pixel", mime_type="image/png")
def pixel() -> bytes:
    """A note that is no text."""
    return PIXEL


@server.resource("note://by-name/{name}", mime_type="text/plain")
def note(name: str) -> str:
    """A note by its name."""
    return f"the note {name}"


@server.prompt
def summarise(note: str, style: str = "short") -> str:
    """Asks for the summary of a note."""
    return f"Summarise the note {note}: {style}."


@server.completion
def complete(ref, argument, context):
    """The names of notes."""
    return [name for name in NOTES if name.startswith(argument.value)]


server.run(show_banner=False)
