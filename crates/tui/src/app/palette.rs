//! Any command, by parts of its name.

use crate::action::{Action, Context, Row, TABLE};
use frizbee::{Config, Matcher};
use mcpreel_trace::frame::Seq;
use tui_input::Input;

/// What has no key that would say so, but can be done in a recording only.
const NEEDS_RECORDING: [Action; 5] = [
    Action::Goto,
    Action::Follow,
    Action::Unselect,
    Action::SaveView,
    Action::LeaveView,
];

const VIEW: &str = "view ";

#[derive(Debug, Default)]
pub struct Palette {
    pub input: Input,
    pub at: usize,
    /// The first row on the screen, where the wheel has left it; none: the cursor is seen.
    pub wheel: Option<usize>,
    /// Where the keys were before: what can be done there.
    pub contexts: Vec<Context>,
    /// The views that have a name, with what they show.
    pub views: Vec<(String, String)>,
}

/// What a line of the palette does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    Do(Action),
    Goto(Seq),
    /// Play until a filter matches: `play until is:failed`.
    PlayUntil(String),
    /// Something with a view that has a name.
    View(Named),
}

/// What is done with a view that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    Use(String),
    /// What is shown is kept under it: `view save NAME`.
    Save(String),
    /// It is forgotten: `view delete NAME`.
    Delete(String),
}

impl Palette {
    /// The commands that fit what is typed, the best first.
    pub fn commands(&self) -> Vec<Command> {
        let typed = self.input.value().trim().trim_start_matches(':');
        if let Ok(seq) = typed.trim_start_matches('#').parse() {
            return vec![Command::Goto(Seq(seq))];
        }
        if let Some(filter) = typed.strip_prefix("play until ") {
            return vec![Command::PlayUntil(filter.to_owned())];
        }
        if let Some(save) = self.in_recording(typed, "view save") {
            return vec![Command::View(Named::Save(save.to_owned()))];
        }
        if let Some(delete) = self.in_recording(typed, "view delete") {
            return self.named(delete, "", Named::Delete);
        }
        if typed.len() > VIEW.len() && "view delete".starts_with(typed) {
            let none = self.named("", "", Named::Delete);
            return self.in_recording("", "").map_or(Vec::new(), |_| none);
        }
        let rows: Vec<&Row> = TABLE.iter().filter(|row| self.is_possible(row)).collect();
        if let Some(exact) = rows.iter().find(|row| row.name == typed) {
            return vec![Command::Do(exact.action)];
        }
        // What somebody has made is nearer than what everybody has.
        let mut commands = match self.in_recording("", "") {
            Some(_) => self.named(typed, VIEW, Named::Use),
            None => Vec::new(),
        };
        let texts: Vec<String> = rows
            .iter()
            .map(|row| format!("{} {}", row.name, row.help))
            .collect();
        let rows = fitting(typed, &texts).into_iter().map(|at| rows[at]);
        commands.extend(rows.map(|row| Command::Do(row.action)));
        commands
    }

    /// What stands behind a command that needs a recording.
    fn in_recording<'t>(&self, typed: &'t str, command: &str) -> Option<&'t str> {
        let rest = typed.strip_prefix(command)?;
        let is_whole = rest.is_empty() || rest.starts_with(' ') || command.is_empty();
        (is_whole && self.contexts.contains(&Context::Session)).then(|| rest.trim())
    }

    /// The views that fit what is typed, the best first; an exact name alone.
    fn named(&self, typed: &str, before: &str, does: fn(String) -> Named) -> Vec<Command> {
        let command = |(name, _): &(String, String)| Command::View(does(name.clone()));
        let exact = |name: &str| typed == name || typed.strip_prefix(before) == Some(name);
        if let Some(view) = self.views.iter().find(|(name, _)| exact(name)) {
            return vec![command(view)];
        }
        let views = self.views.iter();
        let texts: Vec<_> = views.map(|(name, _)| format!("{before}{name}")).collect();
        let found = fitting(typed, &texts).into_iter();
        found.map(|at| command(&self.views[at])).collect()
    }

    pub fn told(&self, name: &str) -> &str {
        let mut views = self.views.iter();
        let found = views.find(|(known, _)| known == name);
        found.map_or("", |(_, told)| told)
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
            views: vec![
                ("slow".to_owned(), "is:slow".to_owned()),
                ("stats of mine".to_owned(), "x, stats".to_owned()),
            ],
        };
        palette.commands()
    }

    #[test]
    fn views_are_found_by_their_names_saved_and_forgotten() {
        let shows = |name: &str| Command::View(Named::Use(name.to_owned()));
        assert_eq!(typed("view slow"), [shows("slow")]);
        assert_eq!(typed("view")[..2], [shows("slow"), shows("stats of mine")]);
        assert_eq!(typed("ofmine").first(), Some(&shows("stats of mine")));
        let save = |name: &str| Command::View(Named::Save(name.to_owned()));
        assert_eq!(typed("view save my calls "), [save("my calls")]);
        assert_eq!(typed("view save"), [save("")]);
        let delete = |name: &str| Command::View(Named::Delete(name.to_owned()));
        assert_eq!(typed("view delete slow"), [delete("slow")]);
        assert_eq!(typed("view delete ").len(), 2);
        assert_eq!(typed("view de"), [delete("slow"), delete("stats of mine")]);
        let palette = Palette {
            input: Input::new("view slow".to_owned()),
            contexts: vec![Context::Library, Context::Everywhere],
            ..Palette::default()
        };
        let is_view = |command: &Command| matches!(command, Command::View(_));
        assert!(
            !palette.commands().iter().any(is_view),
            "no recording is open"
        );
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
        assert_eq!(typed("replay"), [Command::Do(Action::Replay)]);
    }
}
