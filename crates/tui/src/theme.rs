//! Colours and glyphs.
//!
//! Views name [`Role`]s and [`Glyph`]s; what they look like is known here. Signs that stand in
//! words (`12 ms · 3 open`), and frames, are written where they stand; `view` spells them out in
//! ASCII.
//! Nothing is said by colour alone: every role that means something comes with a glyph or a word.

use mcpreel_wire::message::Direction;
use ratatui::style::{Color, Modifier, Style};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    #[default]
    Text,
    Faint,
    Strong,
    Good,
    Bad,
    Warn,
    Open,
    FromServer,
    Notification,
    Stderr,
    Event,
    Chip,
    ChipWarn,
    Border,
    BorderFocus,
    Title,
    Header,
    Key,
    Prompt,
    JsonKey,
    JsonString,
    JsonNumber,
    JsonWord,
    Hit,
    Selected,
    SelectedElsewhere,
    Tab,
}

impl Role {
    /// The role of the row under the cursor of a pane, which may have the keys.
    pub fn selected(has_keys: bool) -> Self {
        if has_keys {
            Self::Selected
        } else {
            Self::SelectedElsewhere
        }
    }
}

/// A sign, and what stands for it in ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glyph(&'static str, &'static str);

#[expect(
    non_upper_case_globals,
    reason = "signs are used as the variants of an enumeration"
)]
impl Glyph {
    pub const Live: Self = Self("●", "*");
    pub const Ended: Self = Self("■", "#");
    pub const ToServer: Self = Self("→", ">");
    pub const ToClient: Self = Self("←", "<");
    pub const Both: Self = Self("⇄", "<>");
    pub const Warning: Self = Self("⚠", "!");
    pub const Failed: Self = Self("✗", "x");
    pub const Ok: Self = Self("✓", ".");
    pub const Running: Self = Self("…", "?");
    pub const Folded: Self = Self("▸", "+");
    pub const Unfolded: Self = Self("▾", "-");
    pub const Child: Self = Self("└", "`");
    pub const Marked: Self = Self("★", "*");
    pub const Noted: Self = Self("✎", "n");
    pub const Selected: Self = Self("◉", "o");
    pub const More: Self = Self("▼", "v");
    pub const Times: Self = Self("×", "x");
    pub const Back: Self = Self("⏪", "<<");
    pub const Prompt: Self = Self("▸", ">");
    pub const Diamond: Self = Self("◆", "+");
    pub const Bar: Self = Self("█", "=");
    pub const Note: Self = Self("•", "-");
    pub const Error: Self = Self("✗", "E");
    pub const Cursor: Self = Self("▏", "|");
    pub const Sorted: Self = Self("▴", "^");
    pub const AtMost: Self = Self("≤", "<=");
    pub const Hatched: Self = Self("▒", "/");
    pub const Tick: Self = Self("┃", ":");
    pub const Changed: Self = Self("~", "~");
    pub const Added: Self = Self("+", "+");
    pub const Order: Self = Self("↕", "o");
    pub const Noise: Self = Self("·", ".");
    pub const Dot: Self = Self("·", "-");
}

impl From<Direction> for Glyph {
    /// The arrow of a direction.
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::ClientToServer => Self::ToServer,
            Direction::ServerToClient => Self::ToClient,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    #[default]
    Dark,
    Light,
    /// For eyes that do not tell red from green.
    Safe,
    /// No faint text, failures on a ground of their own.
    Contrast,
}

impl Theme {
    pub const ALL: [Self; 4] = [Self::Dark, Self::Light, Self::Safe, Self::Contrast];

    pub fn as_str(self) -> &'static str {
        ["dark", "light", "safe", "contrast"][self as usize]
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.as_str() == name)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// The colours, where there are some.
    pub theme: Theme,
    /// No colours: reverse, bold, underline and glyphs have to do.
    pub plain: bool,
    pub ascii: bool,
}

