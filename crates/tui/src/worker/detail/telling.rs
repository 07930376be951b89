//! What else belongs to a row: its story.

use super::is_over;
use crate::worker::{Answer as Any, Growth, Job, Progress, Source};
use mcpreel_store::reader::ReadError;
use mcpreel_store::story::Story;
use mcpreel_trace::exchange::ExchangeId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskStory {
    pub exchange: ExchangeId,
}

#[derive(Debug)]
pub struct StoryAnswer {
    pub ask: AskStory,
    /// The story; none if there is no such exchange.
    pub story: Option<Box<Story>>,
}

impl AskStory {
    pub(crate) fn job(self) -> Box<dyn Job> {
        Box::new(Telling {
            ask: self,
            settled: false,
        })
    }
}

struct Telling {
    ask: AskStory,
    /// Whether nothing will be added to it any more.
    settled: bool,
}

impl Job for Telling {
    fn step(&mut self, source: &Source<'_>, answers: &mut Vec<Any>) -> Result<Progress, ReadError> {
        let story = source.recording.story(self.ask.exchange)?;
        self.settled = story.as_ref().is_some_and(|story| is_over(&story.exchange));
        answers.push(Any::Story(StoryAnswer {
            ask: self.ask,
            story: story.map(Box::new),
        }));
        Ok(Progress::Done)
    }

    fn grown(&mut self, growth: &Growth) -> bool {
        !self.settled || growth.ended
    }
}
