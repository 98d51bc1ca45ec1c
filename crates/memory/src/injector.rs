//! The worker that moves bytes: kernels over a buffer, at full speed or with pauses.

use crate::kernel::{Error, Kernel, LINE, Pass};
use crate::mixer::{Order, Worker};
use std::sync::Arc;

/// Bytes moved between two looks at the clock: some 20 us.
const CHUNK_BYTES: usize = 256 * 1024;
/// Cycles paused between two looks at the clock.
const CHUNK_PAUSE: u64 = 100_000;

/// Memory of one worker, or of all of them.
#[derive(Debug)]
pub enum Memory<M> {
    /// Its own.
    Own(M),
    /// One buffer that all read.
    Shared(Arc<M>),
}

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

/// A worker that runs kernels over memory; its unit is the byte, loaded or stored.
#[derive(Debug)]
pub struct Injector<M> {
    memory: Memory<M>,
    passes: Vec<Pass>,
    order: Order,
}

impl<M: AsRef<[u8]> + AsMut<[u8]>> Injector<M> {
    /// Fills the memory, and is ready for windows whose variant is the place in `settings`.
    ///
    /// # Errors
    /// A kernel that does not fit or cannot run here, or that writes to shared memory.
    pub fn new(mut memory: Memory<M>, settings: &[Setting]) -> Result<Injector<M>, Error> {
        let bytes = match &mut memory {
            Memory::Own(own) => {
                // Ordinary numbers: arithmetic on denormals or nothing but zeroes, which some
                // processors store for less, would be another measurement.
                own.as_mut().fill(0x3f);
                own.as_ref().len()
            }
            Memory::Shared(all) => (**all).as_ref().len(),
        };
        let shared = matches!(memory, Memory::Shared(_));
        let passes = settings.iter().map(|setting| {
            if shared && setting.kernel.op.traffic().stores > 0 {
                return Err(Error::SharedWrites(setting.kernel.name()));
            }
            Pass::new(setting.kernel, bytes, setting.ahead)
        });
        Ok(Injector {
            passes: passes.collect::<Result<_, Error>>()?,
            memory,
            order: Order::default(),
        })
    }
}

impl<M: AsRef<[u8]> + AsMut<[u8]>> Worker for Injector<M> {
    fn begin(&mut self, order: Order) {
        self.order = order;
    }

    fn step(&mut self) -> u64 {
        let delay = self.order.delay;
        let pass = &mut self.passes[self.order.variant];
        let bytes = match delay {
            0 => CHUNK_BYTES,
            cycles => (CHUNK_PAUSE / cycles).clamp(1, 1024) as usize * LINE,
        };
        match &mut self.memory {
            Memory::Own(own) => pass.advance(own.as_mut(), bytes, delay),
            Memory::Shared(all) => pass.advance_shared((**all).as_ref(), bytes, delay),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Isa, Op, find};
    use crate::mixer::{Window, session};
    use std::io;
    use std::time::Duration;
    use sys::process::affinity;

    const SHORT: Window = Window {
        warm: Duration::from_millis(1),
        length: Duration::from_millis(3),
    };

    /// A vector that begins at a line.
    #[derive(Debug)]
    struct Lines(Vec<[u8; 64]>, usize);

    impl Lines {
        fn new(bytes: usize) -> Lines {
            let memory = vec![[0; 64]; bytes / LINE + 1];
            let skip = memory.as_ptr().cast::<u8>().align_offset(LINE);
            Lines(memory, skip)
        }
    }

    impl AsRef<[u8]> for Lines {
        fn as_ref(&self) -> &[u8] {
            &self.0.as_flattened()[self.1..][..(self.0.len() - 1) * LINE]
        }
    }

    impl AsMut<[u8]> for Lines {
        fn as_mut(&mut self) -> &mut [u8] {
            let len = (self.0.len() - 1) * LINE;
            &mut self.0.as_flattened_mut()[self.1..][..len]
        }
    }

    #[test]
    fn injectors_move_whole_steps_and_delays_slow_them_down() {
        let isa = Isa::widest().unwrap();
        let kernel = find(Op::Copy, isa, 2, false).unwrap();
        let settings = [Setting { kernel, ahead: 0 }];
        let cpus = affinity().unwrap();
        let make = |_| {
            Injector::new(Memory::Own(Lines::new(1 << 16)), &settings).map_err(io::Error::other)
        };
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
    fn shared_memory_is_for_reading() {
        let isa = Isa::widest().unwrap();
        let setting = |op| Setting {
            kernel: find(op, isa, 4, false).unwrap(),
            ahead: 0,
        };
        let memory = Arc::new(Lines::new(1 << 16));
        let shared = || Memory::Shared(Arc::clone(&memory));
        let mut reader = Injector::new(shared(), &[setting(Op::Read)]).unwrap();
        assert!(reader.step() > 0);
        let refused = Injector::new(shared(), &[setting(Op::Write)]).unwrap_err();
        assert!(refused.to_string().contains("write"), "{refused}");
    }

    #[test]
    fn bytes_per_second_stay_below_what_the_first_cache_can_give() {
        // Two loads of the widest kind per cycle, no core above 7 GHz.
        let isa = Isa::widest().unwrap();
        let ceiling = 2.0 * isa.width() as f64 * 7e9;
        let settings: Vec<Setting> = crate::kernel::candidates(Op::Read, Some(isa))
            .map(|kernel| Setting { kernel, ahead: 0 })
            .collect();
        let make = |_| {
            Injector::new(Memory::Own(Lines::new(24 << 10)), &settings).map_err(io::Error::other)
        };
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
