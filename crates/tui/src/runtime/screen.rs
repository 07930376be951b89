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
use std::io::{self, Stdout, Write, stdout};
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
        let in_tmux = std::env::var_os("TMUX").is_some_and(|value| !value.is_empty());
        let out = self.terminal.backend_mut();
        out.write_all(sequence(text, in_tmux).as_bytes())?;
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

/// The sequence (OSC 52) that puts `text` into the clipboard. Within tmux it comes twice: for a tmux
/// that takes it, and for one that passes it on.
fn sequence(text: &str, in_tmux: bool) -> String {
    let plain = format!("\x1b]52;c;{}\x07", STANDARD.encode(text));
    if !in_tmux {
        return plain;
    }
    let doubled = plain.replace('\x1b', "\x1b\x1b");
    format!("{plain}\x1bPtmux;{doubled}\x1b\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tmux_gets_the_sequence_in_its_own_wrapping_too() {
        assert_eq!(sequence("hi", false), "\x1b]52;c;aGk=\x07");
        assert_eq!(
            sequence("hi", true),
            "\x1b]52;c;aGk=\x07\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\"
        );
    }
}
