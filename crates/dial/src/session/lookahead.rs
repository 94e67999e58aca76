//! What a session does ahead of an answer: the column of the item, and for every answer the next question and how much it
//! would change. Classes are read as [`Session::prediction`] reads them.

use super::Session;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::session::question::Lookahead;

impl Session<'_> {
    /// Solves for the column of an item ahead of its label: it does not depend on what the label will be. Telling the
    /// label then takes the short rest of the time; nothing else changes.
    ///
    /// # Errors
    /// An item that is not in the pool, or what a solve may fail with.
    pub fn prepare(&mut self, item: &str, control: &Control) -> Result<()> {
        let node = self.engine.items.node(item)?;
        self.evidence.prepare(node, control)
    }

    /// What every answer that may be given for an item would bring, in the order of [`Session::classes`]. The session is
    /// afterwards as it was, with the item prepared.
    ///
    /// # Errors
    /// As [`Session::tell`].
    pub fn lookahead(&mut self, item: &str, control: &Control) -> Result<Vec<Lookahead>> {
        let own = self.engine.items.node(item)?.index();
        let before = self.current_readout().classes(self.field());
        let mut answers = Vec::new();
        for class in self.classes().to_vec() {
            self.tell(item, class, control)?;
            let asked = self.ask_under(1, control);
            let after = self.current_readout().classes(self.field());
            self.labels.cut(self.labels.events().len() - 1);
            // What the session was before it can be again.
            self.follow(&Control::new())?;
            let others = (0..)
                .zip(before.iter().zip(&after))
                .filter(|(node, _)| *node != own);
            let changed = others
                .filter(|(_, (before, after))| before != after)
                .count();
            match asked {
                Ok(mut ask) => answers.push(Lookahead {
                    class,
                    next: ask.questions.pop(),
                    changed,
                }),
                Err(Error::NothingToAsk) => answers.push(Lookahead {
                    class,
                    next: None,
                    changed,
                }),
                Err(error) => return Err(error),
            }
        }
        Ok(answers)
    }
}
