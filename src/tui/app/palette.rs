//! Any command, by parts of its name.

use crate::trace::frame::Seq;
use crate::tui::action::{Action, Context, Row, TABLE};
use frizbee::{Config, Matcher};
use tui_input::Input;

/// What has no key that would say so, but can be done in a recording only.
const NEEDS_RECORDING: [Action; 3] = [Action::Goto, Action::Follow, Action::Unselect];

/// The palette.
#[derive(Debug, Default)]
pub struct Palette {
    /// What is typed.
    pub input: Input,
    /// The row under the cursor.
    pub at: usize,
    /// The first row on the screen, where the wheel has left it; none: the cursor is seen.
    pub wheel: Option<usize>,
    /// Where the keys were before: what can be done there.
    pub contexts: Vec<Context>,
}

/// What a line of the palette does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// An action.
    Do(Action),
    /// To a frame: `1187`.
    Goto(Seq),
    /// Play until a filter matches: `play until is:failed`.
    PlayUntil(String),
}

impl Palette {
    /// The commands that fit what is typed, the best first.
    #[must_use]
    pub fn commands(&self) -> Vec<Command> {
        let typed = self.input.value().trim().trim_start_matches(':');
        if let Ok(seq) = typed.trim_start_matches('#').parse() {
            return vec![Command::Goto(Seq(seq))];
        }
        if let Some(filter) = typed.strip_prefix("play until ") {
            return vec![Command::PlayUntil(filter.to_owned())];
        }
        let rows: Vec<&Row> = TABLE.iter().filter(|row| self.is_possible(row)).collect();
        if typed.is_empty() {
            return rows.iter().map(|row| Command::Do(row.action)).collect();
        }
        if let Some(exact) = rows.iter().find(|row| row.name == typed) {
            return vec![Command::Do(exact.action)];
        }
        let texts: Vec<String> = rows
            .iter()
            .map(|row| format!("{} {}", row.name, row.help))
            .collect();
        let mut matcher = Matcher::new(typed, &Config::default());
        let found = matcher.match_list(&texts);
        let rows = found
            .iter()
            .filter_map(|found| rows.get(found.index as usize));
        rows.map(|row| Command::Do(row.action)).collect()
    }

    /// Whether it can be done where the keys were.
    fn is_possible(&self, row: &Row) -> bool {
        if NEEDS_RECORDING.contains(&row.action) && !self.contexts.contains(&Context::Session) {
            return false;
        }
        let mut contexts = row.keys.iter().map(|(context, _)| context);
        row.keys.is_empty() || contexts.any(|context| self.contexts.contains(context))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Vec<Command> {
        let palette = Palette {
            input: Input::new(text.to_owned()),
            at: 0,
            wheel: None,
            contexts: vec![Context::List, Context::Session, Context::Everywhere],
        };
        palette.commands()
    }

    #[test]
    fn parts_of_a_name_find_the_command() {
        assert_eq!(
            typed("nxtfail").first(),
            Some(&Command::Do(Action::NextFailure))
        );
        assert_eq!(typed("stats"), [Command::Do(Action::Stats)]);
    }

    #[test]
    fn numbers_are_frames_and_play_takes_a_filter() {
        assert_eq!(typed("#1187"), [Command::Goto(Seq(1187))]);
        assert_eq!(
            typed("play until is:failed"),
            [Command::PlayUntil("is:failed".to_owned())]
        );
    }

    #[test]
    fn only_what_can_be_done_here_is_offered() {
        let all = typed("");
        assert!(all.contains(&Command::Do(Action::Filter)));
        assert!(all.contains(&Command::Do(Action::Quit)));
        assert!(!all.contains(&Command::Do(Action::ZoomIn)));
    }
}
