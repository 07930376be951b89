"""A rich and correct conversation with any server, for the clients in Python.

    CLIENT.py <sessions.json

What comes in is a list of sessions, each with a `mode`, a `plan`, a `folder` and a `command`. The
mode is `legacy` (the handshake), `auto` (a probe for the modern era first) or `known` (what a first
connection discovered is used for a second one, which still listens to changes when it ends). The
plan is what to ask this server, a part of `plans.json`; the folder the one place in the file system
that server and client talk about; the command starts the server. Prints what the client saw of each
as a list in JSON, without what differs from run to run.

Only what the server declared is used. An adapter gives each SDK the same methods.
"""

import asyncio
import json
import sys
import traceback

from mcp_types import (
    CreateMessageResult,
    CreateMessageResultWithTools,
    ElicitResult,
    ListRootsResult,
    Root,
    TextContent,
    ToolUseContent,
)

DEADLINE = 120


class Answers:
    """What the client says when the server asks, and what the server told it unasked."""

    def __init__(self, folder):
        self.root = f"file://{folder}"
        self.asked = set()
        self.told = asyncio.Condition()
        self.heard = []

    def sample(self, params):
        """The model uses a tool if it has one and did not yet; else it answers."""
        self.asked.add("sampling with tools" if params.tools else "sampling")
        if params.tools and len(params.messages) == 1:
            use = ToolUseContent(type="tool_use", id="use-1", name=params.tools[0].name, input={})
            about = {"role": "assistant", "model": "none", "stop_reason": "toolUse"}
            return CreateMessageResultWithTools(content=[use], **about)
        text = TextContent(type="text", text="forty-two")
        return CreateMessageResult(role="assistant", content=text, model="none", stop_reason="endTurn")

    def elicit(self, params):
        """The user fills in every form and goes to every page."""
        self.asked.add(f"elicitation {params.mode}")
        if params.mode == "url":
            return ElicitResult(action="accept")
        return ElicitResult(action="accept", content=form(params.requested_schema))

    def roots(self):
        """The one folder."""
        self.asked.add("roots")
        return ListRootsResult(roots=[Root(uri=self.root, name="folder")])

    async def hear(self, method):
        """A notification came in."""
        async with self.told:
            self.heard.append(method)
            self.told.notify_all()

    async def wait(self, method, already):
        """Until one more notification of this kind was heard than before."""
        async with asyncio.timeout(DEADLINE), self.told:
            await self.told.wait_for(lambda: self.heard.count(method) > already)


def form(schema):
    """Content that fits the form that the server wants filled in."""
    return {name: value(one) for name, one in schema["properties"].items()}


def value(schema):
    """A value that fits a field of a form."""
    if "default" in schema:
        return schema["default"]
    if "oneOf" in schema:
        return schema["oneOf"][0]["const"]
    by_format = {"email": "ada@example.com", "uri": "https://example.com", "date": "1815-12-10"}
    plain = {"boolean": True, "integer": 7, "number": 7.5, "string": "Ada"}
    return by_format.get(schema.get("format"), plain[schema["type"]])


def plain(result):
    """A result of the SDK as JSON."""
    if isinstance(result, list):
        return [plain(one) for one in result]
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


async def attempt(call):
    """A result, or the error in its place."""
    try:
        return plain(await call)
    except Exception as error:  # noqa: BLE001 (whatever the client raises is what it saw)
        return {"error": f"{type(error).__name__}: {error}"}


def outline(result):
    """What stays the same of a result that varies from run to run."""
    parts = result.get("content") or result.get("messages") or result.get("contents") or []
    return {"members": sorted(result), "parts": len(parts)}


