//! The arguments of a call, while they are edited.

use mcpreel_replay::arguments::{Arguments, Mistake};
use ratatui::style::{Modifier, Style};
use ratatui_textarea::{TextArea, WrapMode};

/// The arguments of a call, while they are edited.
#[derive(Debug)]
pub struct Editor {
    pub title: String,
    pub arguments: Arguments,
    pub area: TextArea<'static>,
    /// Why it was not taken the last time.
    pub mistake: Option<Mistake>,
}

impl Editor {
    /// `arguments` about to be edited, as `text`, which is what has become of them before.
    pub fn new(title: String, arguments: Arguments, text: &str) -> Self {
        let mut area = TextArea::new(text.lines().map(str::to_owned).collect());
        // Nothing is told by colour alone, and no colour is used where none is wanted.
        area.set_cursor_line_style(Style::default());
        area.set_selection_style(Style::default().add_modifier(Modifier::REVERSED));
        area.set_wrap_mode(WrapMode::Glyph);
        area.set_tab_length(2);
        Self {
            title,
            arguments,
            area,
            mistake: None,
        }
    }

    pub fn text(&self) -> String {
        self.area.lines().join("\n")
    }
}
