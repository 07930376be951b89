// A client of the TypeScript SDK v1.   node http_v1.cjs URL [LOG] [auto|sse]
const { createRequire } = require("node:module");
const { answer, run } = require("./http_plan.cjs");
const need = createRequire(`${process.env.PACKAGES}/`);
const { Client } = need("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = need("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { SSEClientTransport } = need("@modelcontextprotocol/sdk/client/sse.js");
const types = need("@modelcontextprotocol/sdk/types.js");

run(async (url, mode) => {
  const client = new Client({ name: "peer", version: "1.0.0" }, { capabilities: { elicitation: {}, sampling: {} } });
  client.setRequestHandler(types.ElicitRequestSchema, answer);
  const transport = mode === "sse" ? new SSEClientTransport(url, { fetch }) : new StreamableHTTPClientTransport(url, { fetch });
  let version;
  const set = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (agreed) => ((version = agreed), set?.(agreed));
  await client.connect(transport);
  return {
    version,
    list: async () => (await client.listTools()).tools,
    call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
    close: async () => {
      if (transport.terminateSession) await transport.terminateSession();
      await client.close();
    },
  };
});
