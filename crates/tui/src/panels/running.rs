//! A replay and an export, while they run: each has a chip in the footer, and Ctrl-C stops it.

use crate::action::Action;
use crate::app::{App, Running, Viewer};
use crate::effect::Effects;
use crate::worker::{Answer, Ask, Place, Slot};

/// Has `work` done on a thread of its own, unless such work is running already.
pub fn start(
    app: &mut App,
    slot: Slot,
    told: &str,
    work: impl FnOnce(&Place<'_>) -> Result<Answer, String> + Send + 'static,
) -> Effects {
    let running = Running {
        told: told.to_owned(),
        is_stopping: false,
    };
    app.running.insert(slot, running);
    let failed = match slot {
        Slot::Replay => |viewer: &mut Viewer, why| failed(viewer, Slot::Replay, why),
        _ => |viewer: &mut Viewer, why| failed(viewer, Slot::Export, why),
    };
    vec![app.questions.send(slot, failed, work)]
}

fn failed(viewer: &mut Viewer, slot: Slot, why: String) -> Effects {
    let app = &mut viewer.app;
    app.running.remove(&slot);
    app.notices.error(why, app.now);
    vec![]
}

/// Tells how far it is.
pub fn progress(place: &Place<'_>, slot: Slot, told: String) {
    place.tell(move |viewer| {
        if let Some(running) = viewer.app.running.get_mut(&slot) {
            running.told = told;
        }
    });
}

/// Whether it runs; if so, a message says how to stop it.
pub fn is_busy(app: &mut App, slot: Slot) -> bool {
    let is_busy = app.running.contains_key(&slot);
    if is_busy {
        let text = match slot {
            Slot::Replay => "a replay is running; Ctrl-C stops it",
            _ => "something is being written; Ctrl-C stops it",
        };
        app.notices.error(text, app.now);
    }
    is_busy
}

/// Stops what runs.
pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    let slot = match action {
        Action::StopReplay => Slot::Replay,
        Action::StopExport => Slot::Export,
        Action::Cancel if app.running.contains_key(&Slot::Replay) => Slot::Replay,
        // There is no harder way to stop an export: a second Ctrl-C is about something else.
        Action::Cancel
            if app
                .running
                .get(&Slot::Export)
                .is_some_and(|one| !one.is_stopping) =>
        {
            Slot::Export
        }
        _ => return None,
    };
    let Some(running) = app.running.get_mut(&slot) else {
        app.notices.error("nothing like that is running", app.now);
        return Some(vec![]);
    };
    if slot == Slot::Replay {
        let text = if running.is_stopping {
            "the server is killed"
        } else {
            "the replay stops: its server is told to end"
        };
        app.notices.success(text, app.now);
    }
    running.is_stopping = true;
    Some(vec![Ask::Stop(slot).into()])
}
