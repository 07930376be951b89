// What every TypeScript client does; the same as http_plan.py, which says what comes out.
const { createHash } = require("node:crypto");
const { openSync, writeSync } = require("node:fs");
const [url, log, mode = "auto"] = process.argv.slice(2);
const limit = Number(process.env.PEER_LIMIT ?? 10) * 1000;
const file = openSync(log ?? "/dev/null", "w");
let count = 0;
const real = globalThis.fetch;
globalThis.fetch = async (to, init = {}) => {
  const n = (count += 1);
  const start = performance.now();
  const { pathname, search } = new URL(to instanceof Request ? to.url : to);
  let body = {};
  try {
    body = JSON.parse(init.body) ?? {};
  } catch {}
  const note = (status, type) =>
    writeSync(file, JSON.stringify({ n, method: init.method ?? "GET", path: pathname + search, status, rpc: body.method ?? ("result" in body || "error" in body ? "answer" : null), id: body.id ?? null, type, ms: Math.round((performance.now() - start) * 10) / 10 }) + "\n");
  try {
    const response = await real(to, init);
    note(response.status, (response.headers.get("content-type") ?? "").split(";")[0]);
    return response;
  } catch (error) {
    note(`${error.name}: ${error.cause?.code ?? error.message}`, "");
    throw error;
  }
};

const sorted = (value) =>
  Array.isArray(value) ? value.map(sorted) : value && typeof value === "object" ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])])) : value;
const line = (step, what = {}) => console.log(JSON.stringify(sorted({ step, ...what })));
const plain = (result) => {
  if (result instanceof Error) return { error: `${result.name}: ${result.message}` };
  const short = (text) => (text.length < 400 ? text : `${text.length} ${createHash("sha256").update(text).digest("hex").slice(0, 16)}`);
  return { content: result.content.map((part) => (part.text === undefined ? `<${part.type}>` : short(part.text))), isError: Boolean(result.isError) };
};
const attempt = async (promise) => {
  try {
    return await promise;
  } catch (error) {
    return error;
  }
};
const known = {
  echo: { text: "héllo ✓" }, slow: {}, fail: { reason: "because" }, ask: {}, grow: {}, cut: {},
  "get-sum": { a: 2, b: 3 }, "trigger-long-running-operation": { duration: 0.3, steps: 3 }, "get-tiny-image": {},
};

async function converse(adapter) {
  const tools = (await adapter.list()).map(({ name }) => name).sort();
  line("connected", { version: adapter.version });
  line("tools", { names: tools });
  const everything = tools.includes("get-sum");
  const key = everything ? "message" : "text";
  const call = async (name, args, onprogress) => {
    const start = performance.now();
    const result = await attempt(adapter.call(name, args, { timeout: limit, ...(onprogress ? { onprogress } : {}) }));
    const ms = performance.now() - start;
    const { error, content, isError } = plain(result);
    const outcome = error ? "error" : isError ? "tool-error" : "ok";
    writeSync(file, JSON.stringify({ call: name, arguments: args, outcome, text: error ? result.message : content[0], ms }) + "\n");
    return result;
  };
  for (const name of tools) {
    const args = everything && name === "echo" ? { message: "héllo ✓" } : known[name];
    if (!args) continue;
    const progress = [];
    const result = await call(name, args, ({ progress: value, total, message }) => progress.push([value, total ?? null, message ?? null]));
    line(name, { progress, ...plain(result) });
  }
  const middle = everything ? ["get-sum", { a: 1, b: 1 }] : ["slow", { pause_ms: 20 }];
  const three = [["echo", { [key]: "at once 0" }], middle, ["echo", { [key]: "at once 1" }]];
  line("three", { results: (await Promise.all(three.map(([name, args]) => call(name, args)))).map(plain) });
  line("unknown", plain(await call("no-such-tool", {})));
  line("large", plain(await call("echo", { [key]: "0123456789abcdef".repeat(Number(process.env.PEER_LARGE ?? 8000)) })));
}

/** What the user says to a question; both stand in the log. */
exports.answer = ({ params }) => {
  const content = { [params.requestedSchema.properties.value ? "value" : "name"]: "Ada" };
  writeSync(file, JSON.stringify({ asked: params.message, answered: content }) + "\n");
  return { action: "accept", content };
};

exports.run = async (connect) => {
  try {
    const adapter = await connect(new URL(url), mode);
    await converse(adapter);
    await adapter.close();
    line("closed");
  } catch (error) {
    line("broken", { error: `${error.name}: ${error.message}` });
  }
  process.exit(0);
};
