//! What the recorded server had in its environment and one that is started now has not: a reason
//! why it does something else.

use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_wire::text::{escape, plural};

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

/// Which variables are not set now, in a sentence; `None` where there is none. Their values were
/// never on record.
pub fn lacking(recording: &Recording) -> Result<Option<String>, ReadError> {
    let recorded = recording.summary()?.context.env_names;
    let is_set = |name: &str| std::env::var_os(name).is_some();
    Ok(told(&recorded, is_set))
}

fn told(recorded: &[String], is_set: impl Fn(&str) -> bool) -> Option<String> {
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
    use super::told;

    #[test]
    fn what_is_not_set_is_named_but_for_what_belongs_to_a_window() {
        let recorded = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let names = recorded(&["_", "DB_URL", "HOME", "SSH_TTY", "TERM_PROGRAM", "_MODE"]);
        let said = told(&names, |name| name == "HOME").unwrap();
        assert!(
            said.ends_with("2 variables that you have not set: DB_URL, _MODE"),
            "{said}"
        );
        assert_eq!(
            told(&recorded(&["HOME", "PWD"]), |name| name == "HOME"),
            None
        );
        let many: Vec<_> = (0..12).map(|n| format!("V{n}")).collect();
        assert!(told(&many, |_| false).unwrap().ends_with("V9 and 2 more"));
    }
}
