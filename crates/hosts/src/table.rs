//! The hosts: where the configuration of each lies, and what its words are. The facts are data, in
//! `hosts.toml`, each with the page or the source file that says so.

use super::document::{Document, Format, Node};
use serde::Deserialize;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::slice::from_ref;
use std::sync::LazyLock;
use std::{env, fs};

/// A program that starts MCP servers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// As a user types it.
    pub id: String,
    pub name: String,
    /// The page or source file that says all this.
    pub source: String,
    pub format: Format,
    /// Where the servers are: a map of them by name, or a list of such with a member `name`. A `*` is
    /// any member.
    pub keys: Vec<Vec<String>>,
    /// The files of a user, as [`files`] reads them.
    #[serde(default)]
    user: Vec<String>,
    #[serde(default)]
    linux: Vec<String>,
    #[serde(default)]
    macos: Vec<String>,
    /// The files of a project, from its folder.
    #[serde(default)]
    project: Vec<String>,
    /// Whether the file of a project is shared with others.
    #[serde(default)]
    pub committed: bool,
    /// The member with the command, or with all words.
    #[serde(default = "command")]
    pub command: String,
    /// The member with the arguments; empty where the command has all words.
    #[serde(default = "args")]
    pub args: String,
    /// The members that say that a server is reached by a URL.
    #[serde(default)]
    pub url: Vec<String>,
    /// What a person does after a change: a clause.
    pub after: String,
    /// Where its logs about servers are, as [`files`] reads them.
    #[serde(default)]
    logs: Vec<String>,
    /// The member that switches a server off when it is true, or with a `!` when it is false.
    #[serde(default)]
    disabled: Option<String>,
    /// Whether it reads what others have written; if not, a person has to do it.
    #[serde(default = "yes")]
    pub edit: bool,
    /// Whether `source` was read; if not, others say so.
    #[serde(default = "yes")]
    pub verified: bool,
    /// What a user must know.
    #[serde(default)]
    pub note: Option<String>,
    /// What a user must know of the file of a user alone.
    #[serde(default)]
    pub note_of_user_file: Option<String>,
}

/// A server in a configuration.
#[derive(Clone, Debug)]
pub struct Server<'d> {
    pub name: String,
    /// The members that a `*` stood for: the folder of a project.
    pub within: Vec<String>,
    pub node: &'d Node,
}

/// Whose configuration a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    User,
    Project,
}

#[derive(Deserialize)]
struct Table {
    host: Vec<Host>,
}

fn command() -> String {
    "command".to_owned()
}

fn args() -> String {
    "args".to_owned()
}

fn yes() -> bool {
    true
}

/// All known hosts.
///
/// # Panics
///
/// Never: a test reads the table.
pub fn hosts() -> &'static [Host] {
    static HOSTS: LazyLock<Vec<Host>> = LazyLock::new(|| {
        let table: Table =
            toml::from_str(include_str!("hosts.toml")).expect("it is read by a test");
        table.host
    });
    &HOSTS
}

impl Host {
    /// A host that nobody knows, with its servers in the map at `key` of a file.
    pub fn of_file(path: &Path, key: &str) -> Option<Self> {
        let format = match path.extension()?.to_str()? {
            "json" | "jsonc" => Format::Jsonc,
            "toml" => Format::Toml,
            "yaml" | "yml" => Format::Yaml,
            _ => return None,
        };
        Some(Self {
            id: "file".to_owned(),
            name: "this host".to_owned(),
            source: String::new(),
            format,
            keys: vec![key.split('.').map(str::to_owned).collect()],
            user: Vec::new(),
            linux: Vec::new(),
            macos: Vec::new(),
            project: Vec::new(),
            committed: false,
            command: command(),
            args: args(),
            url: vec!["url".to_owned()],
            after: "restart the host".to_owned(),
            logs: Vec::new(),
            disabled: None,
            edit: true,
            verified: true,
            note: None,
            note_of_user_file: None,
        })
    }

    /// The configurations that are there: those of the user, and of the project that `folder` is in.
    pub fn configurations(&self, home: &Path, folder: &Path) -> Vec<(Scope, PathBuf)> {
        let of_system = if cfg!(target_os = "macos") {
            &self.macos
        } else {
            &self.linux
        };
        let user = self.user.iter().chain(of_system);
        let user = user.flat_map(|text| files(text, home));
        let above = |text: &String| {
            let mut found = folder
                .ancestors()
                .map(|folder| below(vec![folder.to_owned()], text));
            found.find(|paths| !paths.is_empty()).unwrap_or_default()
        };
        let project = self.project.iter().flat_map(above);
        let mut all: Vec<_> = user.map(|path| (Scope::User, path)).collect();
        // In the home directory both may be the same file.
        all.extend(project.map(|path| (Scope::Project, path)));
        let mut seen = HashSet::new();
        all.retain(|(_, path)| {
            seen.insert(fs::canonicalize(path).unwrap_or_else(|_| path.clone()))
        });
        all
    }

    /// Its logs about servers, the newest first.
    pub fn logs(&self, home: &Path) -> Vec<PathBuf> {
        let mut logs: Vec<_> = self
            .logs
            .iter()
            .flat_map(|text| files(text, home))
            .collect();
        let changed = |path: &PathBuf| path.metadata().and_then(|it| it.modified()).ok();
        logs.sort_by_key(|path| std::cmp::Reverse(changed(path)));
        logs
    }

