//! Servers and clients that nobody here wrote, and small ones made of their SDKs.

use crate::packages::Packages;
use std::path::Path;

/// A server.
#[derive(Debug)]
pub struct Server {
    /// What it is called in `expected.toml`.
    pub name: &'static str,
    /// What is asked of it, in `plans.json`.
    pub plan: &'static str,
    /// Whether one can listen to its changes in the revision without a handshake.
    listens: bool,
    start: &'static [&'static str],
}

/// A client.
#[derive(Debug)]
pub struct Client {
    /// What it is called in `expected.toml`.
    pub name: &'static str,
    /// How it can begin a session; `clients/converse.py` says what each means.
    pub modes: &'static [&'static str],
    start: &'static [&'static str],
}

pub const EVERYTHING: Server = Server {
    name: "everything",
    plan: "everything",
    listens: false,
    start: &["node", "${npm}/server-everything/dist/index.js"],
};
pub const FILESYSTEM: Server = Server {
    name: "filesystem",
    plan: "filesystem",
    listens: false,
    start: &[
        "node",
        "${npm}/server-filesystem/dist/index.js",
        "${folder}",
    ],
};
pub const MEMORY: Server = Server {
    name: "memory",
    plan: "memory",
    listens: false,
    start: &[
        "env",
        "MEMORY_FILE_PATH=${folder}/memory.json",
        "node",
        "${npm}/server-memory/dist/index.js",
    ],
};
pub const SEQUENTIAL_THINKING: Server = Server {
    name: "sequential-thinking",
    plan: "sequential-thinking",
    listens: false,
    start: &["node", "${npm}/server-sequential-thinking/dist/index.js"],
};
pub const TIME: Server = Server {
    name: "time",
    plan: "time",
    listens: false,
    start: &["${python}", "-m", "mcp_server_time"],
};
pub const GIT: Server = Server {
    name: "git",
    plan: "git",
    listens: false,
    start: &[
        "${python}",
        "-m",
        "mcp_server_git",
        "--repository",
        "${folder}/repository",
    ],
};
pub const NOTES_PYTHON: Server = Server {
    name: "notes-python",
    plan: "notes",
    listens: true,
    start: &["${python}", "${here}/servers/python_sdk.py"],
};
pub const NOTES_FASTMCP: Server = Server {
    name: "notes-fastmcp",
    plan: "notes",
    listens: false,
    start: &["${python}", "${here}/servers/python_fastmcp.py"],
};
pub const NOTES_TYPESCRIPT: Server = Server {
    name: "notes-typescript",
    plan: "notes",
    listens: true,
    start: &["node", "${here}/servers/typescript_v2.cjs", "${packages}"],
};

/// All servers.
pub static SERVERS: [&Server; 9] = [
    &EVERYTHING,
    &FILESYSTEM,
    &MEMORY,
    &SEQUENTIAL_THINKING,
    &TIME,
    &GIT,
    &NOTES_PYTHON,
    &NOTES_FASTMCP,
    &NOTES_TYPESCRIPT,
];

/// The revisions with a handshake before the last one. To speak them a client has to be told.
const OLDER: [&str; 3] = ["2024-11-05", "2025-03-26", "2025-06-18"];

/// The mode in which a client uses what it knows of a modern server, and listens to the end.
const KNOWN: &str = "known";

pub const PYTHON_SDK: Client = Client {
    name: "python-sdk",
    modes: &["auto", "legacy", KNOWN],
    start: &["${python}", "-W", "ignore", "${here}/clients/python_sdk.py"],
};
pub const PYTHON_FASTMCP: Client = Client {
    name: "python-fastmcp",
    modes: &["auto", "legacy"],
    start: &[
        "${python}",
        "-W",
        "ignore",
        "${here}/clients/python_fastmcp.py",
    ],
};
pub const TYPESCRIPT_V1: Client = Client {
    name: "typescript-v1",
    modes: &["legacy"],
    start: &["node", "${here}/clients/typescript_v1.cjs", "${packages}"],
};
pub const TYPESCRIPT_V2: Client = Client {
    name: "typescript-v2",
    modes: &["auto", "legacy", KNOWN, OLDER[0], OLDER[1], OLDER[2]],
    start: &["node", "${here}/clients/typescript_v2.cjs", "${packages}"],
};

/// All clients.
pub static CLIENTS: [&Client; 4] = [&PYTHON_SDK, &PYTHON_FASTMCP, &TYPESCRIPT_V1, &TYPESCRIPT_V2];

/// Sessions, by client and mode, that are had again with a side that was recorded: each server
/// with some client, and each client with some server.
pub const HAD_AGAIN: [(&Client, &str, &[&Server]); 5] = [
    (
        &PYTHON_SDK,
        "auto",
        &[&TIME, &GIT, &NOTES_PYTHON, &EVERYTHING],
    ),
    (
        &PYTHON_SDK,
        "legacy",
        &[
            &MEMORY,
            &NOTES_TYPESCRIPT,
            &SEQUENTIAL_THINKING,
            &EVERYTHING,
        ],
    ),
    (&PYTHON_FASTMCP, "auto", &[&NOTES_FASTMCP]),
    (
        &TYPESCRIPT_V1,
        "legacy",
        &[&FILESYSTEM, &NOTES_PYTHON, &EVERYTHING],
    ),
    (
        &TYPESCRIPT_V2,
        "auto",
        &[&MEMORY, &NOTES_TYPESCRIPT, &NOTES_PYTHON],
    ),
];

impl Server {
    /// The command that starts it for a session in `folder`.
    pub fn command(&self, folder: &Path) -> Vec<String> {
        filled_in(self.start, folder)
    }

    /// Whether sessions in this mode are had with it. In the older revisions those suffice that
    /// have something of everything.
    pub fn has(&self, mode: &str) -> bool {
        match mode {
            KNOWN => self.listens,
            mode if OLDER.contains(&mode) => ["everything", "notes"].contains(&self.plan),
            _ => true,
        }
    }
}

impl Client {
    /// The command that starts it.
    pub fn command(&self) -> Vec<String> {
        filled_in(self.start, Path::new(""))
    }
}

fn filled_in(command: &[&str], folder: &Path) -> Vec<String> {
    let packages = Packages::get().folder();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop");
    let places = [
        (
            "${npm}",
            packages.join("node_modules/@modelcontextprotocol"),
        ),
        ("${python}", packages.join("python/bin/python")),
        ("${packages}", packages.to_owned()),
        ("${here}", here),
        ("${folder}", folder.to_owned()),
    ];
    let filled_in = |word: &&str| {
        let mut word = (*word).to_owned();
        for (name, place) in &places {
            word = word.replace(name, &place.to_string_lossy());
        }
        word
    };
    command.iter().map(filled_in).collect()
}
