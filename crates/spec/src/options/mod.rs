//! Every generic option, one block per group.

mod block;
mod buffer;
mod extent;
mod faults;
mod identity;
mod io;
mod measure;
mod pace;
mod process;
mod queue;
mod replay;
mod steady;
mod target;
#[cfg(test)]
mod tests;
mod verify;
mod zone;

pub use block::Block;
pub use buffer::Buffer;
pub use extent::Extent;
pub use faults::Faults;
pub use identity::Identity;
pub use io::Io;
pub use measure::Measure;
pub use pace::Pace;
pub use process::Process;
pub use queue::Queue;
pub use replay::Replay;
pub use steady::Steady;
pub use target::Target;
pub use verify::Verify;
pub use zone::Zone;

use option::{Def, KbBase, OptionSet, ValueError};
use std::collections::BTreeSet;

/// Declares the struct of all groups and the dispatch from a name to its group.
macro_rules! groups {
    ($($field:ident : $group:ident),+ $(,)?) => {
        /// All generic options of a job.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Options {
            $(
                #[doc = concat!("See [`", stringify!($group), "`].")]
                pub $field: $group,
            )+
            set: BTreeSet<&'static str>,
        }

        impl Options {
            /// The groups in the order of the reference: title and declarations.
            pub const GROUPS: &'static [(&'static str, &'static [Def])] =
                &[$((<$group as OptionSet>::TITLE, <$group as OptionSet>::DEFS)),+];

            fn set_in_group(
                &mut self,
                name: &str,
                text: Option<&str>,
                kb_base: KbBase,
            ) -> Option<Result<Option<String>, ValueError>> {
                $( if let Some(result) = self.$field.set_named(name, text, kb_base) {
                    return Some(result);
                } )+
                None
            }

            /// The value of an option as it would be typed; `None` for an unknown name.
            pub fn show(&self, name: &str) -> Option<String> {
                $( if let Some((index, _)) = option::find($group::DEFS, name) {
                    return Some(self.$field.show(index));
                } )+
                None
            }

            /// Options whose declared default does not parse.
            #[cfg(test)]
            pub(crate) fn bad_defaults() -> Vec<(&'static str, ValueError)> {
                let mut bad = Vec::new();
                $( for (index, def) in $group::DEFS.iter().enumerate() {
                    bad.extend($group::default_error(index).map(|e| (def.name, e)));
                } )+
                bad
            }
        }
    };
}

groups! {
    identity: Identity,
    target: Target,
    io: Io,
    block: Block,
    buffer: Buffer,
    extent: Extent,
    queue: Queue,
    pace: Pace,
    replay: Replay,
    process: Process,
    zone: Zone,
    verify: Verify,
    steady: Steady,
    measure: Measure,
    faults: Faults,
}

impl Options {
    /// Every declaration.
    pub fn defs() -> impl Iterator<Item = &'static Def> {
        Self::GROUPS.iter().flat_map(|(_, defs)| defs.iter())
    }

    /// The declaration that answers to a name or alias.
    pub fn def(name: &str) -> Option<&'static Def> {
        Self::defs().find(|def| def.answers_to(name))
    }

    /// True when the user set the option, by this or another of its names.
    pub fn was_set(&self, name: &str) -> bool {
        Self::def(name).is_some_and(|def| self.set.contains(def.name))
    }

    /// Sets an option by name, with the effects on other options that fio gives it. `None`
    /// when there is no such generic option. On an error nothing changes.
    pub fn set(
        &mut self,
        name: &str,
        text: Option<&str>,
    ) -> Option<Result<Option<String>, ValueError>> {
        let def = Self::def(name)?;
        let result = self.set_in_group(name, text, self.identity.kb_base)?;
        if result.is_ok() {
            self.set.insert(def.name);
            self.spread(def.name);
        }
        Some(result)
    }

    /// Options that speak about the same thing, or that switch others. The last word wins.
    fn spread(&mut self, name: &str) {
        match name {
            "rwmixread" => self.io.rwmixwrite = 100 - self.io.rwmixread,
            "rwmixwrite" => self.io.rwmixread = 100 - self.io.rwmixwrite,
            "direct" => self.io.buffered = !self.io.direct,
            "buffered" => self.io.direct = !self.io.buffered,
            "gtod_reduce" if self.measure.gtod_reduce => {
                self.measure.disable_lat = true;
                self.measure.disable_clat = true;
                self.measure.disable_slat = true;
                self.measure.disable_bw_measurement = true;
                self.measure.clat_percentiles = false;
                self.measure.lat_percentiles = false;
                self.measure.slat_percentiles = false;
            }
            "buffer_pattern" => {
                // Reads would overwrite the pattern in the buffer.
                self.buffer.refill_buffers = self.io.rw.mode.reads();
                self.buffer.scramble_buffers = false;
                self.buffer.zero_buffers = false;
            }
            "verify_pattern" if !self.set.contains("verify") => {
                self.verify.verify = crate::kinds::VerifyKind::PatternHdr;
            }
            _ => {}
        }
    }
}
