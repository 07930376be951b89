//! What the README, the help and the table of contents of the tests say is so.

use clap::{CommandFactory as _, Parser as _};
use mcpreel::cli::{Cli, Command};
use serde_json::Value;
use std::path::Path;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn document(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).expect("the document is there")
}

/// The fenced blocks of a document in one language.
fn blocks(document: &str, language: &str) -> Vec<String> {
    let fenced = document.split("```").skip(1).step_by(2);
    let blocks = fenced.filter_map(|block| block.split_once('\n'));
    blocks
        .filter(|(name, _)| *name == language)
        .map(|(_, text)| text.to_owned())
        .collect()
}

/// The code between backticks in the prose of a document.
fn spans(document: &str) -> Vec<String> {
    let prose: String = document.split("```").step_by(2).collect();
    let spans = prose.split('`').skip(1).step_by(2);
    spans.map(|span| span.replace('\n', " ")).collect()
}

/// The words of a line of shell, without their quotes.
fn unquoted(line: &str) -> Vec<String> {
    let (mut words, mut quote) = (vec![String::new()], None);
    for letter in line.chars() {
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), letter) if open == letter => quote = None,
            (None, ' ') => words.push(String::new()),
            (_, letter) => words.last_mut().expect("there is a word").push(letter),
        }
    }
    words
}

/// A line of shell up to the first sign, outside of quotes, that ends the command.
fn until_shell(line: &str) -> &str {
    let mut quote = None;
    let end = line.find(|letter| match (quote, letter) {
        (None, '\'' | '"') => {
            quote = Some(letter);
            false
        }
        (Some(open), letter) if open == letter => {
            quote = None;
            false
        }
        (None, ';' | '|' | '>' | '&') => true,
        _ => false,
    });
    end.map_or(line, |end| &line[..end])
}

/// Our own part of a line of shell, in words; `None` where the line is about something else.
fn words(line: &str) -> Option<Vec<String>> {
    let line = line.trim().trim_start_matches("$ ");
    let ours = until_shell(line);
    // What explains an example stands behind two spaces.
    let ours = ours.trim().split("  ").next()?;
    let mut words = unquoted(ours);
    if words.first()? != "mcpreel" {
        return None;
    }
    if words.last()? == "--" {
        words.push("server".to_owned());
    }
    Some(words)
}

/// Parses every line that is about us; how many there were.
fn assert_parsed<S: AsRef<str>>(lines: impl IntoIterator<Item = S>) -> usize {
    let commands: Vec<_> = lines
        .into_iter()
        .filter_map(|line| words(line.as_ref()))
        .collect();
    for command in &commands {
        let words = command.iter().map(Into::into).collect();
        let parsed = mcpreel::cli::parse(words);
        let error = parsed.err().map(|error| error.to_string());
        assert_eq!(error, None, "{command:?}");
    }
    commands.len()
}

#[test]
fn every_command_of_the_readme_is_one() {
    let readme = document("README.md");
    let mut shown = spans(&readme);
    for language in ["sh", "text"] {
        let blocks = blocks(&readme, language);
        shown.extend(
            blocks
                .iter()
                .flat_map(|text| text.lines().map(str::to_owned)),
        );
    }
    let count = assert_parsed(shown);
    assert!(count >= 10, "the README was not understood: {count}");
}

#[test]
fn what_the_readme_puts_into_a_hosts_configuration_starts_a_server() {
    let readme = document("README.md");
    let json = blocks(&readme, "json").swap_remove(0);
    let configuration: Value = serde_json::from_str(&json).expect("it is JSON");
    let server = &configuration["mcpServers"]["files"];
    assert_eq!(server["command"], "mcpreel");
    let words = server["args"].as_array().expect("it has arguments");
    let words = words.iter().filter_map(Value::as_str);
    let cli = Cli::try_parse_from(["mcpreel"].into_iter().chain(words)).expect("it parses");
    let Some(Command::Run(run)) = cli.command else {
        panic!("another command");
    };
    assert_eq!(run.command[0], "npx");
}

#[test]
fn the_rules_of_the_readme_are_read() {
    let blocks = blocks(&document("README.md"), "toml");
    let rules: Vec<_> = blocks
        .iter()
        .filter(|block| block.starts_with("[["))
        .collect();
    assert!(!rules.is_empty());
    for block in rules {
        let mut rules = mcpreel_replay::rules::Rules::default();
        let added = rules.add(block, Path::new("README.md"));
        assert!(added.is_ok() && rules.len() >= 3, "{added:?}");
    }
}

#[test]
fn every_example_of_the_help_is_a_command() {
    let program = Cli::command();
    for command in std::iter::once(&program).chain(program.get_subcommands()) {
        let help = command.get_after_help().map(ToString::to_string);
        let help = help.unwrap_or_default();
        let examples = help
            .split("\n\n")
            .find(|part| part.starts_with("Examples:"));
        let count = assert_parsed(examples.iter().flat_map(|examples| examples.lines()));
        assert!(count > 0 || command.is_hide_set(), "{}", command.get_name());
    }
}

#[test]
fn every_file_that_the_readme_links_to_is_there() {
    let readme = document("README.md");
    let links = readme.split("](").skip(1);
    let links = links.filter_map(|rest| rest.split_once(')'));
    let files: Vec<_> = links
        .map(|(link, _)| link)
        .filter(|link| !link.starts_with("http"))
        .collect();
    assert!(files.len() >= 4, "{files:?}");
    for file in files {
        assert!(root().join(file).exists(), "{file}");
    }
}

#[test]
fn the_page_of_rules_is_what_the_rules_say() {
    let path = root().join("docs/rules.md");
    let page = mcpreel_lint::rule::markdown();
    if std::env::var_os("MCPREEL_WRITE_RULES").is_some() {
        std::fs::write(&path, &page).expect("the page can be written");
    }
    let written = document("docs/rules.md");
    assert!(
        written == page,
        "docs/rules.md is stale: MCPREEL_WRITE_RULES=1 cargo test --test cli rules"
    );
}
