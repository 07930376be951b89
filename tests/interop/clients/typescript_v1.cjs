// The client of the first TypeScript SDK; see `converse.cjs`.

const { main } = require("./converse.cjs");

/** The methods of a conversation that differ from SDK to SDK. */
class Adapter {
  constructor(client, version, types, taskStore) {
    Object.assign(this, { client, version, types, taskStore, modern: false });
  }

  call(params, options) {
    return this.client.callTool(params, this.types.CallToolResultSchema, options);
  }

  /** A call that is a task, then all tasks there are. */
  async task({ tool, arguments: args }) {
    const tasks = this.client.experimental.tasks;
    // Who polls sees one status more or less.
    const steps = new Set();
    const params = { name: tool, arguments: args };
    for await (const step of tasks.callToolStream(params, this.types.CallToolResultSchema, { task: { ttl: 60_000 } })) {
      steps.add(step.type);
    }
    const listed = await tasks.listTasks();
    return [{ steps: [...steps], listed: listed.tasks.map((task) => task.status) }];
  }

  async stay() {}

  async close() {
    this.taskStore.cleanup();
    await this.client.close();
  }
}

/** Does as a task what the server wants done as a task. */
async function answered(result, { params }, { taskStore }) {
  if (!params.task) return result;
  const task = await taskStore.createTask({ ttl: params.task.ttl, pollInterval: 100 });
  setTimeout(() => taskStore.storeTaskResult(task.taskId, "completed", result), 50);
  return { task };
}

main((packages) => {
  const { Client } = packages("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = packages("@modelcontextprotocol/sdk/client/stdio.js");
  const { StreamableHTTPClientTransport } = packages("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const types = packages("@modelcontextprotocol/sdk/types.js");
  const { InMemoryTaskStore } = packages("@modelcontextprotocol/sdk/experimental/tasks");
  return async (_mode, command, answers) => {
    const requests = { sampling: { createMessage: {} }, elicitation: { create: {} } };
    const capabilities = {
      roots: { listChanged: true },
      sampling: { tools: {} },
      elicitation: { form: {}, url: {} },
      tasks: { list: {}, cancel: {}, requests },
    };
    const taskStore = new InMemoryTaskStore();
    const about = { name: "interop", version: "1.0.0" };
    const client = new Client(about, { capabilities, taskStore });
    client.setRequestHandler(types.CreateMessageRequestSchema, (request, extra) =>
      answered(answers.sample(request.params), request, extra),
    );
    client.setRequestHandler(types.ElicitRequestSchema, (request, extra) =>
      answered(answers.elicit(request.params), request, extra),
    );
    client.setRequestHandler(types.ListRootsRequestSchema, () => answers.roots());
    client.setNotificationHandler(types.ResourceUpdatedNotificationSchema, ({ params }) => answers.hear(params.uri));
    client.setNotificationHandler(types.ToolListChangedNotificationSchema, () => answers.hear("tools"));
    const isUrl = command.command.startsWith("http:");
    const transport = isUrl ? new StreamableHTTPClientTransport(new URL(command.command)) : new StdioClientTransport(command);
    let version;
    const set = transport.setProtocolVersion?.bind(transport);
    transport.setProtocolVersion = (agreed) => ((version = agreed), set?.(agreed));
    await client.connect(transport);
    return new Adapter(client, version, types, taskStore);
  };
});
