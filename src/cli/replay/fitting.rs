//! Options that do nothing, as a mistyped one does: an error where the command line says so by itself,
//! a warning where the recording does. One line of options may serve many recordings.

use super::plan::Wish;
use crate::cli::args::ReplayOrder;
use crate::cli::exit::Failure;
use crate::cli::output;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::escape;
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
    for bind in &wish.driving.values.bind {
        if !has_placeholder(recording, &bind.placeholder)? {
            output::say(&format!(
                "--bind {}=…: the recording has no such placeholder",
                escape(&bind.placeholder)
            ));
        }
    }
    for (from, _) in &wish.driving.values.rewrite {
        if !may_have_path(recording, from)? {
            output::say(&format!(
                "--rewrite {}=…: there is no such path in the recording",
                escape(from)
            ));
        }
    }
    Ok(())
}

/// Whether a placeholder of this name stands in the recording, or in the command that was recorded.
fn has_placeholder(recording: &Recording, name: &str) -> Result<bool, ReadError> {
    let finder = Finder::new(name);
    // What closes it may be written as an escape.
    let is_longer = |next: Option<&u8>| next.is_some_and(u8::is_ascii_alphanumeric);
    let has = |text: &[u8]| {
        let mut found = finder.find_iter(text);
        found.any(|at| !is_longer(text.get(at + name.len())))
    };
    let argv = recording.summary()?.context.argv;
    Ok(argv.iter().any(|word| has(word.as_bytes())) || any_frame(recording, has)?)
}

/// Whether a path may stand in the recording. Slashes, and all but letters and digits, can be written
/// in several ways: the longest part without them is looked for.
fn may_have_path(recording: &Recording, path: &str) -> Result<bool, ReadError> {
    let parts = path.split(|character: char| !character.is_ascii_alphanumeric());
    let part = parts.max_by_key(|part| part.len()).unwrap_or_default();
    let finder = Finder::new(part);
    any_frame(recording, |raw| finder.find(raw).is_some())
}

/// Whether a frame `has` what is looked for, for all that is known: into one that is too long to be
/// held nobody looks.
fn any_frame(recording: &Recording, has: impl Fn(&[u8]) -> bool) -> Result<bool, ReadError> {
    let mut after = Seq(0);
    loop {
        let block = recording.frame_block(after, PAGE)?;
        let Some(last) = block.last() else {
            return Ok(false);
        };
        after = last;
        if block.iter().any(|(_, raw)| raw.is_none_or(&has)) {
            return Ok(true);
        }
    }
}
