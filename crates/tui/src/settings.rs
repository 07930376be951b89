//! The settings of a person.

use super::action::{Action, Context};
use super::keymap::{Key, Keymap};
use super::theme::{Colors, Look, Theme};
use mcpreel_config::{Config, Setting};
use serde::{Deserialize, Serialize};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::{fs, io};

// What a person may choose.
//
// The command line comes first, then the configuration, then what the viewer remembers of the
// last time, then what the surroundings suggest.

#[derive(Clone, Debug)]
pub struct Settings {
    pub look: Look,
    pub keymap: Keymap,
    /// Whether the terminal is asked for mouse events.
    pub mouse: bool,
    /// Whether times count up; otherwise every few seconds, and with whatever else changes.
    pub motion: bool,
    /// The place of the divider between list and detail, in percent of the width or height.
    pub divider: u16,
    /// View, lens and zoom of the recording that is opened next.
    pub arrangement: Arrangement,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Choices {
    pub color: Option<Color>,
    pub theme: Option<Theme>,
    pub ascii: bool,
    /// Times do not count up.
    pub no_motion: bool,
    pub no_mouse: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// Unless the surroundings are against it.
    #[default]
    Auto,
    Always,
    Never,
}

/// The wishes of the terminal and the environment about colours.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surroundings {
    /// `NO_COLOR` is set and not empty.
    pub no_color: bool,
    pub dumb: bool,
}

/// The settings that are kept for the next time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Remembered {
    pub theme: Option<String>,
    pub mouse: Option<bool>,
    /// The place of the divider, percent.
    pub divider: Option<u16>,
    pub arrangement: Arrangement,
}

/// Bytes of the file that is kept at most: it is ours, and small.
const MOST: u64 = 64 * 1024;

impl Remembered {
    /// Reads the settings of the last time. A file that cannot be read is nobody's trouble: the viewer
    /// begins as it always does.
    pub fn read(path: &Path) -> Self {
        let is_ours = fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() <= MOST);
        let text = is_ours.then(|| fs::read_to_string(path).ok()).flatten();
        text.and_then(|text| toml::from_str(&text).ok())
            .unwrap_or_default()
    }

    /// Keeps it, readable by its owner only.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        if let Some(dir) = path.parent() {
            let mut folder = fs::DirBuilder::new();
            folder.recursive(true).mode(0o700).create(dir)?;
        }
        let text = toml::to_string(self).map_err(io::Error::other)?;
        let mut options = fs::OpenOptions::new();
        let options = options.write(true).create(true).truncate(true);
        options.mode(0o600).open(path)?.write_all(text.as_bytes())
    }
}

/// The view, lens and zoom of a recording: kept for the next recording and for the next time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Arrangement {
    /// The view in the left or only pane.
    pub view: View,
    /// Whether a row of the list is a frame.
    pub wire: bool,
    /// Whether the pane with the keys has the whole screen.
    pub zoom: bool,
    /// The kind of times in the list.
    pub time: TimeColumn,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum View {
    /// Exchanges or frames, one per row.
    #[default]
    Exchanges,
    Timeline,
    Stats,
    Findings,
}

/// What the column of times shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeColumn {
    #[default]
    Start,
    Delta,
    Clock,
}

impl TimeColumn {
    pub fn next(self) -> Self {
        match self {
            Self::Start => Self::Delta,
            Self::Delta => Self::Clock,
            Self::Clock => Self::Start,
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Start => "since",
            Self::Delta => "delta",
            Self::Clock => "clock",
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            look: Look::default(),
            keymap: Keymap::default(),
            mouse: true,
            motion: true,
            divider: 55,
            arrangement: Arrangement::default(),
        }
    }
}

impl Settings {
    /// The settings in force, and the faults of the configuration: one sentence each.
    pub fn new(
        choices: Choices,
        config: &Config,
        remembered: &Remembered,
        surroundings: Surroundings,
    ) -> (Self, Vec<String>) {
        let mut faults = Vec::new();
        let configured = config.one("viewer.theme").and_then(|name| {
            let names = Theme::ALL.map(Theme::as_str).join(", ");
            known(name, Theme::parse, &names, &mut faults)
        });
        let remembered_theme = remembered.theme.as_deref().and_then(Theme::parse);
        let color = config
            .one("viewer.color")
            .and_then(|word| known(word, Color::parse, "auto, always, never", &mut faults));
        let color = choices.color.or(color).unwrap_or_default();
        let look = Look {
            theme: choices
                .theme
                .or(configured)
                .or(remembered_theme)
                .unwrap_or_default(),
            colors: color.colors(surroundings),
            ascii: choices.ascii || config.is_on("viewer.ascii").unwrap_or(false),
        };
        let mouse = config
            .is_on("viewer.mouse")
            .or(remembered.mouse)
            .unwrap_or(true);
        let settings = Self {
            look,
            keymap: keymap(config, &mut faults),
            mouse: mouse && !choices.no_mouse,
            motion: !choices.no_motion && config.is_on("viewer.motion").unwrap_or(true),
            divider: remembered.divider.unwrap_or(55).clamp(20, 80),
            arrangement: remembered.arrangement,
        };
        (settings, faults)
    }

