//! What there is on the levels of a value that is to be checked.

use crate::tools::schema::plan::VALUE_SIZE;

/// Levels of a value that is checked.
pub(super) const VALUE_LEVELS: usize = 32;

/// What there is on one level of a value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Level {
    pub(super) values: u64,
    pub(super) texts: u64,
    pub(super) bytes: u64,
    /// Bytes of the longest name of a member.
    pub(super) longest_name: u64,
}

impl Level {
    fn text(&mut self, text: &str) {
        self.texts += 1;
        self.bytes += text.len() as u64;
    }
}

/// What there is on the levels of a value. Names of members count with their values.
#[derive(Debug, Default)]
pub struct Profile {
    pub(super) levels: Vec<Level>,
}

impl Profile {
    /// One more value on `level`, a member with this name; `None` where that is too deep.
    pub fn value(&mut self, name: Option<&str>, level: usize) -> Option<()> {
        // Whoever counts a value has counted the one around it.
        if level == self.levels.len() && level < VALUE_LEVELS {
            self.levels.push(Level::default());
        }
        let level = self.levels.get_mut(level)?;
        level.values += 1;
        if let Some(name) = name {
            level.longest_name = level.longest_name.max(name.len() as u64);
            level.text(name);
        }
        Some(())
    }

    /// A value on `level` that was counted is this text.
    pub fn text(&mut self, text: &str, level: usize) -> Option<()> {
        self.levels.get_mut(level)?.text(text);
        Some(())
    }

    /// Bytes that copies of all values of a level take, with everything in them.
    pub(super) fn content(&self, level: usize) -> u64 {
        let levels = self.levels[level..].iter();
        levels.map(|it| it.bytes + it.values * VALUE_SIZE).sum()
    }
}
