//! The settings of a person.
//!
//! The command line comes first, then the configuration, then what the viewer remembers of the
//! last time, then what the surroundings suggest.

use super::action::{Action, Context};
use super::keymap::{Key, Keymap};
use super::theme::{Look, Theme};
use mcpreel_config::{Config, Setting};
use serde::{Deserialize, Serialize};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::str::FromStr;
use std::{fs, io};
use strum::{EnumString, VariantNames};

/// The place of the divider between list and detail, in percent of the width or height.
const DIVIDER: u16 = 55;

#[derive(Clone, Debug)]
pub struct Settings {
    pub look: Look,
    pub keymap: Keymap,
    /// Whether the terminal is asked for mouse events.
    pub mouse: bool,
    /// Whether times count up; otherwise every few seconds, and with whatever else changes.
    pub motion: bool,
    pub divider: u16,
    /// The theme that was chosen in the viewer, now or before.
    pub chosen_theme: Option<Theme>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Color {
    /// Unless `NO_COLOR` is against it.
    #[default]
    Auto,
    Always,
    Never,
}

/// The settings that are kept for the next time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Remembered {
    theme: Option<String>,
    mouse: Option<bool>,
    divider: Option<u16>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum View {
    /// Exchanges or frames, one per row.
    #[default]
    Exchanges,
    Timeline,
    Stats,
    Findings,
    Server,
}

/// The kind of time in the column of times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeColumn {
    #[default]
    Start,
    Delta,
    Clock,
}

impl TimeColumn {
    pub fn next(self) -> Self {
        [Self::Delta, Self::Clock, Self::Start][self as usize]
    }

    pub fn title(self) -> &'static str {
        ["since", "delta", "clock"][self as usize]
    }
}

impl Remembered {
    /// Reads the settings of the last time. Without a file that can be read the viewer begins as it
    /// always does.
    pub fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_default();
        toml::from_str(&text).unwrap_or_default()
    }

    /// Keeps the settings, readable by their owner only.
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

impl Default for Settings {
    fn default() -> Self {
        Self {
            look: Look::default(),
            keymap: Keymap::default(),
            mouse: true,
            motion: true,
            divider: DIVIDER,
            chosen_theme: None,
        }
    }
}

impl Settings {
    /// The settings of the configuration and of the last time, and the faults of the
    /// configuration: one sentence each. `color` is that of the command line and whether
    /// `NO_COLOR` is set, `suggest` says what suits the terminal where nobody has chosen.
    pub fn new(
        config: &Config,
        remembered: &Remembered,
        (color, no_color): (Option<Color>, bool),
        suggest: impl FnOnce() -> Theme,
    ) -> (Self, Vec<String>) {
        let mut faults = Vec::new();
        let theme = config.one("viewer.theme");
        let theme = theme.and_then(|name| one_of(name, &mut faults));
        let remembered_theme = remembered.theme.as_deref();
        let remembered_theme = remembered_theme.and_then(|name| name.parse().ok());
        let configured = config.one("viewer.color");
        let configured: Option<Color> = configured.and_then(|word| one_of(word, &mut faults));
        let plain = match color.or(configured).unwrap_or_default() {
            Color::Auto => no_color,
            Color::Never => true,
            Color::Always => false,
        };
        let is_on = |key| config.is_on(key);
        let settings = Self {
            look: Look {
                theme: theme.or(remembered_theme).unwrap_or_else(suggest),
                plain,
                ascii: is_on("viewer.ascii").unwrap_or(false),
            },
            keymap: keymap(config, &mut faults),
            mouse: is_on("viewer.mouse").or(remembered.mouse).unwrap_or(true),
            motion: is_on("viewer.motion").unwrap_or(true),
            divider: remembered.divider.unwrap_or(DIVIDER).clamp(20, 80),
            chosen_theme: remembered_theme,
        };
        (settings, faults)
    }

    pub fn remember(&self) -> Remembered {
        Remembered {
            theme: self.chosen_theme.map(|theme| theme.as_str().to_owned()),
            mouse: Some(self.mouse),
            divider: Some(self.divider),
        }
    }
}

/// The one of a list that a word of the configuration names.
fn one_of<T: FromStr + VariantNames>(setting: &Setting, faults: &mut Vec<String>) -> Option<T> {
    let parse = |word: &str| word.parse().ok();
    known(setting, parse, &T::VARIANTS.join(", "), faults)
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
            let text = "a key stands below a context and an action";
            faults.push(format!("{}: {text}", keys.at));
            continue;
        };
        let context: Option<Context> = one_of(context, faults);
        let names = "the actions; `:` in the viewer shows them";
        let action = known(action, Action::parse, names, faults);
        let parse = |text: &str| text.split_whitespace().map(Key::parse).collect();
        let names = "keys such as j, G, Ctrl-D, PgDn, F5, separated by spaces";
        let keys: Option<Vec<_>> = known(keys, parse, names, faults);
        if let (Some(context), Some(action), Some(keys)) = (context, action, keys) {
            keymap.rebind(context, action, &keys);
        }
    }
    keymap
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(file: &str, color: Option<Color>, no_color: bool) -> (Settings, Vec<String>) {
        let (config, problems) = Config::parse(file, Path::new("c.toml"));
        assert!(problems.is_empty(), "{problems:?}");
        let remembered = Remembered {
            theme: Some("light".to_owned()),
            ..Remembered::default()
        };
        Settings::new(&config, &remembered, (color, no_color), || Theme::Dark)
    }

    #[test]
    fn the_command_line_beats_the_file_beats_no_color_and_what_is_remembered() {
        let look = |file, color, no_color| settings(file, color, no_color).0.look;
        let always = "[viewer]\ncolor = 'always'\ntheme = 'contrast'";
        assert!(look("", None, true).plain);
        assert!(!look(always, None, true).plain);
        assert!(look(always, Some(Color::Never), false).plain);
        assert_eq!(look("", None, false).theme, Theme::Light);
        assert_eq!(look(always, None, false).theme, Theme::Contrast);
    }

    #[test]
    fn keys_are_bound_anew_and_faults_say_where() {
        let file = "[viewer]\ntheme = 'pink'\n[viewer.keys.list]\nmark = 'x F5'\nmrk = 'y'\n";
        let (settings, faults) = settings(file, None, false);
        let key = Key::parse("x").expect("it is a key");
        let action = settings.keymap.action(&[Context::List], key);
        assert_eq!(action, Some(Action::Mark));
        let starts = ["c.toml:2:9: `pink` is none of dark", "c.toml:5:1: `mrk`"];
        let is_so = |(fault, start): (&String, &str)| fault.starts_with(start);
        assert!(faults.iter().zip(starts).all(is_so), "{faults:?}");
        assert_eq!(faults.len(), 2, "{faults:?}");
    }
}
