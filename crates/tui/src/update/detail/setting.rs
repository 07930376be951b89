//! How the body is written, what of it is folded, and how much of it is there.

use super::settle;
use crate::action::Action;
use crate::app::detail::Tab;
use crate::app::menu::{Choice, Entry, Menu};
use crate::app::{App, Overlay};
use crate::effect::Effects;
use crate::widget::tree::Tree;
use crate::worker::detail;
use mcpreel_wire::json::Stopped;

/// How the body is written, and how much of it.
pub(super) fn perform(app: &mut App, action: Action) -> Option<Effects> {
    let detail = &mut app.session.as_deref_mut()?.detail;
    match action {
        Action::Representation => detail.representation = detail.representation.next(),
        Action::Sides => detail.sides = detail.sides.next(),
        Action::LoadMore => return Some(load_more(app)),
        Action::Fold => {
            app.overlays.push(Overlay::Menu(fold_menu()));
            return Some(vec![]);
        }
        _ => return None,
    }
    detail.tab = Tab::Body;
    settle(app);
    Some(vec![])
}

fn fold_menu() -> Menu {
    let level = |level: u8| Entry {
        letter: char::from(b'0' + level),
        label: match level {
            1 => "one level".to_owned(),
            _ => format!("{level} levels"),
        },
        choice: Choice::FoldTo(Some(level.into())),
    };
    let all = Entry {
        letter: 'a',
        label: "unfold all".to_owned(),
        choice: Choice::FoldTo(None),
    };
    let levels = (1..=5).map(level);
    Menu::new("unfold", [all].into_iter().chain(levels).collect())
}

/// Folds the tree under the cursor to a level; none unfolds all.
pub fn fold_to(app: &mut App, level: Option<usize>) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let Some(shown) = session.detail.shown.as_deref_mut() else {
        return vec![];
    };
    // On a heading that has no tree, such as a finding, all of them are meant.
    let at = shown.at.cursor.part;
    let one = shown
        .parts
        .get(at)
        .is_some_and(|part| part.tree().is_some());
    for (part, _) in shown
        .parts
        .iter_mut()
        .zip(0..)
        .filter(|(_, nth)| !one || *nth == at)
    {
        if let Some(tree) = part.tree_mut() {
            match level {
                Some(level) => tree.fold_to(u16::try_from(level).unwrap_or(u16::MAX)),
                None => tree.unfold_all(),
            }
        }
    }
    settle(app);
    vec![]
}

pub(super) fn load_more(app: &mut App) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let detail = &mut session.detail;
    let parts = detail.shown.iter().flat_map(|shown| &shown.parts);
    let is_cut = parts.filter_map(|part| part.text.as_ref()).any(is_cut);
    match detail.amount.next() {
        Some(amount) if is_cut => detail.amount = amount,
        _ if is_cut => {
            let text = "more than this is not held; `mcpreel show --json` has all of it";
            app.notices.error(text, app.now);
        }
        _ => app.notices.success("all of it is here", app.now),
    }
    vec![]
}

fn is_cut(text: &detail::Text) -> bool {
    let stopped = text.tree.as_deref().and_then(Tree::stopped);
    (text.bytes.len() as u64) < text.size || matches!(stopped, Some(Stopped::Enough { .. }))
}
