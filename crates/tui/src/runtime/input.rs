//! Keys, mouse and the size of the terminal, on a thread of their own.
//!
//! Whoever knows the viewer types ahead. A key that moves the cursor while there are no rows moves
//! nothing, and the next one opens another row than the one that was meant: both wait until the
//! first rows are there.

use crate::app::Viewer;
use crate::effect::Msg;
use crate::keymap::Key;
use crate::update;
use crossterm::event::{Event, KeyEventKind, poll, read};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use std::collections::VecDeque;
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::Duration;

/// Reads events and sends them, until the viewer or the terminal has gone. Signals that ask a
/// program to end come as [`Msg::Leave`], so that the terminal is given back first.
pub(super) fn start(sender: SyncSender<Msg>) {
    // The first look makes the terminal tell of its size: whoever asks for the size after this
    // call will hear of every change of it.
    let _ = poll(Duration::ZERO);
    start_signals(sender.clone());
    let read_all = move || {
        while let Ok(event) = read() {
            let Some(msg) = message(event) else { continue };
            if sender.send(msg).is_err() {
                return;
            }
        }
        // The terminal has gone: nobody is left to look.
        let _ = sender.send(Msg::Leave(None));
    };
    // Without input the viewer still shows a live recording; the terminal's end ends it.
    let _ = thread::Builder::new()
        .name("input".to_owned())
        .spawn(read_all);
}

fn start_signals(sender: SyncSender<Msg>) {
    let Ok(mut signals) = Signals::new([SIGTERM, SIGHUP, SIGINT, SIGQUIT]) else {
        return;
    };
    let wait = move || {
        for signal in signals.forever() {
            let _ = sender.send(Msg::Leave(Some(signal)));
        }
    };
    let _ = thread::Builder::new()
        .name("signals".to_owned())
        .spawn(wait);
}

fn message(event: Event) -> Option<Msg> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => Some(Msg::Key(Key::from(key))),
        Event::Mouse(event) => Some(Msg::Mouse(event)),
        Event::Paste(text) => Some(Msg::Paste(text)),
        Event::Resize(columns, rows) => Some(Msg::Resize(columns, rows)),
        _ => None,
    }
}

/// A key that waits for longer would seem to do nothing: a long recording that has to be completed
/// first can be left at once.
const PATIENCE: Duration = Duration::from_millis(250);

/// Keys, clicks and pasted text that came too early, in order.
#[derive(Debug, Default)]
pub(super) struct Early {
    held: VecDeque<Msg>,
    /// When the first of them came, nanoseconds since the viewer started.
    since: Option<u64>,
}

impl Early {
    /// `msg` if it is to be taken in now; else it is held.
    pub(super) fn pass(&mut self, msg: Msg, viewer: &Viewer) -> Option<Msg> {
        let is_typed = matches!(msg, Msg::Key(_) | Msg::Mouse(_) | Msg::Paste(_));
        if !is_typed || (self.held.is_empty() && !update::is_early(viewer)) {
            return Some(msg);
        }
        self.since.get_or_insert(viewer.app.now.ui_ns);
        self.held.push_back(msg);
        None
    }

    /// The next one whose time has come.
    pub(super) fn next(&mut self, viewer: &Viewer) -> Option<Msg> {
        if update::is_early(viewer) && self.patience(viewer).is_some_and(|left| !left.is_zero()) {
            return None;
        }
        let msg = self.held.pop_front();
        if self.held.is_empty() {
            self.since = None;
        }
        msg
    }

    /// The time for which held messages may wait; `None` where there are none.
    pub(super) fn patience(&self, viewer: &Viewer) -> Option<Duration> {
        let held_for = Duration::from_nanos(viewer.app.now.ui_ns.saturating_sub(self.since?));
        Some(PATIENCE.saturating_sub(held_for))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{Session, Settings};
    use crate::effect::Now;
    use crate::worker::Opening;
    use mcpreel_store::library::Library;
    use std::path::Path;

    fn opening() -> Viewer {
        let folder = Library::new(Path::new("/nowhere").to_owned());
        let mut viewer = Viewer::new(&folder, Settings::default(), (100, 30), Now::default());
        viewer.session = Some(Box::new(Session::new(Path::new("/nowhere/a"))));
        viewer
    }

    fn pasted(msg: Option<Msg>) -> Option<String> {
        match msg? {
            Msg::Paste(text) => Some(text),
            _ => None,
        }
    }

    /// Once they were looked up in an empty list, and were lost.
    #[test]
    fn what_is_typed_before_the_first_rows_waits_for_them_in_order() {
        let (mut viewer, mut early) = (opening(), Early::default());
        for text in ["a", "b"] {
            assert!(early.pass(Msg::Paste(text.to_owned()), &viewer).is_none());
        }
        assert!(early.pass(Msg::Resize(80, 24), &viewer).is_some());
        assert!(early.next(&viewer).is_none() && early.patience(&viewer).is_some());
        let session = viewer.session.as_deref_mut().unwrap();
        session.opening = Opening::Open;
        assert!(early.next(&viewer).is_none(), "no row was looked for");
        let session = viewer.session.as_deref_mut().unwrap();
        session.list.scan.done = true;
        // What comes now comes after them.
        assert!(early.pass(Msg::Paste("c".to_owned()), &viewer).is_none());
        let taken: Vec<_> = std::iter::from_fn(|| pasted(early.next(&viewer))).collect();
        assert_eq!(taken, ["a", "b", "c"]);
        assert!(early.patience(&viewer).is_none());
        assert!(early.pass(Msg::Paste("d".to_owned()), &viewer).is_some());
    }

    #[test]
    fn nobody_waits_long_for_rows_that_do_not_come() {
        let (mut viewer, mut early) = (opening(), Early::default());
        assert!(early.pass(Msg::Paste("a".to_owned()), &viewer).is_none());
        viewer.app.now.ui_ns = 249_000_000;
        assert!(early.next(&viewer).is_none());
        viewer.app.now.ui_ns = 250_000_000;
        assert_eq!(pasted(early.next(&viewer)).as_deref(), Some("a"));
    }
}
