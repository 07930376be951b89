// A server of the TypeScript SDK v2 over HTTP.   node http_v2.cjs PORT [stateful|stateless|json|events]
const { createRequire } = require("node:module");
const { createServer } = require("node:http");
const { randomUUID } = require("node:crypto");
const { Readable } = require("node:stream");
const { setTimeout: sleep } = require("node:timers/promises");
const need = createRequire(`${process.env.PACKAGES}/`);
const sdk = need("@modelcontextprotocol/server");
const { z } = need("zod");
const [port, mode] = process.argv.slice(2);
const text = (text) => ({ content: [{ type: "text", text }] });

function make() {
  const server = new sdk.McpServer({ name: "v2", version: "1.0.0" });
  server.registerTool("echo", { description: "Says it back.", inputSchema: z.object({ text: z.string() }) }, (args) => text(args.text));
  const inputSchema = z.object({ steps: z.number().default(3), pause_ms: z.number().default(50) });
  server.registerTool("slow", { description: "Takes some time and tells how far it is.", inputSchema }, async ({ steps, pause_ms }, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (let step = 1; step <= steps; step += 1) {
      const params = { progressToken, progress: step, total: steps, message: `step ${step}` };
      if (progressToken !== undefined) await mcpReq.notify({ method: "notifications/progress", params });
      await sleep(pause_ms);
    }
    return text(`${steps} steps`);
  });
  server.registerTool("fail", { description: "Fails.", inputSchema: z.object({ reason: z.string() }) }, ({ reason }) => {
    throw new Error(reason);
  });
  server.registerTool("ask", { description: "Asks the user." }, ({ mcpReq }) => {
    const told = sdk.inputResponse(mcpReq.inputResponses, "user");
    if (told.kind !== "missing") return text(`Hello, ${told.content.name}`);
    const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
    const user = sdk.inputRequired.elicit({ message: "Who are you?", requestedSchema });
    return sdk.inputRequired({ inputRequests: { user }, requestState: "asked" });
  });
  return server;
}

// The newer era by the SDK's handler; the older one without sessions by it too, with them as its guide has it.
const responseMode = { json: "json", events: "sse" }[mode] ?? "auto";
const stateless = mode === "stateless";
const modern = sdk.createMcpHandler(make, { responseMode, legacy: stateless ? "stateless" : "reject" });
const sessions = new Map();

async function legacy(request) {
  const known = sessions.get(request.headers.get("mcp-session-id"));
  if (known) return known.handleRequest(request);
  const transport = new sdk.WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: mode === "json",
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  await make().connect(transport);
  return transport.handleRequest(request);
}

createServer(async (incoming, outgoing) => {
  const body = ["GET", "HEAD"].includes(incoming.method) ? undefined : Readable.toWeb(incoming);
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  const request = new Request(`http://127.0.0.1:${port}${incoming.url}`, {
    method: incoming.method, headers: incoming.headers, body, duplex: "half", signal: gone.signal,
  });
  const older = !stateless && (await sdk.isLegacyRequest(request.clone()));
  const response = await (older ? legacy(request) : modern.fetch(request));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.flushHeaders();
  if (response.body) Readable.fromWeb(response.body).on("error", () => outgoing.destroy()).pipe(outgoing);
  else outgoing.end();
}).listen(Number(port), "127.0.0.1");
