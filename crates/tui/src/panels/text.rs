//! Texts that lie on top: help, messages, a string in full.

use crate::action::Context;
use crate::app::{App, Handlers, Overlay, Session};
pub use crate::widget::pager::Text;
use ratatui::Frame;
use ratatui::layout::Rect;

impl Overlay for Text {
    fn context(&self) -> Context {
        Context::Text
    }

    fn handlers(&self) -> Handlers {
        Handlers {
            perform: |viewer, action| {
                let area = area(viewer.app.size);
                let text = viewer.app.top_mut::<Self>()?;
                text.scroll(action, area).map(|()| vec![])
            },
            // A click beside the text closes it.
            click: |viewer, cell, _| {
                if !area(viewer.app.size).contains(cell.into()) {
                    viewer.app.overlays.pop();
                }
                vec![]
            },
            wheel: |viewer, by| {
                let area = area(viewer.app.size);
                if let Some(text) = viewer.app.top_mut::<Self>() {
                    text.wheel(by, area);
                }
                vec![]
            },
            ..Handlers::NONE
        }
    }

    fn draw(&self, app: &App, _: Option<&Session>, whole: Rect, frame: &mut Frame<'_>) {
        let area = area(app.size).intersection(whole);
        self.draw(&app.settings.look, "Esc closes", true, area, frame);
    }
}

/// The frame of a text: the screen, with a margin where there is room for one.
fn area((columns, rows): (u16, u16)) -> Rect {
    let (x, y) = (u16::from(columns >= 60) * 3, u16::from(rows >= 16));
    Rect::new(x, y, columns - 2 * x, rows - 2 * y)
}
