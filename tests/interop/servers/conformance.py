"""A server of FastMCP with what the official conformance suite calls.   conformance.py PORT"""
import asyncio
import base64
import sys

import uvicorn
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.prompts import Message
from fastmcp.server.event_store import EventStore
from mcp_types import AudioContent, EmbeddedResource, ImageContent, SamplingMessage, TextContent

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WAV = base64.b64encode(b"RIFF&\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0\x80>\0\0\2\0\x10\0data\2\0\0\0\0\0").decode()
mcp = FastMCP("conformance", version="1.0.0")
plain_tool, plain_prompt = mcp.tool, mcp.prompt
mcp_tool = lambda function: plain_tool(function, description=function.__name__, output_schema=None)
mcp_prompt = lambda function: plain_prompt(function, description=function.__name__)
text = lambda said: TextContent(type="text", text=said)
image = lambda: ImageContent.model_validate({"type": "image", "data": PIXEL, "mimeType": "image/png"})
embedded = lambda uri, said: EmbeddedResource.model_validate({"type": "resource", "resource": {"uri": uri, "mimeType": "text/plain", "text": said}})


@mcp_tool
def test_simple_text() -> list:
    return [text("This is a simple text response for testing.")]


@mcp_tool
def test_image_content() -> list:
    return [image()]


@mcp_tool
def test_audio_content() -> list:
    return [AudioContent.model_validate({"type": "audio", "data": WAV, "mimeType": "audio/wav"})]


@mcp_tool
def test_embedded_resource() -> list:
    return [embedded("test://embedded-resource", "This is an embedded resource content.")]


@mcp_tool
def test_multiple_content_types() -> list:
    return [text("Multiple content types test:"), image(), embedded("test://mixed-content-resource", '{"test":"data","value":123}')]


@mcp_tool
async def test_tool_with_logging(ctx: Context) -> list:
    for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(said)
        await asyncio.sleep(0.05)
    return [text("Logged three times.")]


@mcp_tool
async def test_tool_with_progress(ctx: Context) -> list:
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100)
        await asyncio.sleep(0.05)
    return [text("Done.")]


@mcp_tool
def test_error_handling() -> str:
    raise ToolError("This tool intentionally returns an error for testing")


@mcp_tool
async def test_sampling(prompt: str, ctx: Context) -> list:
    message = SamplingMessage(role="user", content=text(prompt))
    answer = await ctx.session.create_message(messages=[message], max_tokens=100, related_request_id=ctx.request_id)
    return [text(f"LLM response: {answer.content.text}")]


@mcp_tool
async def test_elicitation(message: str, ctx: Context) -> list:
    schema = {"type": "object", "properties": {"username": {"type": "string", "description": "User's response"}, "email": {"type": "string", "description": "User's email address"}}, "required": ["username", "email"]}
    told = await ctx.session.elicit(message, schema, related_request_id=ctx.request_id)
    return [text(f"User response: action={told.action}, content={told.content}")]


@mcp_tool
async def test_elicitation_sep1034_defaults(ctx: Context) -> list:
    schema = {"type": "object", "properties": {
        "name": {"type": "string", "default": "John Doe"}, "age": {"type": "integer", "default": 30}, "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"}, "verified": {"type": "boolean", "default": True}}}
    told = await ctx.session.elicit("Please review and update the form fields with defaults", schema, related_request_id=ctx.request_id)
    return [text(f"Elicitation completed: action={told.action}, content={told.content}")]


@mcp_tool
async def test_elicitation_sep1330_enums(ctx: Context) -> list:
    titled = lambda values: [{"const": value, "title": value.title()} for value in values]
    schema = {"type": "object", "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": titled(["value1", "value2", "value3"])},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled(["value1", "value2", "value3"])}}}}
    told = await ctx.session.elicit("Please select", schema, related_request_id=ctx.request_id)
    return [text(f"Elicitation completed: action={told.action}, content={told.content}")]


@mcp_tool
async def test_reconnection(ctx: Context) -> list:
    await ctx.close_sse_stream()
    await asyncio.sleep(0.1)
    return [text("Reconnection test completed")]


@mcp.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    return "This is the content of the static text resource."


@mcp.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    return base64.b64decode(PIXEL)


@mcp.resource("test://watched-resource", mime_type="text/plain")
def watched() -> str:
    return "Watched."


@mcp.resource("test://template/{id}/data", mime_type="application/json")
def template(id: str) -> str:
    return f'{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}'


@mcp_prompt
def test_simple_prompt() -> str:
    return "This is a simple prompt for testing."


@mcp_prompt
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@mcp_prompt
def test_prompt_with_embedded_resource(resourceUri: str) -> list[Message]:
    return [Message(embedded(resourceUri, "Embedded resource content for testing.")), Message("Please process the embedded resource above.")]


@mcp_prompt
def test_prompt_with_image() -> list[Message]:
    return [Message(image()), Message("Please analyze the image above.")]


app = mcp.http_app(path="/mcp", event_store=EventStore(), retry_interval=500)
names = [f"{name}:{sys.argv[1]}".encode() for name in ("127.0.0.1", "localhost")]


async def guarded(scope, receive, send):
    """As servers do that protect themselves against DNS rebinding: who comes by another name is refused."""
    if scope["type"] == "http" and dict(scope["headers"]).get(b"host") not in names:
        await send({"type": "http.response.start", "status": 421, "headers": []})
        return await send({"type": "http.response.body", "body": b""})
    await app(scope, receive, send)


uvicorn.run(guarded, host="127.0.0.1", port=int(sys.argv[1]), log_level="error", timeout_graceful_shutdown=1)
