//! What the program says about itself, and its exit codes.

use super::{demo, refusal, stdout};
use crate::support::Library;
use clap::CommandFactory as _;
use mcpreel::cli::Cli;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

/// A screen and a half.
const LINES: usize = 78;

fn commands_meant() -> BTreeSet<String> {
    let commands = Cli::command();
    let shown = commands.get_subcommands().filter(|it| !it.is_hide_set());
    shown.map(|it| it.get_name().to_owned()).collect()
}

/// What examples are, and whether they parse, is tested with the documents.
#[test]
fn every_command_of_the_help_is_here() {
    let help = stdout(&Library::new(), &["--help"]);
    let (commands, _) = help.split_once("Options:\n").expect("they come first");
    let commands = commands.split("\nRecord:\n").nth(1).expect("in groups");
    let commands = commands.lines().filter(|line| line.starts_with("  "));
    let names = commands.filter_map(|line| line.split_whitespace().next());
    let names: BTreeSet<_> = names.map(str::to_owned).collect();
    assert_eq!(names, commands_meant());
    for command in names {
        let help = stdout(&Library::new(), &[&command, "--help"]);
        assert!(
            help.lines().count() <= LINES,
            "{command} --help is an essay"
        );
    }
    let brief = stdout(&Library::new(), &["replay", "-h"]);
    assert!(brief.lines().count() <= 40, "{brief}");
    assert!(
        brief.contains("--only") && !brief.contains("--speed"),
        "{brief}"
    );
}

#[test]
fn the_command_of_a_server_is_recorded_behind_two_dashes_and_known_for_one_without() {
    let library = Library::new();
    let mut echo = library.mcpreel("--");
    let echoed = echo.args(["echo", "hello"]).output().expect("it starts");
    assert_eq!(echoed.stdout, b"hello\n");
    assert_eq!(library.json(&["ls"])[0]["name"], "echo");
    let (code, said) = refusal(&library, &["npx", "my server", "-y"]);
    assert_eq!(code, Some(2));
    assert!(
        said.contains("mcpreel run -- npx 'my server' -y\n"),
        "{said}"
    );
}

#[test]
fn a_list_is_narrowed_by_name_age_and_number() {
    let library = demo();
    library.run(["true"]).output().expect("it starts");
    let count = |args: &[&str]| library.json(args).len();
    let name = library.json(&["ls"])[1]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(count(&["ls"]), 2);
    assert_eq!(count(&["ls", &name]), 1);
    assert_eq!(count(&["ls", "-n", "1"]), 1);
    assert_eq!(count(&["ls", "--since", "1h"]), 2);
    assert_eq!(count(&["ls", "--since", "0s"]), 0);
    let all = library.json(&["show", &name, "--exchanges", "-q", ""]);
    let last = library.json(&["show", &name, "--exchanges", "-n", "2"]);
    assert_eq!(last, all[all.len() - 2..]);
    let recent = count(&["show", &name, "--frames", "--since", "1h"]);
    assert_eq!(recent, count(&["show", &name, "--frames"]));
}

#[test]
fn the_manual_page_has_every_command_with_its_examples() {
    let library = Library::new();
    let page = stdout(&library, &["man", "replay"]);
    assert!(page.contains(".SH \"REPLAY\"\n") && !page.contains(".SH \"MOCK\"\n"));
    super::refused(&library, &["man", "replya"], 2, "did you mean `replay`?");
    let page = stdout(&library, &["man"]);
    for command in commands_meant() {
        let heading = format!(".SH \"{}\"\n", command.to_uppercase());
        assert!(page.contains(&heading), "{command} is missing");
        assert!(
            page.contains(&format!("mcpreel {command}")),
            "{command} has no example"
        );
    }
    for word in [
        "input\\-required",
        "pending",
        "from the client to the server",
    ] {
        assert!(page.contains(word), "{word} is not explained");
    }
    for hidden in ["demo-host", "demo\\-host", "demo-server", "demo\\-server"] {
        assert!(!page.contains(hidden), "{hidden} is for the demo only");
    }
}

/// What a shell is offered for the last of these words.
fn offered(library: &Library, words: &[&str]) -> String {
    let mut shell = library.mcpreel("--");
    shell
        .arg("mcpreel")
        .args(words)
        .env("MCPREEL_COMPLETE", "bash");
    shell.env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    shell
        .env("_CLAP_IFS", "\n")
        .env("_CLAP_COMPLETE_SPACE", "true");
    let output = shell.env("_CLAP_COMPLETE_COMP_TYPE", "9").output();
    String::from_utf8(output.expect("mcpreel starts").stdout).expect("it is text")
}