class Conversation:
    """Goes through a plan with one connected client."""

    def __init__(self, client, answers, plan):
        self.client, self.answers, self.plan = client, answers, plan

    async def run(self):
        """All that the client sees."""
        has = self.client.has
        seen = {"version": self.client.version, "server": self.client.server}
        if has("logging") and not self.client.modern:
            await self.client.set_level("debug")
        if not self.client.modern:
            await self.client.ping()
        if has("tools"):
            seen["tools"] = plain(await self.client.tools())
        if has("resources"):
            seen["resources"] = await self.resources()
        if has("prompts"):
            seen["prompts"] = await self.prompts()
        if has("completions"):
            seen["completions"] = [await self.complete(one) for one in self.plan.get("complete", [])]
        if has("tools"):
            names = {tool["name"] for tool in seen["tools"]}
            seen["calls"] = await self.calls(names)
        if not self.client.modern:
            await self.client.roots_changed()
        seen["watched"] = await self.watch(plan) if (plan := self.plan.get("watch")) else None
        seen["later"] = await self.lists()
        await self.client.stay()
        return seen

    async def lists(self):
        """How long every list has become: somebody may have said that it changed."""
        kinds = ["tools", "resources", "prompts"]
        return {kind: len(await getattr(self.client, kind)()) for kind in kinds if self.client.has(kind)}

    async def resources(self):
        """Every resource, those of the plan, and one that is not there."""
        listed = await self.client.resources()
        templates = await self.client.templates()
        uris = [str(one.uri) for one in listed][:8] + self.plan.get("read", [])
        read = [await attempt(self.client.read(uri)) for uri in uris]
        read = [one if "note:" in uri else outline({"contents": one}) for uri, one in zip(uris, read)]
        if missing := self.plan.get("missing"):
            read.append(await attempt(self.client.read(missing)))
        return {"listed": plain(listed), "templates": plain(templates), "read": read}

    async def prompts(self):
        """Every prompt, and those of the plan."""
        seen = {"listed": plain(await self.client.prompts())}
        for one in self.plan.get("prompts", []):
            result = await attempt(self.client.prompt(one["name"], one.get("arguments")))
            seen[one["name"]] = outline(result) if one.get("varies") else result
        return seen

    async def complete(self, one):
        """What can stand in place of an argument."""
        return await attempt(self.client.complete(one["ref"], one["argument"], one.get("context")))

    async def calls(self, names):
        """The calls of the plan of which the server has the tool."""
        seen = []
        for call in self.plan["calls"]:
            if call["tool"] not in names or call.get("task"):
                continue
            if call.get("cancel"):
                await self.cancelled(call)
                continue
            times = range(call.get("times", 1))
            results = await asyncio.gather(*(self.call(call) for _ in times))
            seen += [outline(one) if call.get("varies") else one for one in results]
        return seen

    async def call(self, call):
        """A call with its progress, if that is wanted."""
        steps = []

        async def progress(done, total, message):
            steps.append([done, total, message])

        told = progress if call.get("progress") else None
        result = await attempt(self.client.call(call["tool"], call.get("arguments", {}), told))
        # The last step comes with the answer, after which no client needs to listen.
        return result | ({"steps": steps[:3]} if steps else {})

    async def cancelled(self, call):
        """A call that is given up when its first progress is told."""
        started = asyncio.Event()

        async def progress(done, total, message):
            started.set()

        task = asyncio.create_task(self.client.call(call["tool"], call["arguments"], progress))
        async with asyncio.timeout(DEADLINE):
            await started.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def watch(self, plan):
        """Subscribes to a resource, or to all that changes, and does what changes it."""
        uri, tool = plan["uri"], plan["call"]["tool"]
        if self.client.modern:
            return await self.client.listen(uri, lambda: self.client.call(tool, {}, None))
        if not self.client.subscribes:
            return plain(await self.client.call(tool, {}, None))
        updated = "notifications/resources/updated"
        before = self.answers.heard.count(updated)
        await self.client.subscribe(uri)
        await self.client.call(tool, {}, None)
        await self.answers.wait(updated, before)
        await self.client.unsubscribe(uri)
        return uri


async def session(one, connect):
    """One session of those on stdin."""
    answers = Answers(one["folder"])
    async with asyncio.timeout(DEADLINE), connect(one["mode"], one["command"], answers) as client:
        seen = await Conversation(client, answers, one["plan"]).run()
    return seen | {"asked": sorted(answers.asked)}


async def sessions(connect):
    """Has the sessions on stdin, one after the other."""
    seen = []
    for one in json.load(sys.stdin):
        try:
            result = await session(one, connect)
        except Exception as error:  # noqa: BLE001 (the next session may fare better)
            result = {"error": "".join(traceback.format_exception(error))}
        seen.append(json.loads(json.dumps(result).replace(one["folder"], "${folder}")))
    return seen


def main(connect):
    """Prints what was seen; `connect` gives an adapter for a mode and a command."""
    json.dump(asyncio.run(sessions(connect)), sys.stdout, sort_keys=True)
