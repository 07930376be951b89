//! `hosts`, `wrap` and `unwrap`: the configurations of hosts, and what is started by them.

use super::cli_import::CLAUDE;
use super::sample;
use crate::support::host_session::Session;
use crate::support::pieces::Pieces;
use crate::support::proxy::Proxy;
use crate::support::{Library, MCPREEL, peer, text, wait_for};
use clap::CommandFactory as _;
use mcpreel::cli::Cli;
use mcpreel_hosts::edit::FLAGS;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"mcp","version":"0.1.0"}}}"#;

/// The home of a person with hosts, with the recordings elsewhere.
struct Home {
    folder: tempfile::TempDir,
    recordings: Library,
}

impl Home {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
            recordings: Library::new(),
        }
    }

    /// Writes a file below the home, and returns its path.
    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("it can be made");
        fs::write(&path, text).expect("it can be written");
        path
    }

    fn mcpreel(&self, args: &[&str]) -> Output {
        let mut command = Command::new(MCPREEL);
        command
            .args(args)
            .env_clear()
            .current_dir(self.folder.path());
        command.env("HOME", self.folder.path());
        command.env("MCPREEL_DIR", self.recordings.path());
        // Without a `mcpreel` of the person who runs the tests.
        command.env("PATH", "/usr/bin:/bin");
        let output = command.stdin(Stdio::null()).output();
        output.expect("mcpreel starts")
    }

    fn said(&self, args: &[&str]) -> String {
        let output = self.mcpreel(args);
        assert!(output.status.success(), "{args:?}: {}", text(&output));
        String::from_utf8(output.stdout).expect("the output is UTF-8")
    }

    fn refused(&self, args: &[&str], code: i32, why: &str) {
        let output = self.mcpreel(args);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(why), "{args:?}: {said}");
    }

    fn servers(&self) -> Vec<serde_json::Value> {
        let said = self.said(&["hosts", "--json"]);
        let lines = said
            .lines()
            .map(|line| serde_json::from_str(line).expect("it is JSON"));
        lines.collect()
    }
}

/// A configuration of Claude Code with a server that echoes, and one that is reached by a URL.
fn configuration(server: &Path) -> String {
    format!(
        "{{\n  \"numStartups\": 7,\n  \"mcpServers\": {{\n    \"echo\": {{\n      \"command\": {},\n      \
         \"args\": [\"echo\"],\n      \"env\": {{}}\n    }},\n    \"far\": {{\"type\": \"http\", \"url\": \
         \"https://ada:pw@example.com/mcp?key=s\"}}\n  }}\n}}\n",
        serde_json::json!(server)
    )
}

#[test]
fn a_wrapped_server_is_recorded_by_whoever_starts_it_and_unwrapped_to_the_byte() {
    let home = Home::new();
    let before = configuration(Path::new("/bin/cat")).replace("[\"echo\"]", "[\"-u\"]");
    let path = home.write(".claude.json", &before);
    let servers = home.servers();
    let names: Vec<_> = servers
        .iter()
        .map(|server| server["server"].as_str())
        .collect();
    assert_eq!(names, [Some("echo"), Some("far")]);
    assert_eq!(servers[0]["command"], serde_json::json!(["/bin/cat", "-u"]));
    assert_eq!(
        (&servers[0]["recorded"], &servers[0]["last_recorded"]),
        (&false.into(), &().into())
    );
    assert_eq!(servers[1]["url"], "https://…@example.com/mcp?key=…");

    let shown = home.said(&["wrap", "claude-code:echo", "--dry-run"]);
    assert!(
        shown.contains("+       \"args\": [\"run\", \"--name\", \"echo\", "),
        "{shown}"
    );
    assert_eq!(fs::read_to_string(&path).expect("it is there"), before);
    home.refused(&["wrap", "echo"], 2, "--yes changes without asking");
    assert_eq!(fs::read_to_string(&path).expect("it is there"), before);

    let done = home.said(&["wrap", "echo", "--yes"]);
    assert!(
        done.contains("echo is recorded from the next start"),
        "{done}"
    );
    let wrapped = fs::read_to_string(&path).expect("it is there");
    let read: serde_json::Value = serde_json::from_str(&wrapped).expect("it is JSON");
    let entry = &read["mcpServers"]["echo"];
    let args = entry["args"].as_array().expect("they are a list").iter();
    let args: Vec<_> = args.map(|arg| arg.as_str().expect("it is text")).collect();
    let command = entry["command"].as_str().expect("it is text");
    let mut server = Command::new(command);
    server
        .args(args)
        .env("MCPREEL_DIR", home.recordings.path())
        .stdin(Stdio::null());
    assert!(server.status().expect("it starts").success());
    assert_eq!(home.recordings.json(&["show", "@"])[0]["name"], "echo");
    let servers = home.servers();
    assert_eq!(servers[0]["command"], serde_json::json!(["/bin/cat", "-u"]));
    assert_eq!(servers[0]["recorded"], true);
    assert!(servers[0]["last_recorded"].is_string(), "{servers:?}");

    home.said(&["wrap", "echo", "--yes"]);
    assert_eq!(fs::read_to_string(&path).expect("it is there"), wrapped);
    // What has changed meanwhile stays changed.
    let later = wrapped.replace("\"numStartups\": 7", "\"numStartups\": 8");
    fs::write(&path, later).expect("it can be written");
    home.said(&["unwrap", "--all", "--yes"]);
    let after = before.replace("\"numStartups\": 7", "\"numStartups\": 8");
    assert_eq!(fs::read_to_string(&path).expect("it is there"), after);
}

