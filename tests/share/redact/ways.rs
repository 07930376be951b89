//! The ways out, and what of a session leaves by each.

/// How something leaves.
pub struct Way {
    /// What it is called.
    pub name: &'static str,
    /// The words that write it to a file.
    pub words: &'static [&'static str],
    /// Those that write it with all secrets, if there are any.
    pub raw: Option<&'static [&'static str]>,
    /// The places of a session from which nothing stands in it.
    pub lacks: &'static [&'static str],
    /// How many planted cases stand in it raw, at least.
    pub planted: usize,
}

/// The places that cases tell of, the name of a tool, and what people put on frames.
pub const PLACES: [&str; 13] = [
    "argv",
    "host",
    "cwd",
    "path",
    "executable",
    "name",
    "event",
    "stderr",
    "tool",
    "c2s",
    "s2c",
    "mark",
    "note",
];

const WAY: Way = Way {
    name: "",
    words: &[],
    raw: None,
    lacks: &[],
    planted: 0,
};

pub const WAYS: [Way; 8] = [
    Way {
        name: "redact",
        words: &["redact"],
        raw: Some(&["export", "--raw", "--format", "recording"]),
        planted: 115,
        ..WAY
    },
    Way {
        name: "recording",
        words: &["export", "--format", "recording"],
        raw: Some(&["export", "--raw", "--format", "recording"]),
        planted: 115,
        ..WAY
    },
    Way {
        name: "jsonl",
        words: &["export"],
        raw: Some(&["export", "--raw"]),
        lacks: &["mark", "note"],
        planted: 105,
    },
    Way {
        name: "markdown",
        words: &["export", "--format", "markdown"],
        raw: Some(&["export", "--raw", "--format", "markdown"]),
        lacks: &["cwd", "path", "executable", "mark", "note"],
        planted: 50,
    },
    Way {
        name: "html",
        words: &["export", "--format", "html"],
        raw: Some(&["export", "--raw", "--format", "html"]),
        lacks: &["path"],
        planted: 110,
    },
    Way {
        name: "otlp",
        words: &["export", "--format", "otlp", "--with-bodies"],
        raw: Some(&["export", "--raw", "--format", "otlp", "--with-bodies"]),
        lacks: &["host", "cwd", "path", "stderr", "mark", "note"],
        planted: 65,
    },
    Way {
        name: "perfetto",
        words: &["export", "--format", "perfetto"],
        raw: Some(&["export", "--raw", "--format", "perfetto"]),
        lacks: &["argv", "host", "cwd", "path", "executable", "mark", "note"],
        planted: 75,
    },
    Way {
        name: "report",
        words: &["report"],
        ..WAY
    },
];
