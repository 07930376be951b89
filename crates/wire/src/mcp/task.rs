//! How far a task has come.

use crate::json::Value;

/// `status` of a task, in the core of 2025-11-25 and in the extension that came after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskStatus {
    Working,
    /// `input_required`: somebody has to answer before it goes on.
    InputRequired,
    Completed,
    Failed,
    Cancelled,
}

impl TaskStatus {
    const ALL: [Self; 5] = [
        Self::Working,
        Self::InputRequired,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    /// The status that a task names; `None` where it names none, or one that nobody knows.
    pub fn of(task: Value<'_>) -> Option<Self> {
        let status = task.get("status")?;
        let mut all = Self::ALL.into_iter();
        all.find(|known| status.is_str(known.as_str()))
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired => "input_required",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether nothing comes after it.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}
