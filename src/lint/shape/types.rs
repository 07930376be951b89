//! The types that shapes of messages are made of, by the names that the published schemas use
//! where they have one.

/// A type whose shape depends on the revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// What every request's `params` have.
    RequestParams,
    /// What every notification's `params` have.
    NotificationParams,
    /// What every `result` has.
    Result,
    /// `_meta` of a request.
    RequestMeta,
    /// `_meta` of a notification.
    NotificationMeta,
    /// `_meta` of a result.
    ResultMeta,
    /// `_meta` of anything else.
    Meta,

    /// Bytes as text.
    Base64,
    /// A URI.
    Uri,
    /// A template for URIs.
    UriTemplate,
    /// The URI of a root.
    RootUri,
    /// Where an icon is.
    IconSource,
    /// Up to a hundred values.
    CompletionValues,

    /// Name and version of a program.
    Implementation,
    /// The same without what the rules of the handshake ask for.
    ImplementationDetails,
    /// What a client can do.
    ClientCapabilities,
    /// What a server can do.
    ServerCapabilities,
    /// A picture that stands for something.
    Icon,
    /// Hints for clients about a piece of content.
    Annotations,
    /// Who speaks in a message.
    Role,
    /// How serious a log message is.
    LoggingLevel,
    /// Params of a list request.
    PaginatedParams,
    /// Params that name a resource.
    ResourceParams,

    /// Params of `initialize`.
    InitializeParams,
    /// Result of `initialize`.
    InitializeResult,
    /// Result of `server/discover`.
    DiscoverResult,
    /// Params of `notifications/cancelled`.
    CancelledParams,
    /// Params of `notifications/progress`.
    ProgressParams,

    /// A resource.
    Resource,
    /// A template for resources.
    ResourceTemplate,
    /// What is in a resource.
    ResourceContents,
    /// Result of `resources/list`.
    ListResourcesResult,
    /// Result of `resources/templates/list`.
    ListResourceTemplatesResult,
    /// Result of `resources/read`.
    ReadResourceResult,

    /// A prompt.
    Prompt,
    /// An argument of a prompt.
    PromptArgument,
    /// A message that a prompt is made of.
    PromptMessage,
    /// Result of `prompts/list`.
    ListPromptsResult,
    /// Params of `prompts/get`.
    GetPromptParams,
    /// Result of `prompts/get`.
    GetPromptResult,

    /// A tool.
    Tool,
    /// Hints about a tool.
    ToolAnnotations,
    /// Result of `tools/list`.
    ListToolsResult,
    /// Params of `tools/call`.
    CallToolParams,
    /// Result of `tools/call`.
    CallToolResult,

    /// A piece of content in tool results and prompts.
    ContentBlock,
    /// Text.
    TextContent,
    /// An image.
    ImageContent,
    /// A sound.
    AudioContent,
    /// A resource within a message.
    EmbeddedResource,
    /// A resource that is pointed to.
    ResourceLink,

    /// Params of `sampling/createMessage`.
    CreateMessageParams,
    /// Result of `sampling/createMessage`.
    CreateMessageResult,
    /// A message that a model reads or writes.
    SamplingMessage,
    /// A piece of content in it.
    SamplingContent,
    /// Which model is wanted.
    ModelPreferences,
    /// A model that uses a tool.
    ToolUseContent,
    /// What came of that.
    ToolResultContent,

    /// Params of `completion/complete`.
    CompleteParams,
    /// Result of `completion/complete`.
    CompleteResult,
    /// A prompt or a resource template that is completed.
    Reference,

    /// Params of `logging/setLevel`.
    SetLevelParams,
    /// Params of `notifications/message`.
    LoggingMessageParams,

    /// A root.
    Root,
    /// Result of `roots/list`.
    ListRootsResult,

    /// Params of `elicitation/create`.
    ElicitParams,
    /// Result of `elicitation/create`.
    ElicitResult,
    /// The schema of a form.
    RequestedSchema,
    /// The schema of a field in a form.
    PrimitiveSchema,
    /// What is filled into a field.
    FieldValue,

    /// A task.
    Task,
    /// A task with what its status brings along.
    DetailedTask,
    /// Params that name a task.
    TaskParams,
    /// How a task is wanted.
    TaskMetadata,
    /// Result of a request that was made a task.
    CreateTaskResult,
    /// Result of `tasks/list`.
    ListTasksResult,
    /// Params of `tasks/update`.
    UpdateTaskParams,

    /// Params of requests that can be repeated with answers to what the server has asked.
    RetryParams,
    /// Result that asks for something first.
    InputRequiredResult,
    /// What it asks for.
    InputRequest,
    /// An answer to that.
    InputResponse,
    /// What a listen stream is about.
    SubscriptionFilter,
    /// Params with such a filter.
    SubscriptionParams,
}

impl Type {
    /// How many there are.
    pub const COUNT: usize = Self::SubscriptionParams as usize + 1;
}
