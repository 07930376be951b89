//! A replay and an export, while they run: each has a chip in the footer, and Ctrl-C stops it.

use crate::action::Action;
use crate::app::{App, Running, Viewer};
use crate::effect::Effects;
use crate::worker::{Answer, Ask, Failure, Place, Slot};

/// Has `work` done on a thread of its own, unless such work is running already.
pub fn start(
    app: &mut App,
    slot: Slot,
    told: &str,
    work: impl FnOnce(&Place<'_>) -> Result<Answer, Failure> + Send + 'static,
) -> Effects {
    if is_busy(app, slot) {
        return vec![];
    }
    let running = Running {
        told: told.to_owned(),
        is_stopping: false,
    };
    app.running.insert(slot, running);
    let done = move |place: &Place<'_>| {
        let answer = work(place)?;
        Ok(Answer::new(move |viewer: &mut Viewer| {
            viewer.app.running.remove(&slot);
            answer.apply(viewer)
        }))
    };
    let failed = move |viewer: &mut Viewer, why| {
        viewer.app.running.remove(&slot);
        viewer.app.refuse(why)
    };
    vec![app.questions.send(slot, failed, done)]
}

/// Tells how far the work of a slot is.
pub fn progress(place: &Place<'_>, slot: Slot, told: String) {
    place.tell(move |viewer| {
        if let Some(running) = viewer.app.running.get_mut(&slot) {
            running.told = told;
        }
    });
}

/// Whether work of the slot runs; if so, a message says how to stop it.
pub fn is_busy(app: &mut App, slot: Slot) -> bool {
    let is_busy = app.running.contains_key(&slot);
    if is_busy {
        app.refuse(match slot {
            Slot::Replay => "a replay is running; Ctrl-C stops it",
            _ => "something is being written; Ctrl-C stops it",
        });
    }
    is_busy
}

/// Stops what runs.
pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    // A replay is stopped harder by a second Ctrl-C; there is no harder way to stop an export.
    let is_stoppable = |slot: &Slot| {
        let running = app.running.get(slot);
        running.is_some_and(|running| *slot == Slot::Replay || !running.is_stopping)
    };
    let mut slots = [Slot::Replay, Slot::Export].into_iter();
    let slot = slots.find(|slot| action == Action::Cancel && is_stoppable(slot))?;
    let running = app.running.get_mut(&slot)?;
    let is_again = std::mem::replace(&mut running.is_stopping, true);
    if slot == Slot::Replay {
        app.say(if is_again {
            "the server is killed"
        } else {
            "the replay stops: mcpreel ends its server"
        });
    }
    Some(vec![Ask::Stop(slot).into()])
}