#[test]
fn a_url_that_cannot_be_recorded_is_left_as_it_is_and_is_a_problem() {
    let home = Home::new();
    let entry = r#"{"servers": {
        "far": {"url": "https://me:hunter2hunter2@example.com/mcp"},
        "later": {"url": "https://${HOST}/mcp"}}}"#;
    let path = home.write(".vscode/mcp.json", entry);
    for how in ["--yes", "--print"] {
        let why =
            "far is left as it is: its URL cannot be recorded: credentials belong into a header";
        home.refused(&["wrap", "vscode:far", how], 3, why);
    }
    assert_eq!(fs::read_to_string(path).expect("it is there"), entry);
    let servers = home.servers();
    let problem = servers[0]["problem"].as_str().expect("there is one");
    assert!(problem.contains("credentials"), "{problem}");
    assert_eq!(servers[1]["problem"], serde_json::Value::Null);
    let commands = [
        &["hosts"][..],
        &["doctor"],
        &["wrap", "vscode", "--dry-run"],
    ];
    for command in commands {
        let said = text(&home.mcpreel(command));
        let is_advised = said.contains("wrap vscode:far") || said.contains("vscode:far ");
        assert!(
            !is_advised && !said.contains("hunter2"),
            "{command:?}: {said}"
        );
    }
}

#[test]
fn a_server_with_a_url_is_recorded_through_a_bridge_and_gets_the_headers_of_its_entry() {
    let home = Home::new();
    let mut mock = home.recordings.mcpreel("mock");
    mock.args([&sample("well-behaved"), "--listen", "0"]);
    let mock = Proxy::run(mock);
    let entry = format!(
        "{{\"mcpServers\": {{\"far\": {{\n    \"type\": \"http\", // mine\n    \"url\": \
         \"http://{}/mcp\",\n    \"headers\": {{\"Authorization\": \"Bearer hunter2hunter2\"}}\n  }}}}}}\n",
        mock.authority()
    );
    let path = home.write(".vscode/mcp.json", &entry.replace("mcpServers", "servers"));
    let before = fs::read_to_string(&path).expect("it is there");
    let wrapped = home.said(&["wrap", "vscode:far", "--yes"]);
    assert!(wrapped.contains("log in (OAuth)"), "{wrapped}");
    assert!(!wrapped.contains("hunter2"), "{wrapped}");

    let printed = home.said(&["wrap", "vscode:far", "--print"]);
    assert!(!printed.contains("Bearer hunter2hunter2\"]"), "{printed}");
    let text = fs::read_to_string(&path).expect("it is there");
    let read: serde_json::Value =
        serde_json::from_str(&text.replace("// mine", "")).expect("it is JSON");
    let entry = &read["servers"]["far"];
    assert_eq!(entry["type"], "stdio");
    let args = entry["args"].as_array().expect("they are a list").iter();
    // Not the bare name, which a file that is shared has.
    let args = args.skip(1).map(|arg| arg.as_str().expect("it is text"));
    let headers = entry["env"]["MCPREEL_HEADERS"].as_str();
    let headers = headers.expect("it is text");
    let mut server = home.recordings.run(args);
    let host = Session::start(server.env("MCPREEL_HEADERS", headers));
    host.send(&Pieces(vec![format!("{INITIALIZE}\n").into()]));
    wait_for("the answer", || (host.out.lines() == 1).then_some(()));
    let answer = String::from_utf8(host.end().out).expect("it is text");
    assert!(answer.contains("protocolVersion"), "{answer}");

    let servers = home.servers();
    assert_eq!(
        (&servers[0]["recorded"], &servers[0]["command"]),
        (&true.into(), &().into())
    );
    assert!(servers[0]["last_recorded"].is_string(), "{servers:?}");
    let request = home.said(&["show", "far-http#2"]);
    let header = "Authorization: Bearer ‹cred:1 ";
    assert!(
        request.contains(header),
        "the header came, and is not on record: {request}"
    );
    home.said(&["unwrap", "far", "--yes"]);
    assert_eq!(fs::read_to_string(&path).expect("it is there"), before);
}

