//! One row in full, and what else belongs to it.

use super::Job;

/// The question.
#[derive(Debug)]
pub struct Ask;

/// The answer.
#[derive(Debug)]
pub struct Answer;

impl Ask {
    pub(super) fn job(self) -> Box<dyn Job> {
        super::nothing()
    }
}

/// What else belongs to it.
#[derive(Debug)]
pub struct AskStory;

/// What belongs to it.
#[derive(Debug)]
pub struct StoryAnswer;

impl AskStory {
    pub(super) fn job(self) -> Box<dyn Job> {
        super::nothing()
    }
}
