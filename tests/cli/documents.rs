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

/// The README and the pages that it links to, by path. The rules' page is checked by itself, that of
/// the architecture has no commands.
pub(super) fn pages() -> Vec<(String, String)> {
    let pages = std::fs::read_dir(root().join("docs")).expect("the pages are there");
    let names = pages.map(|page| page.expect("it is listed").file_name());
    let names = names.map(|name| format!("docs/{}", name.to_string_lossy()));
    let names = names.filter(|name| {
        Path::new(name).extension().is_some_and(|end| end == "md") && name != "docs/rules.md"
    });
    let names = names.chain(["README.md".to_owned()]);
    names.map(|name| (name.clone(), document(&name))).collect()
}

/// The fenced blocks of a document in one language.
pub(super) fn blocks(document: &str, language: &str) -> Vec<String> {
    let fenced = document.split("```").skip(1).step_by(2);
    let blocks = fenced.filter_map(|block| block.split_once('\n'));
    blocks
        .filter(|(name, _)| *name == language)
        .map(|(_, text)| text.to_owned())
        .collect()
}

/// The code between backticks in the prose of a document.
pub(super) fn spans(document: &str) -> Vec<String> {
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
fn every_command_of_the_readme_and_the_pages_is_one() {
    for (name, page) in pages() {
        // In prose a command may stand for itself, without what it needs.
        let mut shown = spans(&page);
        shown.retain(|span| {
            let command = span.strip_prefix("mcpreel ").unwrap_or(span);
            Cli::command().find_subcommand(command).is_none()
        });
        for language in ["sh", "text"] {
            let blocks = blocks(&page, language);
            let lines = blocks.iter().flat_map(|text| text.lines());
            shown.extend(lines.map(str::to_owned));
        }
        let count = assert_parsed(shown);
        let least = if name == "README.md" { 20 } else { 0 };
        assert!(count >= least, "{name} was not understood: {count}");
    }
}

#[test]
fn the_readme_is_short() {
    let lines = document("README.md").lines().count();
    assert!(
        lines <= 150,
        "{lines} lines; what is more belongs to a page in docs"
    );
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
fn the_rules_of_the_page_on_comparisons_are_read() {
    let blocks = blocks(&document("docs/diff.md"), "toml");
    assert!(!blocks.is_empty());
    for block in blocks {
        let mut rules = mcpreel_replay::rules::Rules::default();
        let added = rules.add(&block, Path::new("diff.md"));
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
fn every_file_that_a_page_links_to_is_there() {
    for (name, page) in pages() {
        let page = page.replace("`](", "](");
        let links = page.split("](").skip(1);
        let links = links.filter_map(|rest| Some(rest.split_once(')')?.0));
        let folder = root().join(&name);
        let folder = folder.parent().expect("it has a folder");
        for link in links.filter(|link| !link.starts_with("http")) {
            let file = link.split('#').next().unwrap_or(link);
            assert!(folder.join(file).exists(), "{name}: {link}");
        }
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