#[test]
fn a_server_that_cannot_be_reached_is_named_and_secrets_are_not() {
    let home = Home::new();
    let taken = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let (url, gone) = (
        taken.local_addr().expect("it has one"),
        "http://127.0.0.1:9/mcp",
    );
    let entry = format!(
        "{{\"mcpServers\": {{\"there\": {{\"url\": \"http://{url}/mcp\"}}, \"astray\": {{\"url\": \
         \"http://{url}/astray\"}}, \"gone\": {{\"url\": \
         \"{gone}\"}}, \"cat\": {{\"command\": \"cat\",\n\"args\": [\n\"--api-key\",\n\
         \"q8Zr4mW2xT7vK9bN\"], \"env\": {{\n\"API_TOKEN\": \"hT5cQ1nJ6yD3sL0p\", \"STAGE\": \"puffin\"}}}}}}}}"
    );
    home.write(".cursor/mcp.json", &entry);
    thread::spawn(move || {
        for stream in taken.incoming() {
            let mut stream = BufReader::new(stream.expect("it is accepted"));
            let mut line = String::new();
            stream.read_line(&mut line).expect("it is read");
            // One that is asked by POST only is there.
            let is_there = line.starts_with("POST /mcp ");
            let status = if is_there { 400 } else { 404 };
            let answer = format!("HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n");
            let _ = stream.get_mut().write_all(answer.as_bytes());
        }
    });
    let said = home.said(&["hosts", "--check"]);
    assert!(said.contains("gone: 127.0.0.1:9: "), "{said}");
    let astray = format!("astray: {url} answers 404: is the path of the URL right?");
    assert!(said.contains(&astray), "{said}");
    let reached = "1 of 3 servers with a URL can be reached";
    assert!(said.contains(reached), "{said}");
    assert!(!said.contains("\nthere: "), "{said}");
    assert!(said.contains("--api-key '‹secret:1›'"), "{said}");
    assert!(
        said.contains("3 servers with a URL not recorded: mcpreel wrap cursor:there records one (`--all` none of"),
        "{said}"
    );
    let all = home.said(&["wrap", "cursor", "--dry-run"]);
    assert!(
        all.contains("mcpreel wrap cursor:there cursor:astray cursor:gone"),
        "{all}"
    );
    assert!(
        all.contains("+ \"run\", ") && all.contains("\"STAGE\": \"***\""),
        "{all}"
    );
    for secret in ["q8Zr4mW2xT7vK9bN", "hT5cQ1nJ6yD3sL0p", "puffin"] {
        assert!(!all.contains(secret), "{all}");
    }
}

/// `wrap` knows where the command of a server begins.
#[test]
fn every_option_of_run_that_has_no_value_is_known() {
    let program = Cli::command();
    let run = program.find_subcommand("run").expect("it is a command");
    let flags = run
        .get_arguments()
        .filter(|it| !it.get_action().takes_values());
    let flags = flags
        .filter_map(|it| it.get_long())
        .filter(|it| *it != "help");
    let mut flags: Vec<_> = flags.map(|flag| format!("--{flag}")).collect();
    flags.sort();
    assert_eq!(flags, FLAGS);
}

#[test]
fn a_file_that_is_shared_names_the_program_and_a_printed_one_is_complete() {
    let home = Home::new();
    home.write(".mcp.json", &configuration(&peer()));
    let shown = home.said(&["wrap", "--all", "--dry-run"]);
    assert!(shown.contains("\"command\": \"mcpreel\","), "{shown}");
    let printed = home.said(&["wrap", "echo", "--print"]);
    let read: serde_json::Value = serde_json::from_str(&printed).expect("it is JSON");
    assert_eq!(read["mcpServers"]["echo"]["args"][0], "run");
    // Once only `doctor` said what is wrong with it.
    home.write(".mcp.json", &printed);
    let why = "mcpreel is not on your PATH: its folder has to be on that of the host";
    let said = home.said(&["hosts"]);
    assert!(said.contains(&format!("\necho: {why}\n")), "{said}");
    home.refused(&["doctor"], 1, why);
}

