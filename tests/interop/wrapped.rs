//! A configuration that was wrapped is read by a client that nobody here wrote: the server answers as
//! it did, and the session is on record.

use crate::http_peers::{free_port, server};
use crate::packages::{Packages, run};
use crate::peers::{FILESYSTEM, NOTES_PYTHON};
use crate::support::Library;
use serde_json::json;
use std::path::Path;
use std::process::Command;

#[test]
fn a_wrapped_configuration_is_started_by_a_client_and_recorded() {
    let library = Library::new();
    let home = library.path();
    let path = home.join(".claude.json");
    let entry = |command: Vec<String>| json!({"command": command[0], "args": command[1..]});
    let port = free_port();
    let _far = server("everything:streamableHttp", port);
    let servers = json!({
        "far": {"url": format!("http://127.0.0.1:{port}/mcp"), "headers": {"X-Who": "me"}},
        "files": entry(FILESYSTEM.command(home)),
        "notes": entry(NOTES_PYTHON.command(home)),
    });
    let before = format!("{:#}\n", json!({"theme": "dark", "mcpServers": servers}));
    std::fs::write(&path, &before).expect("it can be written");

    let offered = offered(&path, home);
    run(library.mcpreel("wrap").args(["--all", "--yes"]));
    run(library.mcpreel("wrap").args(["far", "--yes"]));
    assert_eq!(self::offered(&path, home), offered);
    // The client hands HOME on to its servers, and hardly more: what we have set for it is not.
    let listed = run(library
        .mcpreel("ls")
        .arg("--json")
        .env_remove("MCPREEL_DIR"));
    let listed = listed
        .lines()
        .map(|line| serde_json::from_str(line).expect("it is JSON"));
    let listed: Vec<serde_json::Value> = listed.collect();
    let mut names: Vec<_> = listed.iter().filter_map(|it| it["name"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["far", "far-http", "files", "notes"]);
    assert!(listed.iter().all(|it| it["exchanges"].as_u64() > Some(1)));

    run(library.mcpreel("unwrap").args(["--all", "--yes"]));
    let after = std::fs::read_to_string(&path).expect("it is there");
    assert_eq!(after, before);
}

/// The tools that a client is offered by the servers of a configuration.
fn offered(path: &Path, home: &Path) -> String {
    let python = Packages::get().folder().join("python/bin/python");
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/clients");
    let mut command = Command::new(python);
    command
        .arg("-Wignore")
        .arg(client.join("from_configuration.py"))
        .arg(path);
    let said = run(command.env("HOME", home));
    assert!(
        said.contains("read_file") && said.contains("far_echo"),
        "{said}"
    );
    said
}
