"""What every Python client does; the same as http_plan.cjs.

Adapter: version, session(), list() -> tools (with .name), call(name, arguments, progress) -> result, ping(). Results on stdout, one JSON per line.
Log (second argument): one JSON per HTTP request: n, method, path, status, rpc, id, ms (until the head of the answer);
one per call of a tool: call, arguments, what came of it (outcome, text), ms (until it came);
and one per question of the server: asked, answered.
"""
import asyncio, hashlib, json, os, sys, time

URL = sys.argv[1]
LOG = open(sys.argv[2] if len(sys.argv) > 2 else os.devnull, "w", buffering=1)
MODE = sys.argv[3] if len(sys.argv) > 3 else "auto"
LIMIT = float(os.environ.get("PEER_LIMIT", "10"))
COUNT = 0


def line(step, **what):
    print(json.dumps({"step": step, **what}, sort_keys=True, ensure_ascii=False), flush=True)


async def on_request(request):
    global COUNT
    COUNT += 1
    request.extensions["peer"] = {"n": COUNT, "t": time.monotonic()}


async def on_response(response):
    request = response.request
    peer = request.extensions.get("peer", {"n": 0, "t": 0})
    try:
        body = json.loads(request.content) if request.method == "POST" else {}
    except Exception:
        body = {}
    LOG.write(json.dumps({
        "n": peer["n"], "method": request.method, "path": request.url.raw_path.decode(), "status": response.status_code,
        "rpc": body.get("method", "answer" if "result" in body or "error" in body else None), "id": body.get("id"),
        "type": response.headers.get("content-type", "").split(";")[0], "ms": round((time.monotonic() - peer["t"]) * 1000, 1),
    }) + "\n")


def hooked(client):
    client.event_hooks = {"request": [on_request], "response": [on_response]}
    return client


def answer(message, schema):
    """What the user says to a question; both stand in the log."""
    schema = schema if isinstance(schema, dict) else schema.model_dump()
    said = {"value" if "value" in schema["properties"] else "name": "Ada"}
    LOG.write(json.dumps({"asked": message, "answered": said}) + "\n")
    return said


def plain(result):
    """A result as text: its parts, whether it is an error; long texts by their hash."""
    if isinstance(result, BaseException):
        return {"error": type(result).__name__ + ": " + str(result)}
    parts = []
    for part in result.content:
        text = getattr(part, "text", None)
        if text is None:
            text = f"<{part.type}>"
        parts.append(text if len(text) < 400 else f"{len(text)} {hashlib.sha256(text.encode()).hexdigest()[:16]}")
    is_error = result.is_error if hasattr(result, "is_error") else result.isError
    return {"content": parts, "isError": bool(is_error)}


async def attempt(adapter, name, arguments, progress=None):
    start = time.monotonic()
    try:
        result = await asyncio.wait_for(adapter.call(name, arguments, progress), LIMIT)
    except Exception as error:
        result = error
    ms = round((time.monotonic() - start) * 1000, 1)
    said = plain(result)
    outcome = "error" if "error" in said else "tool-error" if said["isError"] else "ok"
    text = str(result) if "error" in said else said["content"][0]
    LOG.write(json.dumps({"call": name, "arguments": arguments, "outcome": outcome, "text": text, "ms": ms}) + "\n")
    return result


ARGUMENTS = {"echo": {"text": "héllo ✓"}, "slow": {}, "fail": {"reason": "because"}, "ask": {}, "grow": {}, "cut": {},
             "get-sum": {"a": 2, "b": 3}, "trigger-long-running-operation": {"duration": 0.3, "steps": 3},
             "trigger-elicitation-request": None, "trigger-sampling-request": None, "get-tiny-image": {}}
EVERYTHING = {"echo": {"message": "héllo ✓"}}


async def converse(adapter):
    tools = sorted(tool.name for tool in await adapter.list())
    line("connected", version=adapter.version)
    line("tools", names=tools)
    everything = "get-sum" in tools
    for name in tools:
        arguments = (EVERYTHING if everything else {}).get(name, ARGUMENTS.get(name))
        if arguments is None:
            continue
        told = []

        async def progress(value, total=None, message=None):
            told.append([value, total, message])

        result = await attempt(adapter, name, arguments, progress)
        line(name, progress=told, **plain(result))
    key = "message" if everything else "text"
    three = [("echo", {key: f"at once {n}"}) for n in range(2)]
    three.insert(1, ("slow", {"pause_ms": 20}) if not everything else ("get-sum", {"a": 1, "b": 1}))
    line("three", results=[plain(one) for one in await asyncio.gather(*(attempt(adapter, *one) for one in three))])
    line("unknown", **plain(await attempt(adapter, "no-such-tool", {})))
    big = "0123456789abcdef" * int(os.environ.get("PEER_LARGE", "8000"))
    line("large", **plain(await attempt(adapter, "echo", {key: big})))


def run(connect):
    async def main():
        try:
            async with connect(URL, MODE) as adapter:
                await converse(adapter)
            line("closed")
        except BaseException as error:
            while getattr(error, "exceptions", None):
                error = error.exceptions[0]
            line("broken", error=f"{type(error).__name__}: {error}")
            if isinstance(error, KeyboardInterrupt):
                raise

    asyncio.run(main())
