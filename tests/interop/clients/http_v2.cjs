// A client of the TypeScript SDK v2.   node http_v2.cjs URL [LOG] [auto|legacy|2026-07-28|sse]
const { createRequire } = require("node:module");
const { answer, run } = require("./http_plan.cjs");
const need = createRequire(`${process.env.PACKAGES}/`);
const { Client, StreamableHTTPClientTransport, SSEClientTransport } = need("@modelcontextprotocol/client");

run(async (url, mode) => {
  const era = mode === "sse" ? "legacy" : ["auto", "legacy"].includes(mode) ? mode : { pin: mode };
  const client = new Client({ name: "peer", version: "1.0.0" }, { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: era } });
  client.setRequestHandler("elicitation/create", answer);
  const transport = mode === "sse" ? new SSEClientTransport(url, { fetch }) : new StreamableHTTPClientTransport(url, { fetch });
  await client.connect(transport);
  return {
    version: client.getNegotiatedProtocolVersion(),
    list: async () => (await client.listTools()).tools,
    call: (name, args, options) => client.callTool({ name, arguments: args }, options),
    close: async () => {
      if (transport.terminateSession) await transport.terminateSession();
      await client.close();
    },
  };
});
