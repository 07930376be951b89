//! The types that shapes of messages are made of, by the names that the published schemas use
//! where they have one.

/// A type whose shape depends on the revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// What every request's `params` have.
    RequestParams,
    /// What every notification's `params` have.
    NotificationParams,
    Result,
    RequestMeta,
    NotificationMeta,
    ResultMeta,
    Meta,

    Base64,
    Uri,
    UriTemplate,
    RootUri,
    IconSource,
    CompletionValues,

    Implementation,
    /// The same without what the rules of the handshake ask for.
    ImplementationDetails,
    ClientCapabilities,
    ServerCapabilities,
    /// A picture that stands for something.
    Icon,
    /// Hints for clients about a piece of content.
    Annotations,
    Role,
    LoggingLevel,
    PaginatedParams,
    ResourceParams,

    InitializeParams,
    InitializeResult,
    DiscoverResult,
    /// Params of `notifications/cancelled`.
    CancelledParams,
    /// Params of `notifications/progress`.
    ProgressParams,

    Resource,
    ResourceTemplate,
    ResourceContents,
    ListResourcesResult,
    /// Result of `resources/templates/list`.
    ListResourceTemplatesResult,
    ReadResourceResult,

    Prompt,
    PromptArgument,
    /// A message that a prompt is made of.
    PromptMessage,
    ListPromptsResult,
    GetPromptParams,
    GetPromptResult,

    Tool,
    ToolAnnotations,
    ListToolsResult,
    CallToolParams,
    CallToolResult,

    /// A piece of content in tool results and prompts.
    ContentBlock,
    TextContent,
    ImageContent,
    AudioContent,
    EmbeddedResource,
    ResourceLink,

    /// Params of `sampling/createMessage`.
    CreateMessageParams,
    /// Result of `sampling/createMessage`.
    CreateMessageResult,
    /// A message that a model reads or writes.
    SamplingMessage,
    SamplingContent,
    ModelPreferences,
    ToolUseContent,
    ToolResultContent,

    /// Params of `completion/complete`.
    CompleteParams,
    /// Result of `completion/complete`.
    CompleteResult,
    /// A prompt or a resource template that is completed.
    Reference,

    SetLevelParams,
    /// Params of `notifications/message`.
    LoggingMessageParams,

    Root,
    ListRootsResult,

    /// Params of `elicitation/create`.
    ElicitParams,
    /// Result of `elicitation/create`.
    ElicitResult,
    RequestedSchema,
    /// The schema of a field in a form.
    PrimitiveSchema,
    FieldValue,

    Task,
    /// A task with what its status brings along.
    DetailedTask,
    TaskParams,
    TaskMetadata,
    /// Result of a request that was made a task.
    CreateTaskResult,
    ListTasksResult,
    UpdateTaskParams,

    /// Params of requests that can be repeated with answers to what the server has asked.
    RetryParams,
    /// Result that asks for something first.
    InputRequiredResult,
    InputRequest,
    InputResponse,
    SubscriptionFilter,
    SubscriptionParams,
}

impl Type {
    pub const COUNT: usize = Self::SubscriptionParams as usize + 1;
}