impl Look {
    pub fn style(&self, role: Role) -> Style {
        if self.plain {
            return plain(role);
        }
        themed(self.theme, role)
    }

    pub fn glyph(&self, glyph: Glyph) -> &'static str {
        let Glyph(unicode, ascii) = glyph;
        if self.ascii { ascii } else { unicode }
    }
}

/// The style of a theme, which changes some of the dark one.
fn themed(theme: Theme, role: Role) -> Style {
    let style = Style::new();
    let alarm = style.fg(Color::White).bg(Color::Red);
    match (theme, role) {
        (Theme::Light, Role::Warn) => style.fg(Color::Magenta),
        (
            Theme::Light,
            Role::Open | Role::Event | Role::JsonKey | Role::BorderFocus | Role::Prompt,
        )
        | (Theme::Safe, Role::JsonNumber | Role::FromServer) => style.fg(Color::Blue),
        (Theme::Light, Role::FromServer) | (Theme::Safe, Role::Good) => style.fg(Color::Cyan),
        (Theme::Light, Role::Key) => style.fg(Color::Blue).add_modifier(Modifier::BOLD),
        (Theme::Light, Role::Chip) => style.fg(Color::White).bg(Color::Blue),
        (Theme::Light, Role::ChipWarn) => style.fg(Color::White).bg(Color::Magenta),
        (Theme::Safe, Role::Bad) => style.fg(Color::Magenta).add_modifier(Modifier::BOLD),
        (Theme::Contrast, Role::Bad) => alarm.add_modifier(Modifier::BOLD),
        (
            Theme::Contrast,
            Role::Faint | Role::Border | Role::Stderr | Role::Notification | Role::JsonWord,
        ) => style,
        (Theme::Contrast, Role::Warn | Role::Open | Role::Good) => {
            sixteen(role).add_modifier(Modifier::BOLD)
        }
        _ => sixteen(role),
    }
}

fn sixteen(role: Role) -> Style {
    let style = Style::new();
    match role {
        Role::Text | Role::JsonString => style,
        Role::Faint | Role::Border | Role::Stderr | Role::Notification => style.fg(Color::DarkGray),
        Role::Strong | Role::Title | Role::Header => style.add_modifier(Modifier::BOLD),
        Role::Good | Role::JsonNumber => style.fg(Color::Green),
        Role::Bad => style.fg(Color::Red),
        Role::Warn | Role::Open => style.fg(Color::Yellow),
        Role::FromServer | Role::JsonWord => style.fg(Color::Magenta),
        Role::Event => style.fg(Color::LightBlue),
        Role::Chip => style.fg(Color::Black).bg(Color::Cyan),
        Role::ChipWarn | Role::Hit => style.fg(Color::Black).bg(Color::Yellow),
        Role::BorderFocus | Role::Prompt | Role::JsonKey => style.fg(Color::Cyan),
        Role::Key => style.fg(Color::Cyan).add_modifier(Modifier::BOLD),
        Role::Tab => (style.fg(Color::Cyan)).add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
        Role::Selected => style.add_modifier(Modifier::REVERSED),
        Role::SelectedElsewhere => style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
    }
}

fn plain(role: Role) -> Style {
    let style = Style::new();
    match role {
        Role::Strong | Role::Title | Role::Header | Role::Bad | Role::Key | Role::BorderFocus => {
            style.add_modifier(Modifier::BOLD)
        }
        Role::Chip | Role::ChipWarn | Role::Selected => style.add_modifier(Modifier::REVERSED),
        Role::Hit | Role::SelectedElsewhere | Role::Tab => style.add_modifier(Modifier::UNDERLINED),
        _ => style,
    }
}

/// The sign and the colour of a severity, which always stand beside its word.
pub fn severity(word: &str) -> (Glyph, Role) {
    match word {
        "error" => (Glyph::Error, Role::Bad),
        "warning" => (Glyph::Warning, Role::Warn),
        _ => (Glyph::Note, Role::Faint),
    }
}
