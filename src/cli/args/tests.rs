//! What the command line means.

use super::*;
use clap::CommandFactory;

fn run(words: &[&str]) -> Run {
    let words = ["mcpreel", "run"].iter().chain(words);
    match Cli::try_parse_from(words).expect("it parses").command {
        Some(Command::Run(run)) => run,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_definition_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn options_after_the_command_belong_to_it_with_and_without_the_dashes() {
    for words in [
        &["--name", "n", "--", "npx", "-y", "--name", "x"][..],
        &["--name", "n", "npx", "-y", "--name", "x"],
    ] {
        let run = run(words);
        assert_eq!(run.command, ["npx", "-y", "--name", "x"]);
        assert_eq!(run.name.as_deref(), Some("n"));
    }
}

#[test]
fn dashes_after_the_command_belong_to_it() {
    assert_eq!(run(&["srv", "--", "-x"]).command, ["srv", "--", "-x"]);
    assert_eq!(run(&["--", "srv", "--", "-x"]).command, ["srv", "--", "-x"]);
    assert_eq!(run(&["--", "--odd"]).command, ["--odd"]);
}

#[test]
fn a_misspelt_option_is_not_taken_for_the_command() {
    assert!(Cli::try_parse_from(["mcpreel", "run", "--nmae", "n", "srv"]).is_err());
    assert!(Cli::try_parse_from(["mcpreel", "run"]).is_err());
}

#[test]
#[cfg(unix)]
fn arguments_need_not_be_text() {
    use std::os::unix::ffi::OsStringExt as _;
    let odd = OsString::from_vec(vec![b'/', 0xff]);
    let words = ["mcpreel", "run", "srv"].map(OsString::from);
    let words = words.into_iter().chain([odd.clone()]);
    let Some(Command::Run(run)) = Cli::try_parse_from(words).expect("it parses").command else {
        panic!("another command");
    };
    assert_eq!(run.command[1], odd);
}
