//! Calls that would be refused: on a terminal the user is asked once.

use super::only;
use super::plan::Wish;
use crate::cli::exit::Failure;
use crate::cli::output;
use mcpreel_replay::player::Guard;
use mcpreel_store::reader::Recording;
use mcpreel_trace::exchange::Exchange;
use mcpreel_wire::text::{escape, plural};
use std::io::{self, IsTerminal as _};

/// Tools that are listed.
const MOST_LISTED: usize = 20;

/// Asks whether the calls that `guard` does not allow may be made, where somebody is there.
pub fn ask(wish: &Wish<'_>, recording: &Recording, guard: &mut Guard) -> Result<(), Failure> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(());
    }
    let mut wanted = only::wanted(wish.part.only.as_deref(), recording, false)?;
    let mut is_wanted =
        |exchange: &Exchange| wanted.as_mut().is_none_or(|is_wanted| is_wanted(exchange));
    let refused = guard.refused_calls(recording, wish.part.until, &mut is_wanted)?;
    if refused.is_empty() {
        return Ok(());
    }
    let mut text = "These tools do not say that they only read:\n".to_owned();
    for (tool, calls) in refused.iter().take(MOST_LISTED) {
        let calls = plural(*calls, "call");
        let claimed = if guard.is_claimed(tool) {
            " (by the recording it only reads, but that is not your own)"
        } else {
            ""
        };
        text += &["  ", &escape(tool), ", ", &calls, claimed, "\n"].concat();
    }
    if refused.len() > MOST_LISTED {
        let more = refused.len() - MOST_LISTED;
        text += &["  and ", &more.to_string(), " more\n"].concat();
    }
    if let Some(warning) = wish.warning {
        text += warning;
        text.push('\n');
    }
    text += "Call them? Only `yes` does. ";
    output::raw_diagnostic(&text);
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    if answer.trim().eq_ignore_ascii_case("yes") {
        for tool in refused.into_keys() {
            guard.allow(tool);
        }
    }
    Ok(())
}
