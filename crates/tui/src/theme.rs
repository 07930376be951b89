//! Colours and glyphs.
//!
//! Views name [`Role`]s and [`Glyph`]s; what they look like is known here. Signs that stand in
//! words (`12 ms · 3 open`), and frames, are written where they stand; `view` spells them out in
//! ASCII.
//! Nothing is said by colour alone: every role that means something comes with a glyph or a word.

use mcpreel_wire::message::Direction;
use ratatui::style::{Color, Modifier, Style};
use strum::{EnumString, IntoStaticStr, VariantNames};

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
    /// What may come next, below a line that is typed.
    Popup,
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
    pub const Back: Self = Self("«", "<<");
    pub const Prompt: Self = Self("▸", ">");
    pub const Diamond: Self = Self("◆", "+");
    pub const Bar: Self = Self("█", "=");
    pub const Note: Self = Self("•", "-");
    /// A finding, an error; the sign of a call that failed is another.
    pub const Error: Self = Self("‼", "E");
    /// A finding, a warning.
    pub const Alert: Self = Self("!", "W");
    pub const Cursor: Self = Self("▏", "|");
    pub const AtMost: Self = Self("≤", "<=");
    pub const Hatched: Self = Self("▒", "/");
    pub const Tick: Self = Self("┃", ":");
    pub const Changed: Self = Self("~", "~");
    pub const Added: Self = Self("+", "+");
    pub const Removed: Self = Self("-", "-");
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, IntoStaticStr, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
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
        self.into()
    }

    /// The theme that suits a terminal which says in COLORFGBG that its background is this one.
    pub fn of_terminal(colors: &str) -> Self {
        match colors.rsplit(';').next() {
            Some("7" | "9" | "10" | "11" | "12" | "13" | "14" | "15") => Self::Light,
            _ => Self::Dark,
        }
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

    /// The style of a whole row of this role, where it has a ground of its own.
    pub fn ground(&self, role: Role) -> Option<Style> {
        let style = self.style(role);
        (self.theme == Theme::Contrast && style.bg.is_some()).then_some(style)
    }

    pub fn glyph(&self, glyph: Glyph) -> &'static str {
        let Glyph(unicode, ascii) = glyph;
        if self.ascii { ascii } else { unicode }
    }
}

/// Colours of the 256 that look alike on all terminals: those of the sixteen that are too dark on
/// black, or too light on white, stand for none of them.
const GREY: Color = Color::Indexed(245);
const SALMON: Color = Color::Indexed(203);
const VIOLET: Color = Color::Indexed(177);
const SKY: Color = Color::Indexed(75);
const WHITE: Color = Color::Indexed(231);

/// The style of a theme, which changes some of the dark one.
fn themed(theme: Theme, role: Role) -> Style {
    let style = Style::new();
    let bold = style.add_modifier(Modifier::BOLD);
    match (theme, role) {
        (Theme::Light, role) => light(role),
        (Theme::Safe, Role::JsonNumber | Role::FromServer) => style.fg(SKY),
        (Theme::Safe, Role::Good) => style.fg(Color::Cyan),
        (Theme::Safe, Role::Bad) => bold.fg(VIOLET),
        (Theme::Contrast, Role::Bad) => bold.fg(WHITE).bg(Color::Red),
        (
            Theme::Contrast,
            Role::Faint | Role::Border | Role::Stderr | Role::Notification | Role::JsonWord,
        ) => style,
        (Theme::Contrast, Role::Warn | Role::Open | Role::Good) => {
            dark(role).add_modifier(Modifier::BOLD)
        }
        _ => dark(role),
    }
}

fn light(role: Role) -> Style {
    let style = Style::new();
    match role {
        Role::Faint | Role::Border | Role::Stderr | Role::Notification => {
            style.fg(Color::Indexed(242))
        }
        Role::Good | Role::JsonNumber => style.fg(Color::Indexed(22)),
        Role::Bad => style.fg(Color::Red),
        Role::Warn | Role::JsonWord => style.fg(Color::Magenta),
        Role::FromServer => style.fg(Color::Indexed(23)),
        Role::Open | Role::Event | Role::JsonKey | Role::BorderFocus | Role::Prompt => {
            style.fg(Color::Blue)
        }
        Role::Key | Role::Tab => dark(role).fg(Color::Blue),
        Role::Popup => style.fg(Color::Black).bg(Color::Indexed(253)),
        Role::Chip => style.fg(WHITE).bg(Color::Blue),
        Role::ChipWarn => style.fg(WHITE).bg(Color::Magenta),
        _ => dark(role),
    }
}

