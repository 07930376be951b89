// The client of the second TypeScript SDK; see `converse.cjs`. A mode of its own is a revision with a
// handshake: the client then speaks that and no other.

const { main } = require("./converse.cjs");

/** The methods of a conversation that differ from SDK to SDK. */
class Adapter {
  constructor(client, stays) {
    Object.assign(this, { client, stays, version: client.getNegotiatedProtocolVersion() });
    this.modern = client.getProtocolEra() === "modern";
  }

  call(params, options) {
    return this.client.callTool(params, options);
  }

  /** Listens until the connection is closed, where there is something to listen to. */
  async stay(changes) {
    if (this.stays && this.modern && Object.keys(changes).length > 0) await this.client.listen(changes);
  }

  async close() {
    await this.client.close();
  }
}

/** What a client has in a revision. */
function capabilities(mode) {
  const old = { roots: { listChanged: true }, sampling: {} };
  if (mode === "2024-11-05" || mode === "2025-03-26") return old;
  if (mode === "2025-06-18") return { ...old, elicitation: {} };
  return { ...old, sampling: { tools: {} }, elicitation: { form: {}, url: {} } };
}

/** How a mode begins a connection. */
function negotiation(mode) {
  if (["legacy", "auto"].includes(mode)) return { versionNegotiation: { mode } };
  if (mode === "known") return { versionNegotiation: { mode: { pin: "2026-07-28" } } };
  return { versionNegotiation: { mode: "legacy" }, supportedProtocolVersions: [mode] };
}

main((packages) => {
  const { Client } = packages("@modelcontextprotocol/client");
  const { StdioClientTransport } = packages("@modelcontextprotocol/client/stdio");
  const open = async (mode, command, answers, prior) => {
    const about = { name: "interop", version: "1.0.0" };
    const client = new Client(about, { capabilities: capabilities(mode), ...negotiation(mode) });
    client.setRequestHandler("sampling/createMessage", ({ params }) => answers.sample(params));
    client.setRequestHandler("roots/list", () => answers.roots());
    if ("elicitation" in capabilities(mode)) {
      client.setRequestHandler("elicitation/create", ({ params }) => answers.elicit(params));
    }
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => answers.hear(params.uri));
    client.setNotificationHandler("notifications/tools/list_changed", () => answers.hear("tools"));
    await client.connect(new StdioClientTransport(command), prior ? { prior } : {});
    return client;
  };
  return async (mode, command, answers) => {
    if (mode !== "known") return new Adapter(await open(mode, command, answers), false);
    const first = await open(mode, command, answers);
    const prior = { kind: "modern", discover: first.getDiscoverResult() };
    await first.close();
    return new Adapter(await open(mode, command, answers, prior), true);
  };
});
