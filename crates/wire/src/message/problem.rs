//! What can be wrong with a frame or a message.

/// What is wrong with a frame or a message, seen by itself. `offset` counts bytes from the start
/// of the frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    NotJson {
        offset: usize,
        reason: &'static str,
    },
    /// The line is nested deeper than is parsed; only its outline was looked at.
    TooDeep {
        limit: usize,
    },
    /// The line is longer than is parsed whole; only its outline was looked at.
    OutlineOnly,
    /// The stream ended (or a gap began) before the line did.
    Truncated,
    /// Only a part of the line is on record; what else may be wrong with it nobody knows.
    Shortened,
    InvalidUtf8 {
        offset: usize,
    },
    /// The line begins with a byte order mark.
    ByteOrderMark,
    CarriageReturn,
    /// The line is empty or white space.
    Blank,
    /// The JSON value is neither object nor array.
    NotObject {
        /// `null`, `boolean`, `number` or `string`; in a batch also `array`.
        found: &'static str,
    },
    EmptyBatch,
    /// A batch of more messages than are looked at; the rest of them was not.
    BatchTooLong {
        parts: usize,
        limit: usize,
    },
    /// A batch of more members that are no messages than are kept; the rest of them are not.
    BatchOfOther {
        /// How many there are among the members that were looked at.
        invalid: usize,
        limit: usize,
    },
    /// `jsonrpc` is missing or not `"2.0"`.
    Version,
    /// None of `method`, `result`, `error`.
    Unclassifiable,
    /// `method` is no string; taken as a response where there is a `result` or `error`.
    MethodNotString,
    /// `method` together with `result` or `error`; taken as a request or notification.
    MethodAndResult,
    /// Both `result` and `error`; taken as an error, unless that is `null` and the result is not.
    ResultAndError,
    /// `params` is present and no object.
    ParamsNotObject,
    ResultNotObject,
    /// `error` is no object, or `code` or `message` is missing, or `message` is no string.
    ErrorShape,
    ErrorCode,
    IdNull,
    /// The id is neither string nor integer nor `null`.
    IdType,
    /// A response without an id, or with `null`.
    ResponseWithoutId,
    /// A known notification with an id.
    NotificationWithId,
    RequestWithoutId,
}
