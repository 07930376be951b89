//! The terminal: taken over, given back, whatever happens.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::execute;
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use nix::sys::signal::{Signal, raise};
use ratatui::backend::CrosstermBackend;
use ratatui::{Frame, Terminal};
use std::io;
use std::io::{Stdout, Write, stdout};
use std::mem::ManuallyDrop;

/// The terminal while the viewer has it. Dropping it gives it back.
pub(super) struct Screen {
    /// Never dropped: it would print about a terminal that has gone, and panic where it cannot.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<Stdout>>>,
    mouse: bool,
    /// A text is on the normal screen.
    prints: bool,
}

impl Screen {
    /// Takes the terminal over. From here on a panic gives it back before it is told.
    pub fn begin(mouse: bool) -> io::Result<Self> {
        super::panic::install(give_back);
        take_over(mouse)?;
        let terminal = ManuallyDrop::new(Terminal::new(CrosstermBackend::new(stdout()))?);
        Ok(Self {
            terminal,
            mouse,
            prints: false,
        })
    }

    pub fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.terminal.size()?;
        Ok((size.width, size.height))
    }

    pub fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        super::panic::check()?;
        if self.prints {
            return Ok(());
        }
        self.terminal.draw(draw).map(|_| ())
    }

    /// Draws everything anew the next time.
    pub fn repaint(&mut self) -> io::Result<()> {
        // `Terminal::clear` would ask where the cursor is, and the answer would go to the thread
        // that reads keys.
        execute!(stdout(), Clear(ClearType::All))?;
        self.terminal = ManuallyDrop::new(Terminal::new(CrosstermBackend::new(stdout()))?);
        Ok(())
    }

    /// Asks for mouse events, or stops.
    pub fn mouse(&mut self, on: bool) -> io::Result<()> {
        self.mouse = on;
        if on {
            execute!(stdout(), EnableMouseCapture)
        } else {
            execute!(stdout(), DisableMouseCapture)
        }
    }

    /// Puts a text into the clipboard of the terminal.
    pub fn copy(&mut self, text: &str) -> io::Result<()> {
        let out = self.terminal.backend_mut();
        out.write_all(&sequence(text, Between::of_process()))?;
        out.flush()
    }

    /// Shows a text on the normal screen. Nothing is drawn until [`Self::leave_print`]: keys still
    /// come to the loop, so that nobody else reads them.
    pub fn print(&mut self, text: &str) -> io::Result<()> {
        self.prints = true;
        let mut out = stdout();
        execute!(out, DisableMouseCapture, LeaveAlternateScreen, Show)?;
        for line in text.lines().chain(["", "(any key goes back)"]) {
            write!(out, "{line}\r\n")?;
        }
        out.flush()
    }

    /// Goes back from a text on the normal screen. Whether there was one.
    pub fn leave_print(&mut self) -> io::Result<bool> {
        let printed = std::mem::take(&mut self.prints);
        if printed {
            self.again()?;
        }
        Ok(printed)
    }

    /// Suspends to the shell, and goes on when it is continued.
    pub fn suspend(&mut self) -> io::Result<()> {
        give_back();
        raise(Signal::SIGTSTP)?;
        self.again()
    }

    fn again(&mut self) -> io::Result<()> {
        take_over(self.mouse)?;
        self.repaint()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn take_over(mouse: bool) -> io::Result<()> {
    enable_raw_mode()?;
    execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
    if mouse {
        execute!(stdout(), EnableMouseCapture)?;
    }
    Ok(())
}

/// Gives the terminal back. Nothing can be done about errors here.
fn give_back() {
    let _ = execute!(
        stdout(),
        DisableMouseCapture,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        Show
    );
    let _ = disable_raw_mode();
}

/// `screen` drops longer pieces of what it passes on.
const SCREEN_PIECE: usize = 512;

/// The multiplexer between the program and the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Between {
    Nothing,
    /// tmux, which takes the sequence itself or passes it on, as it is configured.
    Tmux,
    /// GNU screen, which passes it on.
    Screen,
}

impl Between {
    pub fn of_process() -> Self {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        match (set("TMUX"), set("STY")) {
            (true, _) => Self::Tmux,
            (false, true) => Self::Screen,
            (false, false) => Self::Nothing,
        }
    }
}

/// The sequence (OSC 52) that puts `text` into the clipboard.
pub(super) fn sequence(text: &str, between: Between) -> Vec<u8> {
    let plain = format!("\x1b]52;c;{}\x07", STANDARD.encode(text));
    match between {
        Between::Nothing => plain.into_bytes(),
        // Twice: one for a tmux that takes it, one for a tmux that passes it on.
        Between::Tmux => {
            let doubled = plain.replace('\x1b', "\x1b\x1b");
            format!("{plain}\x1bPtmux;{doubled}\x1b\\").into_bytes()
        }
        Between::Screen => {
            let pieces = plain.as_bytes().chunks(SCREEN_PIECE);
            let wrapped = pieces.map(|piece| [b"\x1bP", piece, b"\x1b\\"].concat());
            wrapped.collect::<Vec<_>>().concat()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiplexers_get_the_sequence_in_their_own_wrapping() {
        let text = |between| String::from_utf8(sequence("hi", between)).expect("it is ASCII");
        assert_eq!(text(Between::Nothing), "\x1b]52;c;aGk=\x07");
        assert_eq!(
            text(Between::Tmux),
            "\x1b]52;c;aGk=\x07\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\"
        );
        assert_eq!(text(Between::Screen), "\x1bP\x1b]52;c;aGk=\x07\x1b\\");
    }
}
