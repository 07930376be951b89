//! Where a text occurs, and where the next row of a kind is.

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

/// Where the next row of a kind is.
#[derive(Debug)]
pub struct Jump;

/// Where it is.
#[derive(Debug)]
pub struct JumpAnswer;

impl Jump {
    pub(super) fn job(self) -> Box<dyn Job> {
        super::nothing()
    }
}
