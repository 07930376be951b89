// A server of the second TypeScript SDK that has a little of everything, in both eras.
//
//     node typescript_v2.cjs FOLDER-OF-PACKAGES

const { createRequire } = require("node:module");
const { setTimeout: sleep } = require("node:timers/promises");
const packages = createRequire(`${process.argv[2]}/`);
const sdk = packages("@modelcontextprotocol/server");
const { serveStdio } = packages("@modelcontextprotocol/server/stdio");
const { z } = packages("zod");

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const NOTES = ["first", "second", "third"];
const names = (value) => NOTES.filter((name) => name.startsWith(value));
const text = (text) => ({ content: [{ type: "text", text }] });

const CAPABILITIES = {
  logging: {},
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
};

/** Tools that answer by themselves. */
function addTools(server) {
  const weather = z.object({ city: z.string(), degrees: z.number(), sky: z.array(z.string()) });
  server.registerTool(
    "add",
    { title: "Add", description: "Adds two numbers.", inputSchema: z.object({ a: z.number().int(), b: z.number().int() }) },
    ({ a, b }) => text(String(a + b)),
  );
  server.registerTool(
    "weather",
    { description: "The weather in a city.", inputSchema: z.object({ city: z.string() }), outputSchema: weather },
    ({ city }) => {
      const structuredContent = { city, degrees: 21.5, sky: ["clear", "windy"] };
      return { ...text(JSON.stringify(structuredContent)), structuredContent };
    },
  );
  server.registerTool(
    "fail",
    { description: "Fails by its nature.", inputSchema: z.object({ reason: z.string() }) },
    ({ reason }) => {
      throw new Error(reason);
    },
  );
  server.registerTool("show", { description: "Content of several kinds." }, () => {
    const text = { type: "text", text: "a pixel, and where to read on" };
    const image = { type: "image", data: PIXEL, mimeType: "image/png" };
    const link = { type: "resource_link", uri: "note://first", name: "first" };
    // Links are content since that revision.
    return { content: server.server.getNegotiatedProtocolVersion() < "2025-06-18" ? [text, image] : [text, image, link] };
  });
}

/** Tools that tell something while they run. */
function addTellingTools(server) {
  server.registerTool(
    "steps",
    {
      description: "Takes some time and tells how far it is.",
      inputSchema: z.object({ count: z.number().int(), pause_ms: z.number().int().default(10) }),
    },
    async ({ count, pause_ms }, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      for (let step = 1; step <= count && !mcpReq.signal.aborted; step += 1) {
        if (progressToken !== undefined) {
          const params = { progressToken, progress: step, total: count, message: `step ${step}` };
          await mcpReq.notify({ method: "notifications/progress", params });
        }
        await sleep(pause_ms);
      }
      return text(`${count} steps`);
    },
  );
  server.registerTool(
    "say",
    { description: "Writes to the log of the client.", inputSchema: z.object({ text: z.string() }) },
    async ({ text: said }, { mcpReq }) => {
      await mcpReq.log("debug", `about to say ${said}`);
      await mcpReq.log("warning", { text: said }, "notes");
      return text(said);
    },
  );
  server.registerTool("grow", { description: "One tool more, and one note that is another." }, async () => {
    server.registerTool("extra", { description: "Was not there from the start." }, () => text("extra"));
    await server.server.sendResourceUpdated({ uri: "note://first" });
    return text("grown");
  });
}

/** Tools that ask the client; the SDK does it as the era of the request has it. */
function addAskingTools(server) {
  const asking = (name, description, key, request, answer) =>
    server.registerTool(name, { description }, (ctx) => {
      const response = sdk.inputResponse(ctx.mcpReq.inputResponses, key);
      if (response.kind !== "missing") return text(answer(response));
      return sdk.inputRequired({ inputRequests: { [key]: request }, requestState: `asked-${key}` });
    });
  const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
  const who = sdk.inputRequired.elicit({ message: "Who are you?", requestedSchema });
  asking("greet_user", "Asks the user.", "user", who, ({ content }) => `Hello, ${content.name}`);
  const content = { type: "text", text: "What is the answer?" };
  const thought = sdk.inputRequired.createMessage({ messages: [{ role: "user", content }], maxTokens: 20 });
  asking("ask_model", "Asks the model of the client.", "model", thought, ({ result }) => result.content.text);
  const roots = sdk.inputRequired.listRoots();
  asking("list_folders", "Asks for the folders of the client.", "roots", roots, ({ roots }) =>
    roots.map((root) => root.uri).join(" "),
  );
}

function addNotes(server) {
  const plain = { mimeType: "text/plain" };
  server.registerResource("first", "note://first", { description: "A note.", ...plain }, (uri) => ({
    contents: [{ uri: uri.href, text: "the first note", ...plain }],
  }));
  const png = { mimeType: "image/png" };
  server.registerResource("pixel", "note://pixel", { description: "A note that is no text.", ...png }, (uri) => ({
    contents: [{ uri: uri.href, blob: PIXEL, ...png }],
  }));
  const template = new sdk.ResourceTemplate("note://by-name/{name}", { list: undefined, complete: { name: names } });
  server.registerResource("note", template, { description: "A note by its name.", ...plain }, (uri, { name }) => ({
    contents: [{ uri: uri.href, text: `the note ${name}`, ...plain }],
  }));
  server.server.setRequestHandler("resources/subscribe", () => ({}));
  server.server.setRequestHandler("resources/unsubscribe", () => ({}));
}

function addPrompts(server) {
  const note = sdk.completable(z.string().describe("Which note"), names);
  const argsSchema = z.object({ note, style: z.string().optional() });
  server.registerPrompt(
    "summarise",
    { title: "Summarise", description: "Asks for the summary of a note.", argsSchema },
    ({ note, style }) => ({
      messages: [
        { role: "user", content: { type: "text", text: `Summarise the note ${note}: ${style ?? "short"}.` } },
      ],
    }),
  );
}

serveStdio(() => {
  const about = { name: "notes", title: "Notes", version: "1.0.0" };
  const server = new sdk.McpServer(about, { capabilities: CAPABILITIES, instructions: "Ask for notes." });
  for (const add of [addTools, addTellingTools, addAskingTools, addNotes, addPrompts]) add(server);
  return server;
});