    /// The format of one of its files: some hosts read several.
    pub fn format_of(&self, path: &Path) -> Format {
        match path.extension().and_then(|end| end.to_str()) {
            Some("json") if self.format == Format::Yaml => Format::Jsonc,
            _ => self.format,
        }
    }

    /// Whether a server is switched off in its configuration.
    pub fn is_off(&self, document: &Document, server: &Node) -> bool {
        let Some(member) = &self.disabled else {
            return false;
        };
        let (member, off) = match member.strip_prefix('!') {
            Some(member) => (member, "false"),
            None => (member.as_str(), "true"),
        };
        server
            .get(member)
            .is_some_and(|value| document.raw(&value.at) == off)
    }

    /// The servers in a configuration of this host, in the order of the text.
    pub fn servers<'d>(&self, document: &'d Document) -> Vec<Server<'d>> {
        let mut found = Vec::new();
        for key in &self.keys {
            servers(&document.root, key, &[], &mut found);
        }
        found
    }
}

fn servers<'d>(node: &'d Node, key: &[String], within: &[String], found: &mut Vec<Server<'d>>) {
    let Some((name, rest)) = key.split_first() else {
        let named = node
            .map()
            .iter()
            .map(|(key, node)| (key.name.as_str(), node));
        let listed = node.list().iter();
        let listed = listed.filter_map(|node| Some((node.get("name")?.text()?, node)));
        found.extend(named.chain(listed).map(|(name, node)| {
            Server {
                name: name.to_owned(),
                within: within.to_vec(),
                // Some keep what starts it one level deeper.
                node: node
                    .get("transport")
                    .filter(|it| !it.map().is_empty())
                    .unwrap_or(node),
            }
        }));
        return;
    };
    for (key, node) in node.map() {
        if name == "*" {
            let within = [within, from_ref(&key.name)].concat();
            servers(node, rest, &within, found);
        } else if key.name == *name {
            servers(node, rest, within, found);
        }
    }
}

/// The files that a path of the table means.
fn files(text: &str, home: &Path) -> Vec<PathBuf> {
    let (start, rest) = text.split_once('/').unwrap_or((text, ""));
    let start = match start {
        "~" => Some(home.to_owned()),
        "{config}" => Some(settings(home)),
        _ => start
            .strip_prefix('$')
            .and_then(env::var_os)
            .map(PathBuf::from),
    };
    let start = start.filter(|path| path.is_absolute());
    below(Vec::from_iter(start), rest)
}

/// The files below some folders; a component may have a `*`.
fn below(mut found: Vec<PathBuf>, path: &str) -> Vec<PathBuf> {
    for part in path.split('/').filter(|part| !part.is_empty()) {
        let Some((before, after)) = part.split_once('*') else {
            for path in &mut found {
                path.push(part);
            }
            continue;
        };
        let fits = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            let inner = name.and_then(|name| name.strip_prefix(before));
            inner.is_some_and(|inner| inner.ends_with(after))
        };
        let inside = |dir: PathBuf| fs::read_dir(dir).into_iter().flatten().flatten();
        let inside = found.into_iter().flat_map(inside);
        found = inside.map(|entry| entry.path()).filter(fits).collect();
        found.sort();
    }
    found.retain(|path| fs::symlink_metadata(path).is_ok());
    found
}

fn settings(home: &Path) -> PathBuf {
    let configured = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let configured = configured.filter(|path| path.is_absolute());
    match configured {
        _ if cfg!(target_os = "macos") => home.join("Library/Application Support"),
        Some(path) => path,
        None => home.join(".config"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_table_is_found() {
        for host in hosts() {
            let home = tempfile::tempdir().expect("a temporary folder");
            let home = home.path();
            let project = home.join("work/project");
            let user = host.user.iter().chain(&host.linux);
            let user = user.filter(|text| text.starts_with(['~', '{']));
            let config = settings(home);
            let user = user.map(|text| {
                let text = text
                    .replace('*', "x")
                    .replace("{config}", &config.to_string_lossy());
                (Scope::User, home.join(text.trim_start_matches("~/")))
            });
            let in_project = host.project.iter().map(|text| text.replace('*', "x"));
            let in_project = in_project.map(|text| (Scope::Project, home.join("work").join(text)));
            let all: Vec<_> = user
                .chain(in_project)
                .filter(|(_, path)| path.starts_with(home))
                .collect();
            for (_, path) in &all {
                fs::create_dir_all(path.parent().expect("it has one")).expect("it can be made");
                fs::write(path, "").expect("it can be written");
            }
            let found = host.configurations(home, &project);
            for one in &all {
                assert!(found.contains(one), "{}: {one:?} of {found:?}", host.id);
            }
        }
    }

    #[test]
    fn servers_are_members_of_maps_and_lists_at_each_place() {
        let text = r#"{"mcpServers": {"a": {"transport": {"command": "x"}}}, "projects":
            {"/p": {"mcpServers": [{"name": "b", "command": "y"}]}, "/q": {}}}"#;
        let document = Document::parse(text.to_owned(), Format::Json).expect("it is JSON");
        let servers = hosts()[0].servers(&document);
        let told = servers.iter().map(|server| {
            let command = server.node.get("command").and_then(Node::text);
            (server.name.as_str(), server.within.concat(), command)
        });
        let told: Vec<_> = told.collect();
        assert_eq!(
            told,
            [
                ("a", String::new(), Some("x")),
                ("b", "/p".to_owned(), Some("y"))
            ]
        );
    }
}
