//! What the user is asked on a terminal before anything is started: whether the command of somebody
//! else's recording may be started, and whether calls with side effects may be made.
//!
//! A recording names the command of its server. One that this user has recorded names a command that
//! this user has started; one from elsewhere may name anything, and whoever looks into a file that a
//! stranger has sent does not expect to run it.

use super::driving::{Driving, Part};
use super::part;
use crate::cli::exit::Failure;
use crate::cli::folder::{Folder, Settings};
use crate::cli::output;
use mcpreel_replay::player::{Command, Guard};
use mcpreel_share::phrases;
use mcpreel_store::library::Library;
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_trace::exchange::Exchange;
use mcpreel_wire::text::{escape, plural};
use std::io::{self, IsTerminal as _};

/// Tools that are listed.
const MOST_LISTED: usize = 20;

/// Asks whether the recorded command may be started, where nobody has said so and the recording is
/// not this user's own; without a terminal it is refused.
pub fn to_start(
    driving: &Driving,
    recording: &Recording,
    summary: &Summary,
    command: &Command,
) -> Result<(), Failure> {
    let said = !driving.command.is_empty() || driving.allowed.run_recorded_command;
    if said || is_own(recording, summary) {
        return Ok(());
    }
    let path = recording.path().display().to_string();
    let words = command
        .words
        .iter()
        .map(|word| word.to_string_lossy().into_owned());
    let words = phrases::command(&words.collect::<Vec<_>>());
    let place = command.dir.as_ref().map_or_else(
        || "this folder".to_owned(),
        |dir| escape(&dir.display().to_string()).into_owned(),
    );
    if !is_attended() {
        return Err(Failure::Unsafe(format!(
            "{} is none of your own recordings, so the command in it is not started unseen: \
             {words} (in {place}); give a command after `--`, or start that one with \
             --run-recorded-command",
            escape(&path)
        )));
    }
    output::raw_diagnostic(&format!(
        "{} is none of your own recordings. It names this command:\n  {words}\nin {place}\n\
         Start it? Only `yes` does. ",
        escape(&path)
    ));
    if says_yes()? {
        return Ok(());
    }
    let message =
        "nothing was started; a command after `--` is started instead of the recorded one";
    Err(Failure::Unsafe(message.to_owned()))
}

/// Whether this user has recorded it. A folder that is named by `--dir` may be anybody's.
pub fn is_own(recording: &Recording, summary: &Summary) -> bool {
    let folder = Settings::read().recordings_dir(&Folder::default());
    folder.is_ok_and(|dir| Library::new(dir).made(recording, summary))
}

/// Asks whether the calls that `guard` does not allow may be made, where somebody is there.
/// `warning` is a line more of the question.
pub fn to_call(
    part: &Part,
    warning: Option<&str>,
    recording: &Recording,
    guard: &mut Guard,
) -> Result<(), Failure> {
    if !is_attended() {
        return Ok(());
    }
    let mut wanted = part::only_filter(part.only.as_deref(), recording, false)?;
    let mut is_wanted =
        |exchange: &Exchange| wanted.as_mut().is_none_or(|is_wanted| is_wanted(exchange));
    let refused = guard.refused_calls(recording, part.until, &mut is_wanted)?;
    if refused.is_empty() {
        return Ok(());
    }
    let tools = refused.iter().map(|(tool, calls)| {
        let (name, calls) = (escape(tool), plural(*calls, "call"));
        let claimed = if guard.is_claimed(tool) {
            " (by the recording it only reads, but that is not your own)"
        } else {
            ""
        };
        format!("{name}, {calls}{claimed}")
    });
    let tools = output::some(tools, refused.len() as u64, MOST_LISTED);
    let tools = tools.join("\n  ");
    let mut text = format!("These tools do not say that they only read:\n  {tools}\n");
    if let Some(warning) = warning {
        text += warning;
        text.push('\n');
    }
    text += "Call them? Only `yes` does. ";
    output::raw_diagnostic(&text);
    if says_yes()? {
        for tool in refused.into_keys() {
            guard.allow(tool);
        }
    }
    Ok(())
}

/// Whether somebody is there to answer.
fn is_attended() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

fn says_yes() -> io::Result<bool> {
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(answer.trim().eq_ignore_ascii_case("yes"))
}