    pub fn remember(&self) -> Remembered {
        Remembered {
            theme: Some(self.look.theme.as_str().to_owned()),
            mouse: Some(self.mouse),
            divider: Some(self.divider),
            arrangement: self.arrangement,
        }
    }
}

impl Color {
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "auto" => Some(Self::Auto),
            "always" => Some(Self::Always),
            "never" => Some(Self::Never),
            _ => None,
        }
    }

    fn colors(self, surroundings: Surroundings) -> Colors {
        let against = surroundings.no_color || surroundings.dumb;
        match self {
            Self::Auto if against => Colors::None,
            Self::Never => Colors::None,
            Self::Auto | Self::Always => Colors::Sixteen,
        }
    }
}

/// The meaning of a word of the configuration; a word that means nothing is a fault.
fn known<T>(
    setting: &Setting,
    parse: impl Fn(&str) -> Option<T>,
    words: &str,
    faults: &mut Vec<String>,
) -> Option<T> {
    let value = parse(&setting.text);
    if value.is_none() {
        let text = mcpreel_wire::text::escape(&setting.text);
        faults.push(format!("{}: `{text}` is none of {words}", setting.at));
    }
    value
}

/// The usual keys, with those of the configuration in their place.
fn keymap(config: &Config, faults: &mut Vec<String>) -> Keymap {
    let mut keymap = Keymap::default();
    for (place, keys) in config.below("viewer.keys") {
        let [context, action] = place else {
            faults.push(format!(
                "{}: a key stands below a context and an action",
                keys.at
            ));
            continue;
        };
        let contexts = Context::ALL.map(Context::as_str).join(", ");
        let context = known(context, Context::parse, &contexts, faults);
        let names = "the actions; `:` in the viewer shows them";
        let action = known(action, Action::parse, names, faults);
        let parse = |text: &str| {
            text.split_whitespace()
                .map(Key::parse)
                .collect::<Option<Vec<_>>>()
        };
        let names = "keys such as j, G, Ctrl-D, PgDn, F5, separated by spaces";
        let keys = known(keys, parse, names, faults);
        if let (Some(context), Some(action), Some(keys)) = (context, action, keys) {
            keymap.rebind(context, action, &keys);
        }
    }
    keymap
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::View;

    fn settings(
        file: &str,
        choices: Choices,
        surroundings: Surroundings,
    ) -> (Settings, Vec<String>) {
        let (config, problems) = Config::parse(file, Path::new("c.toml"));
        assert!(problems.is_empty(), "{problems:?}");
        let remembered = Remembered {
            theme: Some("light".to_owned()),
            ..Remembered::default()
        };
        Settings::new(choices, &config, &remembered, surroundings)
    }

    #[test]
    fn the_command_line_beats_the_file_beats_no_color() {
        let no_color = Surroundings {
            no_color: true,
            dumb: false,
        };
        let always = "[viewer]\ncolor = 'always'";
        let never = Choices {
            color: Some(Color::Never),
            ..Choices::default()
        };
        let colors =
            |file, choices, surroundings| settings(file, choices, surroundings).0.look.colors;
        assert_eq!(colors("", Choices::default(), no_color), Colors::None);
        assert_eq!(
            colors(always, Choices::default(), no_color),
            Colors::Sixteen
        );
        assert_eq!(colors(always, never, Surroundings::default()), Colors::None);
        let dumb = Surroundings {
            no_color: false,
            dumb: true,
        };
        assert_eq!(colors("", Choices::default(), dumb), Colors::None);
    }

    #[test]
    fn the_file_beats_what_is_remembered() {
        let theme = |file| {
            settings(file, Choices::default(), Surroundings::default())
                .0
                .look
                .theme
        };
        assert_eq!(theme(""), Theme::Light);
        assert_eq!(theme("[viewer]\ntheme = 'contrast'"), Theme::Contrast);
    }

    #[test]
    fn keys_are_bound_anew_and_faults_say_where() {
        let file = "[viewer]\ntheme = 'pink'\n[viewer.keys.list]\nmark = 'x F5'\nmrk = 'y'\n";
        let (settings, faults) = settings(file, Choices::default(), Surroundings::default());
        let key = Key::parse("x").expect("it is a key");
        let action = settings.keymap.action(&[Context::List], key);
        assert_eq!(action, Some(Action::Mark));
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(
            faults[0].starts_with("c.toml:2:9: `pink` is none of dark"),
            "{faults:?}"
        );
        assert!(faults[1].starts_with("c.toml:5:1: `mrk`"), "{faults:?}");
    }

    #[test]
    fn what_is_remembered_is_read_back() {
        let settings = Settings {
            arrangement: Arrangement {
                view: View::Findings,
                wire: true,
                zoom: true,
                time: TimeColumn::Clock,
            },
            ..Settings::default()
        };
        let text = toml::to_string(&settings.remember()).expect("it is plain data");
        let remembered: Remembered = toml::from_str(&text).expect("it was just written");
        assert_eq!(remembered, settings.remember());
    }
}
