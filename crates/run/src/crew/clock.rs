//! The thread that keeps the time for all workers (`gtod_cpu`).

use super::Session;
use crate::member::State;
use crate::worker::Outcome;
use sys::clock::Keeper;

impl Session<'_, '_> {
    /// Starts the clock's thread where the plan has one; without it no worker can start.
    pub(super) fn keep_clock(&mut self) -> Option<Keeper> {
        let cpu = self.plan.clock_cpu?;
        match Keeper::start(cpu as usize) {
            Ok(keeper) => Some(keeper),
            Err(error) => {
                let what = format!("start the clock of gtod_cpu= on CPU {cpu}");
                let failure = crate::failure::step(what, &error);
                for member in &mut self.members {
                    self.observer.failed(member.plan, 0, &failure);
                    let outcome = Outcome::failed(member.plan, failure.clone());
                    member.state = State::Done(Box::new(outcome));
                }
                None
            }
        }
    }
}
