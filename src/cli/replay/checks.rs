//! Warnings: of options that do nothing, as mistyped ones do, and of variables that the recorded
//! server had. One line of options may serve many recordings, so that what fits nothing on record is
//! no error.

use super::plan::Wish;
use crate::cli::args::ReplayOrder;
use crate::cli::exit::Failure;
use crate::cli::output;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::{escape, plural};
use memchr::memmem::Finder;

/// Frames that are read at once.
const PAGE: u32 = 500;

/// Variables of a terminal, a shell or a desktop: they differ from window to window, and servers do
/// not go by them.
const OF_A_WINDOW: [&str; 14] = [
    "_",
    "COLORTERM",
    "COLUMNS",
    "DBUS_",
    "DISPLAY",
    "LINES",
    "OLDPWD",
    "PWD",
    "SHLVL",
    "SSH_",
    "TERM",
    "TMUX",
    "WINDOWID",
    "XDG_",
];

/// Variables that are named.
const MOST_NAMED: usize = 10;

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
            warn(
                "--allow-tool ",
                tool,
                ": the recording has no call of such a tool",
            );
        }
    }
    for bind in &wish.driving.values.bind {
        if !has_placeholder(recording, &bind.placeholder)? {
            let what = "=…: the recording has no such placeholder";
            warn("--bind ", &bind.placeholder, what);
        }
    }
    for (from, _) in &wish.driving.values.rewrite {
        if !may_have_path(recording, from)? {
            warn(
                "--rewrite ",
                from,
                "=…: there is no such path in the recording",
            );
        }
    }
    Ok(())
}

fn warn(option: &str, value: &str, what: &str) {
    output::say(&format!("{option}{}{what}", escape(value)));
}

/// Whether a placeholder of this name stands in the recording, or in the recorded command.
fn has_placeholder(recording: &Recording, name: &str) -> Result<bool, ReadError> {
    let finder = Finder::new(name);
    let argv = recording.summary()?.context.argv;
    let in_argv = argv
        .iter()
        .any(|word| finder.find(word.as_bytes()).is_some());
    Ok(in_argv || any_frame_has(recording, &finder)?)
}

/// Whether a path may stand in the recording. Slashes, and all but letters and digits, can be written
/// in several ways: the longest part without them is looked for.
fn may_have_path(recording: &Recording, path: &str) -> Result<bool, ReadError> {
    let parts = path.split(|character: char| !character.is_ascii_alphanumeric());
    let part = parts.max_by_key(|part| part.len()).unwrap_or_default();
    any_frame_has(recording, &Finder::new(part))
}

/// Whether a frame has this text; a frame that is too long to be held may.
fn any_frame_has(recording: &Recording, text: &Finder<'_>) -> Result<bool, ReadError> {
    let has = |raw: Option<&[u8]>| raw.is_none_or(|raw| text.find(raw).is_some());
    let mut after = Seq(0);
    loop {
        let block = recording.frame_block(after, PAGE)?;
        let Some(last) = block.last() else {
            return Ok(false);
        };
        after = last;
        if block.iter().any(|(_, raw)| has(raw)) {
            return Ok(true);
        }
    }
}

/// Which variables are not set now, in a sentence; `None` where there is none. Their values were
/// never on record.
pub fn lacking(recording: &Recording) -> Result<Option<String>, ReadError> {
    let recorded = recording.summary()?.context.env_names;
    let is_set = |name: &str| std::env::var_os(name).is_some();
    Ok(missing(&recorded, is_set))
}

fn missing(recorded: &[String], is_set: impl Fn(&str) -> bool) -> Option<String> {
    let is_of_a_window = |name: &str| {
        let mut known = OF_A_WINDOW.iter();
        known.any(|known| name == *known || known.len() > 1 && name.starts_with(known))
    };
    let missing = recorded
        .iter()
        .filter(|name| !name.is_empty() && !name.contains(['=', '\0']));
    let missing = missing.filter(|name| !is_of_a_window(name) && !is_set(name));
    let missing: Vec<_> = missing.map(|name| escape(name)).collect();
    let named = missing[..missing.len().min(MOST_NAMED)].join(", ");
    let more = match missing.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let variables = plural(missing.len() as u64, "variable");
    (!missing.is_empty()).then(|| {
        format!("the recorded server had {variables} that you have not set: {named}{more}")
    })
}

#[cfg(test)]
mod tests {
    use super::missing;

    #[test]
    fn what_is_not_set_is_named_but_for_what_belongs_to_a_window() {
        let recorded = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let names = recorded(&["_", "DB_URL", "HOME", "SSH_TTY", "TERM_PROGRAM", "_MODE"]);
        let said = missing(&names, |name| name == "HOME").unwrap();
        assert!(
            said.ends_with("2 variables that you have not set: DB_URL, _MODE"),
            "{said}"
        );
        assert_eq!(
            missing(&recorded(&["HOME", "PWD"]), |name| name == "HOME"),
            None
        );
        let many: Vec<_> = (0..12).map(|n| format!("V{n}")).collect();
        assert!(
            missing(&many, |_| false)
                .unwrap()
                .ends_with("V9 and 2 more")
        );
    }
}
