// A rich and correct conversation with any server, for the clients in TypeScript; the same as in
// `converse.py`, which says what comes in and what goes out.
//
//     node CLIENT.cjs FOLDER-OF-PACKAGES <sessions.json

const { createRequire } = require("node:module");
const { readFileSync } = require("node:fs");

const DEADLINE_MS = 120_000;

/** What the client says when the server asks, and what the server told it unasked. */
class Answers {
  constructor(folder) {
    this.root = `file://${folder}`;
    this.asked = new Set();
    this.updated = [];
    this.waiting = [];
  }

  /** The model uses a tool if it has one and did not yet; else it answers. */
  sample({ tools, messages }) {
    this.asked.add(tools ? "sampling with tools" : "sampling");
    if (tools && messages.length === 1) {
      const use = { type: "tool_use", id: "use-1", name: tools[0].name, input: {} };
      return { role: "assistant", content: [use], model: "none", stopReason: "toolUse" };
    }
    const content = { type: "text", text: "forty-two" };
    return { role: "assistant", content, model: "none", stopReason: "endTurn" };
  }

  elicit(params) {
    this.asked.add(`elicitation ${params.mode ?? "form"}`);
    return params.mode === "url" ? { action: "accept" } : { action: "accept", content: form(params.requestedSchema) };
  }

  roots() {
    this.asked.add("roots");
    return { roots: [{ uri: this.root, name: "folder" }] };
  }

  /** A resource or a list is another than it was. */
  hear(what) {
    this.updated.push(what);
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  async wait(what) {
    while (!this.updated.includes(what)) await new Promise((resolve) => this.waiting.push(resolve));
  }
}

/** Content that fits the form that the server wants filled in. */
function form(schema) {
  return Object.fromEntries(Object.entries(schema.properties).map(([name, one]) => [name, value(one)]));
}

/** A value that fits a field of a form. */
function value(schema) {
  if ("default" in schema) return schema.default;
  if ("oneOf" in schema) return schema.oneOf[0].const;
  const byFormat = { email: "ada@example.com", uri: "https://example.com", date: "1815-12-10" };
  const plain = { boolean: true, integer: 7, number: 7.5, string: "Ada" };
  return byFormat[schema.format] ?? plain[schema.type];
}

/** A result, or the error in its place. */
async function attempt(call) {
  try {
    return await call();
  } catch (error) {
    return { error: `${error.name}: ${error.message}` };
  }
}

/** What stays the same of a result that varies from run to run. */
function outline(result) {
  const parts = result.content ?? result.messages ?? result.contents ?? [];
  return { members: Object.keys(result).sort(), parts: parts.length };
}

/** Goes through a plan with one connected client. */
class Conversation {
  constructor(adapter, answers, plan) {
    Object.assign(this, { adapter, client: adapter.client, answers, plan });
    this.has = this.client.getServerCapabilities() ?? {};
  }

  async run() {
    const { adapter, client, has } = this;
    const seen = { version: adapter.version, server: client.getServerVersion() };
    if (has.logging && !adapter.modern) await client.setLoggingLevel("debug");
    if (!adapter.modern) await client.ping();
    if (has.tools) seen.tools = (await client.listTools()).tools;
    if (has.resources) seen.resources = await this.resources();
    if (has.prompts) seen.prompts = await this.prompts();
    if (has.completions) seen.completions = await this.complete();
    if (has.tools) seen.calls = await this.calls(new Set(seen.tools.map((tool) => tool.name)));
    if (!adapter.modern) await client.sendRootsListChanged();
    seen.watched = this.plan.watch ? await this.watch(this.plan.watch) : null;
    seen.later = await this.lists();
    await adapter.stay(this.changes());
    return seen;
  }

  /** How long every list has become: somebody may have said that it changed. */
  async lists() {
    const { client, has } = this;
    return {
      tools: has.tools && (await client.listTools()).tools.length,
      resources: has.resources && (await client.listResources()).resources.length,
      prompts: has.prompts && (await client.listPrompts()).prompts.length,
    };
  }

  /** Every resource, those of the plan, and one that is not there. */
  async resources() {
    const { client, plan } = this;
    const listed = (await client.listResources()).resources;
    const templates = (await client.listResourceTemplates()).resourceTemplates;
    const read = [];
    for (const uri of [...listed.slice(0, 8).map((one) => one.uri), ...(plan.read ?? [])]) {
      const result = await attempt(() => client.readResource({ uri }));
      read.push(uri.startsWith("note:") ? result : outline(result));
    }
    if (plan.missing) read.push(await attempt(() => client.readResource({ uri: plan.missing })));
    return { listed, templates, read };
  }

