//! The worker that moves bytes: kernels over a buffer, at full speed or with pauses.

use crate::kernel::{Error, Kernel, LINE, Pass, fill};
use crate::mixer::{Order, Worker};
use std::sync::Arc;
use sys::area::Area;

/// Bytes moved between two looks at the clock: some 20 us.
const CHUNK_BYTES: usize = 256 * 1024;
/// Cycles paused between two looks at the clock.
const CHUNK_PAUSE: u64 = 100_000;

/// One variant of what an injector does.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The loop.
    pub kernel: &'static Kernel,
    /// Distance of its prefetches in bytes, if it has any.
    pub ahead: usize,
}

impl Setting {
    /// `triad-nt-avx512-12s+pf@2048`.
    pub fn name(&self) -> String {
        let name = self.kernel.name();
        if self.kernel.prefetch {
            format!("{name}@{}", self.ahead)
        } else {
            name
        }
    }
}

/// A worker that runs kernels over memory, its own or shared; its unit is the byte, loaded or
/// stored.
#[derive(Debug)]
pub struct Injector {
    area: Arc<Area>,
    passes: Vec<Pass>,
    order: Order,
}

impl Injector {
    /// Ready for windows whose variant is the place in `settings`. An area that is still empty
    /// gets numbers first.
    ///
    /// # Errors
    /// A kernel that does not fit or cannot run here.
    pub fn new(area: Arc<Area>, settings: &[Setting]) -> Result<Injector, Error> {
        if area.load(0) == 0 {
            fill(&area, 1.5)?;
        }
        let pass = |setting: &Setting| Pass::new(setting.kernel, area.bytes(), setting.ahead);
        Ok(Injector {
            passes: settings.iter().map(pass).collect::<Result<_, Error>>()?,
            area,
            order: Order::default(),
        })
    }
}

impl Injector {
    /// Lines are flushed soon after they are stored.
    ///
    /// # Errors
    /// A loop that stores nothing, or in random order.
    pub fn flushing(self) -> Result<Injector, Error> {
        let passes = self.passes.into_iter().map(Pass::flushing);
        Ok(Injector {
            passes: passes.collect::<Result<_, Error>>()?,
            ..self
        })
    }

    /// Loops in random order draw among so many lines at a time.
    pub fn within(self, lines: usize) -> Injector {
        let passes = self.passes.into_iter();
        Injector {
            passes: passes.map(|pass| pass.within(lines)).collect(),
            ..self
        }
    }
}

impl Worker for Injector {
    fn begin(&mut self, order: Order) {
        self.order = order;
    }

    fn step(&mut self) -> u64 {
        let delay = self.order.delay;
        let bytes = match delay {
            0 => CHUNK_BYTES,
            cycles => (CHUNK_PAUSE / cycles).clamp(1, 1024) as usize * LINE,
        };
        self.passes[self.order.variant].advance(&self.area, bytes, delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Isa, Op, find};
    use crate::mixer::{Window, session};
    use std::io;
    use std::time::Duration;
    use sys::area::Pages;
    use sys::process::affinity;

    const SHORT: Window = Window {
        warm: Duration::from_millis(1),
        length: Duration::from_millis(3),
    };

    fn memory(bytes: usize) -> io::Result<Arc<Area>> {
        let area = Area::map(bytes, Pages::Base)?;
        area.populate()?;
        Ok(Arc::new(area))
    }

    #[test]
    fn injectors_move_whole_steps_and_delays_slow_them_down() {
        let isa = Isa::widest().unwrap();
        let kernel = find(Op::Copy, isa, 2, false).unwrap();
        let settings = [Setting { kernel, ahead: 0 }];
        let cpus = affinity().unwrap();
        let make = |_| Injector::new(memory(1 << 16)?, &settings).map_err(io::Error::other);
        session(&cpus, make, |lead| {
            let mut bytes = |delay| {
                let order = Order { variant: 0, delay };
                let outcome = lead.window(order, &SHORT);
                for done in &outcome.done {
                    assert_eq!(done.units % kernel.bytes_per_step() as u64, 0);
                }
                outcome.done.iter().map(|done| done.units).min().unwrap()
            };
            // A line per 20000 cycles against several per cycle: no machine is that busy.
            assert!(bytes(0) > bytes(20_000));
        })
        .unwrap();
    }

    #[test]
    fn bytes_per_second_stay_below_what_the_first_cache_can_give() {
        // Two loads of the widest kind per cycle, no core above 7 GHz.
        let isa = Isa::widest().unwrap();
        let ceiling = 2.0 * isa.width() as f64 * 7e9;
        let settings: Vec<Setting> = crate::kernel::candidates(Op::Read, Some(isa))
            .map(|kernel| Setting { kernel, ahead: 0 })
            .collect();
        let make = |_| Injector::new(memory(24 << 10)?, &settings).map_err(io::Error::other);
        let cpu = affinity().unwrap()[0];
        session(&[cpu], make, |lead| {
            for (variant, setting) in settings.iter().enumerate() {
                let rate = lead.window(Order::variant(variant), &SHORT).rate();
                assert!(rate > 0.0 && rate < ceiling, "{}", setting.name());
            }
        })
        .unwrap();
    }
}