#[test]
fn what_cannot_be_changed_is_left_and_said_in_a_sentence() {
    let home = Home::new();
    home.refused(&["wrap", "claude-code"], 2, "`mcpreel hosts` lists them");
    let path = home.write(".claude.json", &configuration(Path::new("/bin/cat")));
    home.refused(&["wrap", "claude-cod"], 2, "did you mean `claude-code`?");
    home.refused(&["wrap", "far", "--all"], 2, "cannot be used with");
    let text = "[mcp_servers.remote]\nurl = \"https://example.com/mcp\"\n";
    home.write(".codex/config.toml", text);
    home.refused(
        &["wrap", "remote", "--yes"],
        3,
        "put `mcpreel run --name \"remote\" --url URL` there as its command",
    );

    let before = fs::read(&path).expect("it is there");
    let mode = |mode| {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    mode(0o444);
    home.refused(&["wrap", "echo", "--yes"], 3, "may not be written");
    assert_eq!(fs::read(&path).expect("it is there"), before);
    mode(0o600);
    home.said(&["wrap", "echo", "--yes"]);
    let kept = fs::metadata(&path)
        .expect("it is there")
        .permissions()
        .mode();
    assert_eq!(kept & 0o777, 0o600);
    home.said(&["unwrap", "echo", "--yes"]);
    assert_eq!(fs::read(&path).expect("it is there"), before);

    let broken = "{\"mcpServers\": {,}}";
    fs::write(&path, broken).expect("it can be written");
    home.refused(
        &["wrap", "--all", "--yes"],
        3,
        ".claude.json cannot be understood",
    );
    home.refused(&["hosts"], 3, ".claude.json cannot be understood");
    assert_eq!(fs::read_to_string(&path).expect("it is there"), broken);
    fs::remove_file(&path).expect("it is there");
    std::os::unix::fs::symlink("nowhere", &path).expect("it can be made");
    let why = "leads to a file that is not there";
    home.refused(&["hosts"], 3, why);
    home.refused(&["wrap", "--all", "--yes"], 3, why);
    let target = fs::read_link(&path).expect("it is still a link");
    assert_eq!(target, Path::new("nowhere"));
    assert!(!path.exists(), "nothing was made where it leads");
}

#[test]
fn a_link_stays_one_and_an_unknown_host_is_named_by_its_file() {
    let home = Home::new();
    let real = home.write(
        "dotfiles/host.yaml",
        "tools:\n  mcp:\n    echo:\n      command: cat\n",
    );
    let link = home.folder.path().join("host.yaml");
    std::os::unix::fs::symlink(&real, &link).expect("it can be made");
    let file = link.to_str().expect("it is text");
    let of_file = ["--all", "--yes", "--file", file, "--key", "tools.mcp"];
    home.said(&[&["wrap"], &of_file[..]].concat());
    assert!(link.is_symlink());
    let wrapped = fs::read_to_string(&real).expect("it is there");
    assert!(
        wrapped.contains("args: [ \"run\", \"--name\", \"echo\", cat]"),
        "{wrapped}"
    );
    home.said(&[&["unwrap"], &of_file[..]].concat());
    let after = fs::read_to_string(&real).expect("it is there");
    assert_eq!(after, "tools:\n  mcp:\n    echo:\n      command: cat\n");
}

#[test]
fn the_doctor_names_what_is_to_be_done_and_what_the_log_of_the_host_says() {
    let home = Home::new();
    home.refused(&["doctor"], 1, "no server of a host is recorded");
    let configuration = configuration(Path::new("/bin/cat")).replace("[\"echo\"]", "[\"-\"]");
    home.write(".cursor/mcp.json", &configuration);
    home.refused(&["doctor"], 1, "credentials belong into a header");
    home.write(".cursor/mcp.json", &configuration.replace("ada:pw@", ""));
    home.refused(&["doctor"], 1, "not recorded; mcpreel wrap cursor:echo");
    home.refused(&["doctor"], 1, "mcpreel hosts --check tries");
    home.said(&["wrap", "echo", "--yes"]);
    let log = ".config/Cursor/logs/1/window1/exthost/anysphere.cursor-mcp/MCP user-echo.log";
    home.write(log, "spawn echo ENOENT\n");
    home.refused(&["doctor"], 1, "set up, no session yet; restart Cursor");
    home.refused(&["doctor"], 1, "its log says: spawn echo ENOENT");
    let cat = home
        .recordings
        .run(["--name", "echo", "--", "/bin/cat"])
        .stdin(Stdio::null())
        .status();
    assert!(cat.expect("it starts").success());
    // Another server of that name is another one.
    home.refused(&["doctor"], 1, "set up, no session yet");
    let echo = home
        .recordings
        .run(["--name", "echo", "--", "/bin/cat", "-"])
        .stdin(Stdio::null())
        .status();
    assert!(echo.expect("it starts").success());
    assert!(home.said(&["doctor"]).contains("Cursor: recorded, last "));
}

/// Once nobody learned outside of a project that its servers are recorded.
#[test]
fn the_servers_of_another_project_are_named_once_a_session_ran_there() {
    let home = Home::new();
    let entry = r#"{"mcpServers": {"echo": {"command": "mcpreel", "args": ["run", "--name", "echo", "--", "cat"]}}}"#;
    home.write("work/.mcp.json", entry);
    let project = home.folder.path().join("work");
    home.refused(&["doctor"], 1, "no server of a host is recorded");
    let mut cat = home.recordings.run(["--name", "echo", "--", "/bin/cat"]);
    let cat = cat.current_dir(&project);
    assert!(
        cat.stdin(Stdio::null())
            .status()
            .expect("it starts")
            .success()
    );
    let said = home.said(&["doctor"]);
    let project = project.display();
    assert!(
        said.contains(&format!("echo recorded in {project};")),
        "{said}"
    );
    let said = home.said(&["unwrap", "--all"]);
    assert!(
        said.contains(&format!("still recorded in {project}: echo\n")),
        "{said}"
    );
}

#[test]
fn the_recordings_of_an_entry_written_by_hand_have_the_name_that_run_gives_them() {
    let home = Home::new();
    let url = "http://127.0.0.1:9/mcp";
    let by_hand = [
        &["run", "--", "/bin/cat", "-"][..],
        &["run", "--name=other", "/bin/cat"],
        &["run", "--name", "@2", "/bin/cat"],
        &["run", "--url", url],
        &["run", "--url", url, "--name", "far"],
    ];
    let entries = by_hand.iter().enumerate().map(|(nth, args)| {
        let entry = serde_json::json!({ "command": MCPREEL, "args": args });
        (format!("key{nth}"), entry)
    });
    let entries: serde_json::Map<_, _> = entries.collect();
    let all = serde_json::json!({ "mcpServers": entries });
    home.write(".claude.json", &all.to_string());
    for (nth, args) in by_hand.iter().enumerate() {
        let last = home.servers()[nth]["last_recorded"].clone();
        assert!(last.is_null(), "{args:?}");
        home.mcpreel(args);
        let last = home.servers()[nth]["last_recorded"].clone();
        assert!(last.is_string(), "{args:?}");
    }
}

#[test]
fn a_host_stands_for_its_logs() {
    let home = Home::new();
    home.write(".config/Claude/logs/mcp-server-weather.log", CLAUDE);
    home.said(&["import", "claude-desktop"]);
    assert_eq!(home.recordings.json(&["ls"]).len(), 2);
    home.refused(&["import", "cursor"], 3, "cursor cannot be read");
}

#[test]
fn many_that_wrap_at_once_lose_nothing() {
    let home = Home::new();
    let servers = (0..6).map(|nth| format!("\"s{nth}\": {{\"command\": \"cat\"}}"));
    let servers: Vec<_> = servers.collect();
    let before = format!("{{\"mcpServers\": {{{}}}}}", servers.join(", "));
    let path = home.write(".claude.json", &before);
    for _ in 0..3 {
        std::thread::scope(|scope| {
            for nth in 0..6 {
                let home = &home;
                scope.spawn(move || home.said(&["wrap", &format!("claude-code:s{nth}"), "--yes"]));
            }
        });
        assert!(
            home.servers()
                .iter()
                .all(|server| server["recorded"] == true)
        );
        home.said(&["unwrap", "--all", "--yes"]);
        assert_eq!(fs::read_to_string(&path).expect("it is there"), before);
    }
}