  async prompts() {
    const seen = { listed: (await this.client.listPrompts()).prompts };
    for (const { name, arguments: args, varies } of this.plan.prompts ?? []) {
      const result = await attempt(() => this.client.getPrompt({ name, arguments: args }));
      seen[name] = varies ? outline(result) : result;
    }
    return seen;
  }

  async complete() {
    const seen = [];
    for (const { ref, argument, context } of this.plan.complete ?? []) {
      const params = context && this.adapter.version > "2025-06" ? { ref, argument, context: { arguments: context } } : { ref, argument };
      seen.push(await attempt(() => this.client.complete(params)));
    }
    return seen;
  }

  /** The calls of the plan of which the server has the tool. */
  async calls(names) {
    const seen = [];
    for (const call of this.plan.calls) {
      if (!names.has(call.tool)) continue;
      if (call.cancel) await this.cancelled(call);
      else if (call.task) seen.push(...(await this.adapter.task?.(call) ?? []));
      else {
        const results = await Promise.all(Array.from({ length: call.times ?? 1 }, () => this.call(call)));
        seen.push(...results.map((one) => (call.varies ? outline(one) : one)));
      }
    }
    return seen;
  }

  /** A call with its progress, if that is wanted. */
  async call({ tool, arguments: args, progress }) {
    const steps = [];
    const options = progress ? { onprogress: (step) => steps.push(step) } : {};
    const result = await attempt(() => this.adapter.call({ name: tool, arguments: args ?? {} }, options));
    // The last step comes with the answer, after which no client needs to listen.
    return progress ? { ...result, steps: steps.slice(0, 3) } : result;
  }

  /** A call that is given up when its first progress is told. */
  async cancelled({ tool, arguments: args }) {
    const giving = new AbortController();
    const options = { signal: giving.signal, onprogress: () => giving.abort("the user gave up") };
    await attempt(() => this.adapter.call({ name: tool, arguments: args }, options));
  }

  /** The kinds of change that the server tells. */
  changes() {
    const told = ["tools", "prompts", "resources"].filter((kind) => this.has[kind]?.listChanged);
    return Object.fromEntries(told.map((kind) => [`${kind}ListChanged`, true]));
  }

  /** Subscribes to a resource, or to all that changes, and does what changes it. */
  async watch({ uri, call }) {
    const { adapter, client, answers } = this;
    const change = () => adapter.call({ name: call.tool, arguments: {} }, {});
    const subscribes = this.has.resources?.subscribe;
    if (adapter.modern) {
      const filter = { ...this.changes(), ...(subscribes ? { resourceSubscriptions: [uri] } : {}) };
      if (Object.keys(filter).length === 0) return change();
      const subscription = await client.listen(filter);
      await change();
      await answers.wait(subscribes ? uri : "tools");
      await subscription.close();
      return subscription.honoredFilter;
    }
    if (!subscribes) return change();
    await client.subscribeResource({ uri });
    await change();
    await answers.wait(uri);
    await client.unsubscribeResource({ uri });
    return uri;
  }
}

/** One session of those on stdin. */
async function session({ mode, plan, folder, command }, connect) {
  const answers = new Answers(folder);
  const transport = { command: command[0], args: command.slice(1), stderr: "ignore" };
  const adapter = await connect(mode, transport, answers);
  const seen = await new Conversation(adapter, answers, plan).run();
  await adapter.close();
  return { ...seen, asked: [...answers.asked].sort() };
}

/** Has the sessions on stdin, one after the other; `load` gives an SDK's way to connect. */
async function main(load) {
  const connect = load(createRequire(`${process.argv[2]}/`));
  const seen = [];
  for (const one of JSON.parse(readFileSync(0, "utf8"))) {
    const late = new Promise((_, reject) => setTimeout(() => reject(new Error("took too long")), DEADLINE_MS).unref());
    const result = await attempt(() => Promise.race([session(one, connect), late]));
    seen.push(JSON.parse(JSON.stringify(result).replaceAll(one.folder, "${folder}")));
  }
  // A session that took too long may still hold its server.
  process.stdout.write(JSON.stringify(seen), () => process.exit());
}

module.exports = { main };
