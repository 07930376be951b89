//! Tokens that do not depend on what is selected.

use super::Redacting;
use crate::export::{Part, Selection};
use mcpreel_store::reader::ReadError;
use mcpreel_trace::frame::Seq;

impl Redacting<'_> {
    /// Gives what stands in a code its token, in the order of the whole recording. Only where some
    /// of what is selected has none yet, all is gone over. `progress` is told how far it is, and may
    /// stop it.
    pub fn number<E: From<ReadError>>(
        &mut self,
        selection: &Selection,
        progress: &mut dyn FnMut(Seq) -> Result<(), E>,
    ) -> Result<(), E> {
        if selection.note().is_none() {
            // Whoever gives all of it gives it in that order.
            return Ok(());
        }
        let mark = self.redactor.mark();
        self.go_over(selection, progress)?;
        if self.redactor.back_to(&mark) {
            self.go_over(&Selection::default(), progress)?;
        }
        self.report = self.redactor.report();
        Ok(())
    }

    fn go_over<E: From<ReadError>>(
        &mut self,
        selection: &Selection,
        progress: &mut dyn FnMut(Seq) -> Result<(), E>,
    ) -> Result<(), E> {
        self.look(selection, &mut |part| match part {
            Part::Frame(head, _, _) => progress(head.seq),
            Part::Event(_) | Part::Passed(_) => Ok(()),
        })?;
        self.annotations(&mut |_, _| Ok::<(), E>(()))
    }
}
