//! Keys, mouse and the size of the terminal, on a thread of their own.

use crate::effect::Msg;
use crate::keymap::Key;
use crossterm::event::{Event, KeyEventKind, poll, read};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
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
    let thread = thread::Builder::new().name("input".to_owned());
    let _ = thread.spawn(read_all);
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
    let thread = thread::Builder::new().name("signals".to_owned());
    let _ = thread.spawn(wait);
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
