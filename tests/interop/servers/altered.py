"""A server with something altered: python altered.py ALTERATION COMMAND...

answer=TOOL   the text of each answer of the tool has one more word
drop=TOOL     the tool is not listed any more, and not known
narrow=TOOL   an argument that was optional, or unknown, is required by the tool
late=TOOL     the answers of the tool come later than they did
crash=N       it ends, with code 3, when the N-th call of a tool comes
none=         nothing
"""

import json
import subprocess
import sys
import threading
import time

what, _, which = sys.argv[1].partition("=")
server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
lock = threading.Lock()
asked = {}
calls = 0


def say(message):
    with lock:
        sys.stdout.write(json.dumps(message, ensure_ascii=False, separators=(",", ":")) + "\n")
        sys.stdout.flush()


def tool(message):
    params = message.get("params")
    return params.get("name") if isinstance(params, dict) else None


def answered(message):
    request = asked.pop(json.dumps(message.get("id")), None)
    result = message.get("result")
    if request is None or not isinstance(result, dict):
        return message
    if request["method"] == "tools/list":
        tools = result.get("tools", [])
        if what == "drop":
            result["tools"] = [tool for tool in tools if tool["name"] != which]
        for tool_ in tools:
            if what == "narrow" and tool_["name"] == which:
                schema = tool_["inputSchema"]
                schema.setdefault("properties", {})["approved"] = {"type": "string"}
                schema["required"] = schema.get("required", []) + ["approved"]
    if request["method"] == "tools/call" and tool(request) == which:
        if what == "answer":
            for content in result.get("content", []):
                if content.get("type") == "text":
                    content["text"] += " altered"
        if what == "late":
            time.sleep(0.4)
    return message


def from_server():
    for line in server.stdout:
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict) or "method" in message or what == "none":
            with lock:
                sys.stdout.buffer.write(line)
                sys.stdout.buffer.flush()
        else:
            say(answered(message))


reader = threading.Thread(target=from_server, daemon=True)
reader.start()
for line in sys.stdin.buffer:
    message = json.loads(line)
    if "method" in message and "id" in message:
        if message["method"] == "tools/call":
            calls += 1
            if what == "crash" and calls == int(which):
                server.kill()
                sys.stderr.write("crashing as told\n")
                sys.stderr.flush()
                sys.exit(3)
            if what == "drop" and tool(message) == which:
                error = {"code": -32602, "message": "Unknown tool: " + which}
                say({"jsonrpc": "2.0", "id": message["id"], "error": error})
                continue
        asked[json.dumps(message["id"])] = message
    server.stdin.write(line)
    server.stdin.flush()
server.stdin.close()
reader.join()
sys.exit(server.wait())