fn dark(role: Role) -> Style {
    let style = Style::new();
    match role {
        Role::Text | Role::JsonString => style,
        Role::Faint | Role::Border | Role::Stderr | Role::Notification => style.fg(GREY),
        Role::Strong | Role::Title | Role::Header => style.add_modifier(Modifier::BOLD),
        Role::Good | Role::JsonNumber => style.fg(Color::Green),
        Role::Bad => style.fg(SALMON),
        Role::Warn | Role::Open => style.fg(Color::Yellow),
        Role::FromServer | Role::JsonWord => style.fg(VIOLET),
        Role::Event => style.fg(SKY),
        Role::Popup => style.fg(WHITE).bg(Color::Indexed(238)),
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
        "warning" => (Glyph::Alert, Role::Warn),
        _ => (Glyph::Note, Role::Faint),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROLES: [Role; 28] = [
        Role::Text,
        Role::Faint,
        Role::Strong,
        Role::Good,
        Role::Bad,
        Role::Warn,
        Role::Open,
        Role::FromServer,
        Role::Notification,
        Role::Stderr,
        Role::Event,
        Role::Chip,
        Role::ChipWarn,
        Role::Border,
        Role::BorderFocus,
        Role::Title,
        Role::Header,
        Role::Key,
        Role::Prompt,
        Role::JsonKey,
        Role::JsonString,
        Role::JsonNumber,
        Role::JsonWord,
        Role::Hit,
        Role::Selected,
        Role::SelectedElsewhere,
        Role::Tab,
        Role::Popup,
    ];

    type Rgb = [u8; 3];

    /// A colour as xterm shows it.
    fn rgb(color: Color, default: Rgb) -> Rgb {
        match color {
            Color::Black => [0; 3],
            Color::Red => [205, 0, 0],
            Color::Green => [0, 205, 0],
            Color::Yellow => [205, 205, 0],
            Color::Blue => [0, 0, 238],
            Color::Magenta => [205, 0, 205],
            Color::Cyan => [0, 205, 205],
            Color::Indexed(at @ 16..232) => [36, 6, 1].map(|step| match (at - 16) / step % 6 {
                0 => 0,
                level => 55 + 40 * level,
            }),
            Color::Indexed(at @ 232..) => [8 + 10 * (at - 232); 3],
            Color::Reset => default,
            other => panic!("{other} is not in the table"),
        }
    }

    /// The relative luminance of WCAG.
    fn luminance(rgb: Rgb) -> f64 {
        let linear = rgb.map(|part| match f64::from(part) / 255.0 {
            part @ ..=0.040_45 => part / 12.92,
            part => ((part + 0.055) / 1.055).powf(2.4),
        });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    #[test]
    fn every_style_of_every_theme_can_be_read_on_its_background() {
        let (black, grey, white) = ([0; 3], [30; 3], [255; 3]);
        for theme in Theme::ALL {
            let grounds: &[(Rgb, Rgb)] = match theme {
                Theme::Light => &[(white, black)],
                _ => &[(black, [229; 3]), (grey, [212; 3])],
            };
            for (role, (ground, text)) in ROLES
                .iter()
                .flat_map(|role| grounds.iter().map(move |on| (role, on)))
            {
                let style = themed(theme, *role);
                let text = luminance(rgb(style.fg.unwrap_or_default(), *text)) + 0.05;
                let ground = luminance(rgb(style.bg.unwrap_or_default(), *ground)) + 0.05;
                let contrast = text.max(ground) / text.min(ground);
                assert!(contrast >= 4.5, "{theme:?} {role:?}: {contrast:.2}");
            }
        }
    }

    #[test]
    fn a_terminal_that_says_that_it_is_light_gets_the_light_theme() {
        assert_eq!(Theme::of_terminal("0;15"), Theme::Light);
        assert_eq!(Theme::of_terminal("0;default;7"), Theme::Light);
        assert_eq!(Theme::of_terminal("15;0"), Theme::Dark);
        assert_eq!(Theme::of_terminal(""), Theme::Dark);
    }
}
