//! The timed loops: what is loaded and stored, by which instructions, in how many places at once.
//!
//! A loop walks `streams` places of one buffer side by side, a fixed distance apart, and moves
//! `lines` cache lines at each of them per step. The first places are written, the others read;
//! a loop of STREAM's triad with 4 places per array has 12 streams. Several streams keep more of a
//! core's outstanding misses busy than one ascending stream does. The instructions are inline
//! assembly, so that the compiler can neither delete a load nor narrow a store.
//!
//! Invariant of the unsafe blocks here: a [`Loop`] touches `base + k * stride + j` for
//! `k < streams` and `j < steps * lines * 64` (a random one: whole lines of the first
//! `stride * 64` bytes), in units of at most a line, each aligned to its own size. [`Pass`] keeps
//! these inside the [`Area`](sys::area::Area) that it is given, to whose bytes no reference is
//! ever made; the processor has the instructions because [`Pass::new`] refuses an [`Isa`] that it
//! lacks. Non-temporal stores are fenced before the call returns.
#![allow(unsafe_code)]

#[cfg(target_arch = "aarch64")]
mod arm;
pub mod chase;
mod op;
mod pass;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use op::{Op, Traffic};
pub use pass::{Error, Layout, Pass, fill};

/// Bytes of a cache line. On processors with longer ones (some Arm servers) a figure is still
/// right: it counts bytes, not lines.
pub const LINE: usize = 64;

/// Which instructions move the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isa {
    /// 16 bytes at once, every x86-64.
    Sse2,
    /// 32 bytes at once.
    Avx2,
    /// 64 bytes at once.
    Avx512,
    /// 32 bytes at once as a pair, every AArch64.
    Neon,
    /// 16 bytes of each line and no more, x86-64. Only ever chosen by name.
    Part,
}

impl Isa {
    /// All that move whole lines, narrow to wide.
    pub const ALL: [Isa; 4] = [Isa::Sse2, Isa::Avx2, Isa::Avx512, Isa::Neon];

    /// The word for options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Sse2 => "sse2",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
            Isa::Neon => "neon",
            Isa::Part => "part",
        }
    }

    /// Bytes that one instruction loads or stores.
    pub fn width(self) -> usize {
        match self {
            Isa::Sse2 | Isa::Neon | Isa::Part => 16,
            Isa::Avx2 => 32,
            Isa::Avx512 => 64,
        }
    }

    /// Whether this processor and its system can run it.
    pub fn supported(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return match self {
            Isa::Sse2 | Isa::Part => true,
            Isa::Avx2 => std::is_x86_feature_detected!("avx2"),
            Isa::Avx512 => std::is_x86_feature_detected!("avx512f"),
            Isa::Neon => false,
        };
        #[cfg(not(target_arch = "x86_64"))]
        return self == Isa::Neon && cfg!(target_arch = "aarch64");
    }

    /// Bytes of each line that are loaded or stored.
    pub fn touched(self) -> usize {
        if self == Isa::Part {
            self.width()
        } else {
            LINE
        }
    }

    /// The widest one supported.
    pub fn widest() -> Option<Isa> {
        Isa::ALL.into_iter().rfind(|isa| isa.supported())
    }

    /// The set of that name.
    pub fn parse(word: &str) -> Option<Isa> {
        Isa::ALL.into_iter().find(|isa| isa.name() == word)
    }
}

/// A loop of machine code. What its arguments mean stands in the module's header; `ahead` is the
/// distance in bytes at which lines are prefetched (random loops: the seed), `value` what is
/// stored or multiplied by.
///
/// # Safety
/// `steps` is not 0, the lines of the module's invariant are inside one live allocation that
/// to which no reference exists, `base` is aligned to a line, and the processor has the
/// instructions.
type Loop = unsafe fn(base: *mut u8, stride: usize, steps: usize, ahead: usize, value: f64);

/// One loop and what it does.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// What is done with the data.
    pub op: Op,
    /// By which instructions.
    pub isa: Isa,
    /// Places of the buffer that are walked side by side.
    pub streams: usize,
    /// Lines per stream and step.
    pub lines: usize,
    /// Whether lines are prefetched by instruction.
    pub prefetch: bool,
    /// Whether lines are taken in random order instead.
    pub random: bool,
    run: Loop,
}

impl Kernel {
    /// Bytes that one step loads and stores.
    pub fn bytes_per_step(&self) -> usize {
        self.streams * self.lines * LINE
    }

    /// How many of the streams are written; they come first.
    pub fn written(&self) -> usize {
        let traffic = self.op.traffic();
        self.streams / traffic.lines() * traffic.stores
    }

    /// `read-avx512-8s`, with `+pf` if it prefetches.
    pub fn name(&self) -> String {
        let order = if self.random { "random-" } else { "" };
        let prefetch = if self.prefetch { "+pf" } else { "" };
        let (op, isa, streams) = (self.op.name(), self.isa.name(), self.streams);
        format!("{order}{op}-{isa}-{streams}s{prefetch}")
    }
}

/// Every loop of this architecture.
pub fn all() -> impl Iterator<Item = &'static Kernel> {
    #[cfg(target_arch = "x86_64")]
    let tables = x86::TABLES;
    #[cfg(target_arch = "aarch64")]
    let tables = arm::TABLES;
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let tables: [&[Kernel]; 0] = [];
    tables.into_iter().flatten()
}

/// The loops of one operation that this processor can run, in linear order; `isa` narrows them, and
/// without it those that move whole lines are meant.
pub fn candidates(op: Op, isa: Option<Isa>) -> impl Iterator<Item = &'static Kernel> {
    all().filter(move |kernel| {
        kernel.op == op
            && !kernel.random
            && kernel.isa.supported()
            && isa.map_or(kernel.isa != Isa::Part, |wanted| wanted == kernel.isa)
    })
}

/// The loop that takes lines in random order, if the operation has one.
pub fn random(op: Op, isa: Isa) -> Option<&'static Kernel> {
    all().find(|kernel| kernel.op == op && kernel.random && kernel.isa == isa)
}

/// One loop by its properties.
pub fn find(op: Op, isa: Isa, streams: usize, prefetch: bool) -> Option<&'static Kernel> {
    all().find(|kernel| {
        !kernel.random
            && (kernel.op, kernel.isa) == (op, isa)
            && (kernel.streams, kernel.prefetch) == (streams, prefetch)
    })
}

/// Does nothing for about `cycles` cycles of the core, without touching memory.
pub fn pause(cycles: u64) {
    if cycles == 0 {
        return;
    }
    #[cfg(target_arch = "x86_64")]
    // SAFETY: counts a register down; a taken branch takes one cycle.
    unsafe {
        std::arch::asm!(
            "2:", "dec {n}", "jnz 2b",
            n = inout(reg) cycles => _,
            options(nomem, nostack)
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!(
            "2:", "subs {n}, {n}, #1", "b.ne 2b",
            n = inout(reg) cycles => _,
            options(nomem, nostack)
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    for _ in 0..cycles {
        std::hint::black_box(());
    }
}
