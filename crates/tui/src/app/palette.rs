//! Any command, by parts of its name.

use crate::action::{Action, Context, Row, TABLE};
use frizbee::{Config, Matcher};
use mcpreel_trace::frame::Seq;
use tui_input::Input;

/// Actions without a key that need a recording.
const NEEDS_RECORDING: [Action; 3] = [Action::Goto, Action::Follow, Action::Unselect];

#[derive(Debug, Default)]
pub struct Palette {
    pub input: Input,
    pub at: usize,
    /// The first row on the screen, where the wheel has left it; none: the cursor is seen.
    pub wheel: Option<usize>,
    /// Where the keys were before: what can be done there.
    pub contexts: Vec<Context>,
}

/// What a line of the palette does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    Do(Action),
    Goto(Seq),
}

impl Palette {
    /// The commands that fit what is typed, the best first.
    pub fn commands(&self) -> Vec<Command> {
        let typed = self.input.value().trim().trim_start_matches(':');
        if let Ok(seq) = typed.trim_start_matches('#').parse() {
            return vec![Command::Goto(Seq(seq))];
        }
        let rows: Vec<&Row> = TABLE.iter().filter(|row| self.is_possible(row)).collect();
        if let Some(exact) = rows.iter().find(|row| row.name == typed) {
            return vec![Command::Do(exact.action)];
        }
        let texts: Vec<String> = rows
            .iter()
            .map(|row| format!("{} {}", row.name, row.help))
            .collect();
        let rows = fitting(typed, &texts).into_iter().map(|at| rows[at]);
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

/// Which of these texts fit what is typed, the best first; all where nothing is.
fn fitting(typed: &str, texts: &[String]) -> Vec<usize> {
    if typed.is_empty() {
        return (0..texts.len()).collect();
    }
    let mut matcher = Matcher::new(typed, &Config::default());
    let found = matcher.match_list(texts);
    let found = found.iter().map(|found| found.index as usize);
    found.filter(|at| *at < texts.len()).collect()
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
    fn numbers_are_frames() {
        assert_eq!(typed("#1187"), [Command::Goto(Seq(1187))]);
    }

    #[test]
    fn only_what_can_be_done_here_is_offered() {
        let all = typed("");
        assert!(all.contains(&Command::Do(Action::Filter)));
        assert!(all.contains(&Command::Do(Action::Quit)));
        assert!(!all.contains(&Command::Do(Action::ZoomIn)));
        assert_eq!(typed("replay"), [Command::Do(Action::Replay)]);
    }
}
