//! The rules whose findings causes look for, by name.

/// A constant for each, and all of them, so that none is left out where they are checked.
macro_rules! named {
    ($($name:ident = $id:literal,)+) => {
        $(
            #[doc = concat!("`", $id, "`.")]
            pub const $name: &str = $id;
        )+

        pub const ALL: &[&str] = &[$($name),+];
    };
}

named! {
    ERA_MIXED = "era-mixed",
    FRAME_CONTENT_LENGTH = "frame-content-length",
    FRAME_EMBEDDED_NEWLINE = "frame-embedded-newline",
    FRAME_NOT_JSON = "frame-not-json",
    FRAME_NOT_OBJECT = "frame-not-object",
    FRAME_OUTLINE_ONLY = "frame-outline-only",
    FRAME_OVERSIZED = "frame-oversized",
    FRAME_SHORTENED = "frame-shortened",
    FRAME_TRUNCATED = "frame-truncated",
    LIST_CHANGED_IGNORED = "list-changed-ignored",
    NOISE_BEFORE_FIRST_MESSAGE = "noise-before-first-message",
    PROCESS_DIED_IN_FLIGHT = "process-died-in-flight",
    PROCESS_NOT_STARTED = "process-not-started",
    PROCESS_STDOUT_CLOSED_EARLY = "process-stdout-closed-early",
    REPEATED_AFTER_TIMEOUT = "repeated-after-timeout",
    REQUEST_SLOW = "request-slow",
    RESPONSE_ID_TYPE_CHANGED = "response-id-type-changed",
    RPC_UNCLASSIFIABLE = "rpc-unclassifiable",
    STDERR_UNDRAINED = "stderr-undrained",
    STDIN_UNDRAINED = "stdin-undrained",
    STDOUT_UNDRAINED = "stdout-undrained",
    TOOL_INPUT_SCHEMA_INVALID = "tool-input-schema-invalid",
    TOOL_SCHEMA_HIDES_TOOLS = "tool-schema-hides-tools",
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn every_name_that_causes_look_for_is_that_of_a_rule() {
        for id in ALL {
            assert!(crate::rule(id).is_some(), "{id}");
        }
    }
}
