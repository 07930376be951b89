//! Views with a name: used, left, saved and forgotten.

use crate::action::Action;
use crate::app::palette::Named;
use crate::app::views::{InUse, Refusal, Saved};
use crate::app::{App, Focus};
use crate::effect::{Effect, Effects};
use mcpreel_wire::text::escape;

pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    match action {
        Action::SaveView => Some(super::palette::begin(app, "view save ")),
        Action::LeaveView => Some(leave(app)),
        _ => None,
    }
}

pub fn run(app: &mut App, named: &Named) -> Effects {
    let done = match named {
        Named::Use(name) => return use_it(app, name),
        Named::Save(name) => save(app, name),
        Named::Delete(name) => delete(app, name),
    };
    match done {
        Ok(text) => {
            app.notices.success(text, app.now);
            vec![Effect::Remember]
        }
        Err(refusal) => {
            app.notices.error(refusal.to_string(), app.now);
            vec![]
        }
    }
}

fn save(app: &mut App, name: &str) -> Result<String, Refusal> {
    let Some(session) = app.session.as_deref_mut() else {
        return Err(Refusal::Unknown(escape(name).into_owned()));
    };
    let shows = Saved::of(session);
    app.settings.views.save(name, shows.clone())?;
    let told = shows.told();
    session.named = Some(InUse {
        name: name.to_owned(),
        shows,
        before: Saved::default(),
    });
    Ok(format!("{} is kept as {}", told, escape(name)))
}

fn delete(app: &mut App, name: &str) -> Result<String, Refusal> {
    app.settings.views.delete(name)?;
    if let Some(session) = app.session.as_deref_mut() {
        session.named = session.named.take().filter(|named| named.name != name);
    }
    Ok(format!("the view {} is forgotten", escape(name)))
}

fn use_it(app: &mut App, name: &str) -> Effects {
    let Some(shows) = app.settings.views.get(name).cloned() else {
        let text = Refusal::Unknown(escape(name).into_owned()).to_string();
        app.notices.error(text, app.now);
        return vec![];
    };
    if let Some(session) = app.session.as_deref_mut() {
        // From one view to the next, what was before them is what one comes back to.
        let before = match session.in_use() {
            Some(used) => used.before.clone(),
            None => Saved::of(session),
        };
        session.named = Some(InUse {
            name: name.to_owned(),
            shows: shows.clone(),
            before,
        });
    }
    show(app, &shows)
}

/// Shows what was shown before the view.
fn leave(app: &mut App) -> Effects {
    let used = app.session.as_deref_mut();
    let used = used.and_then(|session| session.named.take());
    if let Some(used) = used {
        return show(app, &used.before);
    }
    app.notices.success("no named view is in use", app.now);
    vec![]
}

fn show(app: &mut App, shows: &Saved) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    session.view = shows.view;
    session.focus = Focus::Main;
    session.stats.sort = shows.sort;
    session.stats.reverse = shows.reverse;
    let other_rows = session.lens != shows.lens();
    session.lens = shows.lens();
    let mut effects = super::filter::set(app, &shows.filter);
    if other_rows {
        effects = super::list::begin(app);
    }
    effects.extend(super::session::remember(app));
    effects
}
