//! The words of the language: fields, flags, and where paths begin.

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal, $help:literal;)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $(#[doc = $help] $variant,)*
        }

        impl $name {
            /// All of them, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            pub fn help(self) -> &'static str {
                match self { $(Self::$variant => $help,)* }
            }

            /// The one that [`Self::as_str`] writes so.
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.as_str() == word)
            }
        }
    };
}

words! {
    Root {
        Params = "params", "params of the request or notification";
        Result = "result", "result of the response";
        Error = "error", "error of the response";
        Req = "req", "the request or notification as a whole";
        Res = "res", "result of the response, failing that its error";
        Meta = "_meta", "_meta of the params, failing that of the result";
    }
}

words! {
    Field {
        Seq = "seq", "number of the frame; of an exchange that of its request";
        Time = "time", "since the start (12:04, 90s), or before the end of the recording (-5m)";
        Stream = "stream", "c2s, s2c, stderr";
        Dir = "dir", "which way it went: c2s, s2c";
        Kind = "kind", "request, response, notification, stderr, other, event";
        Method = "method", "method of the request or notification";
        Name = "name", "tool, prompt, resource URI or task";
        Tool = "tool", "name of the tool of a tools/call";
        Uri = "uri", "URI of a resource request";
        Prompt = "prompt", "name of the prompt of a prompts/get";
        Id = "id", "JSON-RPC id with its type: id:7 is not id:\"7\"";
        Status = "status", "how the exchange stands or ended";
        Code = "code", "code of the error";
        Latency = "latency", "from the request's last byte to the response's first (500ms, 2s)";
        Size = "size", "bytes of the frame; of an exchange request and response together (1MB)";
        ReqSize = "reqsize", "bytes of the request";
        ResSize = "ressize", "bytes of the response";
        Era = "era", "legacy, modern";
        Level = "level", "level of a log message";
        Logger = "logger", "logger of a log message";
        Token = "token", "progress token";
        Task = "task", "id of the task";
        Trace = "trace", "trace id";
        Finding = "finding", "rule of a finding about it";
        Severity = "severity", "error, warning, note: of a finding about it";
        Mark = "mark", "mark that somebody put on it";
        Note = "note", "note that somebody wrote";
        Text = "text", "summary, bodies or line: like a word of its own";
    }
}

words! {
    Flag {
        Failed = "failed", "error, tool-error, lost or unanswered, but no refused server/discover";
        Open = "open", "no answer yet";
        Late = "late", "answered after it was cancelled";
        Slow = "slow", "answered after more than a second, or what was configured at capture";
        Batch = "batch", "in a batch";
        Truncated = "truncated", "too long to be read as a whole, or cut";
        Marked = "marked", "somebody put a mark on it";
        Noted = "noted", "somebody wrote a note";
        Modern = "modern", "of the era without a handshake";
        Legacy = "legacy", "of the era with a handshake";
        Notification = "notification", "a notification";
        Waiting = "waiting", "the server waited, or waits, for its client meanwhile";
    }
}
