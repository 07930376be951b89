//! The real viewer on a real terminal.

use crate::support::terminal::Terminal;
use anyhow::Context;
use mcpreel_trace::clock::Moment;
use std::path::Path;
use std::time::Duration;

/// Where all measuring is done.
const SIZE: (u16, u16) = (160, 50);

/// What shows nothing for so long has nothing to show.
const LONGEST: Duration = Duration::from_secs(2);

/// What every row of a request has.
pub const ROW: &str = " → ";

/// Opens `path`, with the cursor on the frame `seq`.
pub fn open(path: &Path, seq: Option<u64>) -> anyhow::Result<Terminal> {
    let folder = path.parent().context("no folder")?;
    let path = path.to_str().context("the path is text")?;
    let recording = match seq {
        Some(seq) => format!("{path}#{seq}"),
        None => path.to_owned(),
    };
    start(folder, &["open", &recording])
}

/// Opens the recordings of a folder.
pub fn folder(folder: &Path) -> anyhow::Result<Terminal> {
    start(folder, &[])
}

fn start(folder: &Path, arguments: &[&str]) -> anyhow::Result<Terminal> {
    let folder = folder.to_str().context("the path is text")?;
    // What a machine that is asked to stay quiet remembers of its user changes nothing here.
    let home = std::env::temp_dir();
    let home = home.to_str().context("the path is text")?;
    let environment = [("HOME", home), ("MCPREEL_DIR", folder)];
    let program = env!("CARGO_BIN_EXE_mcpreel");
    Ok(Terminal::start(program, arguments, &environment, SIZE))
}

/// Ends it.
pub fn quit(mut terminal: Terminal) {
    terminal.press("qq");
    terminal.end();
}

/// Presses a key and waits until the screen has changed; how long that took. `None` where the key
/// changes nothing.
pub fn press(terminal: &mut Terminal, key: &str) -> Option<Duration> {
    let before = terminal.look(vt100::Screen::contents_formatted);
    press_until(terminal, key, |screen| {
        screen.contents_formatted() != before
    })
}

/// Presses a key and waits until the screen `is_there`.
pub fn press_until(
    terminal: &mut Terminal,
    key: &str,
    is_there: impl Fn(&vt100::Screen) -> bool,
) -> Option<Duration> {
    let pressed = terminal.press(key);
    let shown = terminal.wait_at_most(LONGEST, is_there)?;
    Some(shown.since(pressed))
}

/// Waits until nothing has been drawn for a while: no more rows come in.
pub fn wait_until_calm(terminal: &Terminal) {
    wait_for_quiet(terminal, Duration::from_millis(700));
}

/// The same, for less time.
pub fn wait_until_calm_briefly(terminal: &Terminal) {
    wait_for_quiet(terminal, Duration::from_millis(30));
}

fn wait_for_quiet(terminal: &Terminal, quiet: Duration) {
    let mut before = terminal.text();
    loop {
        std::thread::sleep(quiet);
        let now = terminal.text();
        if now == before {
            return;
        }
        before = now;
    }
}

/// Milliseconds, for figures.
pub fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// Writes milliseconds.
pub fn show_ms(ms: f64) -> String {
    format!("{ms:.1} ms")
}

/// The start of the clock of a terminal: when its program was started.
pub const START: Moment = Moment(0);