#[test]
fn every_shell_completes_commands_options_recordings_rules_and_servers() {
    let library = demo();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(&library, &["completions", shell]);
        assert!(script.contains("MCPREEL_COMPLETE"), "{shell}: {script}");
    }
    let id = library.json(&["ls"])[0]["id"]
        .as_str()
        .expect("it has an id")[..4]
        .to_owned();
    let config = r#"{"mcpServers": {"files": {"command": "cat"}}}"#;
    std::fs::write(library.path().join(".claude.json"), config).expect("it can be written");
    let cases: [(&[&str], &str); 7] = [
        (&["rein"], "reindex"),
        (&["prune", "--max"], "--max-size"),
        (&["show", &id[..2]], &id),
        (&["show", "weather"], "weather-server"),
        (&["why", "@"], "@"),
        (&["lint", "--explain", "tool-args-inv"], "tool-args-invalid"),
        (&["wrap", "claude"], "claude-code:files"),
    ];
    for (words, expected) in cases {
        let offered = offered(&library, words);
        assert!(
            offered.lines().any(|line| line == expected),
            "{words:?}: {offered}"
        );
    }
    assert!(!offered(&library, &["redact", "--without", "tool-args-inv"]).contains("tool-args"));
    assert!(!offered(&library, &["unwrap", "claude"]).contains("claude-code:files"));
    assert!(
        !offered(&library, &["demo-"]).contains("demo-host"),
        "hidden commands stay so"
    );
}

#[test]
fn wrong_usage_is_exit_code_2_and_names_the_way_out() {
    let library = &demo();
    let id = library.json(&["ls"])[0]["id"]
        .as_str()
        .expect("it has an id")
        .to_owned();
    let frame = format!("{id}#999");
    let cases: [(&[&str], &str); 19] = [
        (&["shwo"], "'show'"),
        (&["show", "--frame"], "--frames"),
        (&["show", "nobody"], "weather-server"),
        (&["show", "weather"], "mean `weather-server`?\n"),
        (&["show", "@2"], "has only 1 recording\n"),
        (&["show", "@x"], "@2 the second newest"),
        (&["show", &frame], "there is no frame #999"),
        (&["show", "--frames", "--events"], "cannot be used with"),
        (&["prune"], "--older-than"),
        (&["prune", "--older-than", "30"], "30d"),
        (&["prune", "--keep", "x"], "`x` is not a number"),
        (
            &["prune", "--max-size", "1"],
            "`1` has no unit; for example 500MB or 2GB",
        ),
        (&["run", "--max-size", "9", "true"], "`9` has no unit"),
        (&["show", "abc"], "an id needs at least four digits"),
        (&["run"], "COMMAND"),
        (&["open", "@"], "the viewer needs a terminal"),
        (&["open", "nobody"], "weather-server"),
        (&["show", "@#1", "-q", "is:open"], "leave out the options"),
        (
            &["show", "@", "--findings", "-q", "is:open"],
            "cannot be used with",
        ),
    ];
    for (args, way_out) in cases {
        let (code, said) = refusal(library, args);
        assert_eq!(code, Some(2), "{args:?}: {said}");
        assert!(said.contains(way_out), "{args:?}: {said}");
    }
}

#[test]
fn a_recording_that_cannot_be_read_is_exit_code_3_in_one_sentence() {
    let library = Library::new();
    let file = library.path().join("notes.reel");
    std::fs::write(
        &file,
        "no database, just some notes that are long enough to have a header",
    )
    .expect("it can be written");
    let file = file.to_str().expect("the path is text");
    let (code, said) = refusal(&library, &["show", file]);
    assert_eq!(code, Some(3), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("is not a recording"), "{said}");
}

#[test]
fn a_reader_that_has_seen_enough_is_success() {
    let library = demo();
    let mut show = library.mcpreel("show");
    show.args(["@", "--frames", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut show = show.spawn().expect("mcpreel starts");
    let mut reader = BufReader::with_capacity(16, show.stdout.take().expect("it is a pipe"));
    let mut line = Vec::new();
    reader
        .read_until(b'\n', &mut line)
        .expect("the first line comes");
    drop(reader);
    let output = show.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(output.stderr, b"", "nothing is wrong");
}
