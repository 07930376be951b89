//! The questions that the user is asked on a terminal before anything is started: whether the command of somebody
//! else's recording may be started, and whether calls with side effects may be made.
//!
//! A recording names the command of its server. One that this user has recorded names a command that
//! this user has started; one from elsewhere may name anything, and whoever looks into a file that a
//! stranger has sent does not expect to run it.

use crate::cli::exit::Failure;
use crate::cli::folder::{Folder, Settings};
use crate::cli::output::{self, shown};
use mcpreel_replay::player::{Command, Guard};
use mcpreel_share::phrases;
use mcpreel_store::library::Library;
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_wire::text::{escape, plural};
use std::collections::BTreeMap;
use std::path::Path;

/// Tools that are listed.
const MOST_LISTED: usize = 20;

/// Asks whether the command of a recording that is not this user's may be started; without a terminal
/// it is refused.
pub fn to_start(recording: &Path, command: &Command) -> Result<(), Failure> {
    let words = command.words.iter();
    let words: Vec<_> = words.map(|word| word.to_string_lossy().into()).collect();
    let (path, words) = (shown(recording), phrases::command(&words));
    let dir = command.dir.as_deref();
    let dir = dir.map_or_else(|| "this folder".to_owned(), shown);
    if !output::is_attended() {
        return Err(Failure::Unsafe(format!(
            "{path} is not one of your recordings, so the command in it is not started unseen: \
             {words} (in {dir}); give a command after `--`, or start that one with \
             --run-recorded-command"
        )));
    }
    let answer = output::ask(&format!(
        "{path} is not one of your recordings. It names this command:\n  {words}\nin {dir}\n\
         Start it? Only `yes` does. "
    ))?;
    if answer == "yes" {
        return Ok(());
    }
    Err(Failure::Unsafe(
        "nothing was started; a command after `--` is started instead of the recorded one".into(),
    ))
}

/// Whether this user has recorded it. A folder that is named by `--dir` may be anybody's.
pub fn is_own(recording: &Recording, summary: &Summary) -> bool {
    let folder = Settings::read().recordings_dir(&Folder::default());
    folder.is_ok_and(|dir| Library::new(dir).made(recording, summary))
}

/// Asks whether the `refused` calls of tools may be made after all, where somebody is there.
/// `warning` is a line more of the question.
pub fn to_call(
    refused: &BTreeMap<Box<str>, u64>,
    warning: &str,
    guard: &mut Guard,
) -> Result<(), Failure> {
    if refused.is_empty() || !output::is_attended() {
        return Ok(());
    }
    let tools = refused.iter().map(|(tool, calls)| {
        let claimed = if guard.is_claimed(tool) {
            " (by the recording it only reads, but that is not your own)"
        } else {
            ""
        };
        format!("{}, {}{claimed}", escape(tool), plural(*calls, "call"))
    });
    let tools = output::some(tools, refused.len() as u64, MOST_LISTED);
    let answer = output::ask(&format!(
        "These tools do not say that they only read:\n  {}\n{warning}Call them? Only `yes` does. ",
        tools.join("\n  ")
    ))?;
    if answer == "yes" {
        for tool in refused.keys() {
            guard.allow(tool.clone());
        }
    }
    Ok(())
}
