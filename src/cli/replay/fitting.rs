//! Options that do nothing, as a mistyped one does: an error where the command line says so by itself,
//! a warning where the recording does. One line of options may serve many recordings.

use super::plan::Wish;
use crate::cli::args::ReplayOrder;
use crate::cli::exit::Failure;
use crate::cli::output;
use crate::store::reader::{ReadError, Recording};
use crate::text::escape;
use crate::trace::frame::Seq;
use memchr::memmem::Finder;

/// Frames that are read at once.
const PAGE: u32 = 500;

/// Refuses options that contradict each other, and warns of those that fit nothing on record.
pub fn check(wish: &Wish<'_>, recording: &Recording) -> Result<(), Failure> {
    let pace = &wish.driving.pace;
    let given = [
        ("--speed", pace.speed.is_some()),
        ("--max-gap", pace.max_gap.is_some()),
    ];
    if pace.order != ReplayOrder::Timed
        && let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given)
    {
        let message = format!("{option} says something only with --order timed");
        return Err(Failure::Usage(message));
    }
    for tool in &wish.driving.allowed.allow_tool {
        if !recording.has_exchange_with("tools/call", tool)? {
            output::say(&format!(
                "--allow-tool {}: the recording has no call of such a tool",
                escape(tool)
            ));
        }
    }
    for (from, _) in &wish.driving.values.rewrite {
        if !may_have(recording, from)? {
            output::say(&format!(
                "--rewrite {}=…: there is no such path in the recording",
                escape(from)
            ));
        }
    }
    Ok(())
}

/// Whether a path may stand in the recording. Slashes, and all but letters and digits, can be written
/// in several ways: the longest part without them is looked for.
fn may_have(recording: &Recording, path: &str) -> Result<bool, ReadError> {
    let parts = path.split(|character: char| !character.is_ascii_alphanumeric());
    let part = parts.max_by_key(|part| part.len()).unwrap_or_default();
    let (finder, mut after) = (Finder::new(part), Seq(0));
    loop {
        let block = recording.frame_block(after, PAGE)?;
        let Some(last) = block.last() else {
            return Ok(false);
        };
        after = last;
        // What is too long to be held is not looked into.
        let mut frames = block.iter();
        if frames.any(|(_, raw)| raw.is_none_or(|raw| finder.find(raw).is_some())) {
            return Ok(true);
        }
    }
}
