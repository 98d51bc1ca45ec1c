//! Which loop is the fastest here, found by trying them.
//!
//! What a core needs to keep its memory busy differs between processors, and between one core and
//! all of them: more streams, wider loads, prefetches nearer or farther. So every form of an
//! operation runs for a few milliseconds in the widest instructions; the best eight run in the
//! narrower ones as well; the best four of those meet in turn, and the highest median wins. What
//! was tried and what won is part of the result. Rates are in CPU time here, so that a machine with
//! other work to do gives the same answer.

use crate::injector::Setting;
use crate::kernel::{Isa, Op, candidates, random};
use crate::mixer::{Lead, Order, Window, Worker};
use crate::sample::{Better, Reading, Rule, interleave};
use result::memory::Figure;
use std::convert::Infallible;
use std::time::Duration;

/// Distances of prefetches that are tried, bytes.
const AHEAD: [usize; 4] = [512, 1024, 2048, 4096];
/// Forms that go from the first heat to the second, and from there to the last.
const KEPT: [usize; 2] = [8, 4];
/// Windows per form in a heat; the best one counts, because disturbances only slow down.
const TRIES: usize = 2;
/// A heat's window.
const HEAT: Window = Window {
    warm: Duration::from_micros(500),
    length: Duration::from_millis(3),
};
/// The last round's.
const FINAL: Window = Window {
    warm: Duration::from_millis(1),
    length: Duration::from_millis(8),
};
/// How often the last four meet.
const MEETINGS: Rule = Rule {
    samples: 5,
    until: None,
    warm_up: 0,
    cap: Duration::from_millis(700),
};

/// A form of the last round.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// Its place among the settings.
    pub variant: usize,
    /// Bytes loaded and stored per second of CPU time.
    pub rate: Figure,
}

/// All forms of an operation that can run here: loops in linear order with each distance of
/// prefetches, or the ones in random order. `isa` narrows them.
pub fn forms(op: Op, in_random_order: bool, isa: Option<Isa>) -> Vec<Setting> {
    if in_random_order {
        let sets = Isa::ALL.into_iter();
        let sets = sets.filter(|set| set.supported() && isa.is_none_or(|wanted| wanted == *set));
        let kernels = sets.filter_map(|set| random(op, set));
        return kernels.map(|kernel| Setting { kernel, ahead: 0 }).collect();
    }
    candidates(op, isa)
        .flat_map(|kernel| {
            let distances: &[usize] = if kernel.prefetch { &AHEAD } else { &[0] };
            distances
                .iter()
                .map(move |&ahead| Setting { kernel, ahead })
        })
        .collect()
}

/// Finds the fastest of `forms`, which are the workers' variants from `first` on. Returns those of
/// the last round, the fastest first; nothing for no forms, and the only one
/// unmeasured.
pub fn fastest<W: Worker>(lead: &mut Lead<'_, W>, first: usize, forms: &[Setting]) -> Vec<Tried> {
    if let [_] = forms {
        return vec![Tried {
            variant: first,
            rate: Figure::default(),
        }];
    }
    let Some(widest) = forms.iter().map(|form| form.kernel.isa).max() else {
        return Vec::new();
    };
    let wide = (0..forms.len()).filter(|&form| forms[form].kernel.isa == widest);
    let wide = heat(lead, first, wide.collect(), KEPT[0]);
    let shape = |form: usize| {
        let Setting { kernel, ahead } = forms[form];
        (kernel.streams, kernel.prefetch, ahead)
    };
    let all = (0..forms.len()).filter(|&form| wide.iter().any(|&w| shape(w) == shape(form)));
    let last = heat(lead, first, all.collect(), KEPT[1]);
    let met = interleave(last.len(), &MEETINGS, Better::Higher, |place| {
        let outcome = lead.window(Order::variant(first + last[place]), &FINAL);
        Ok::<_, Infallible>(Reading {
            value: outcome.rate_while_running(),
            disturbed: outcome.disturbed,
        })
    });
    let Ok(met) = met;
    let mut tried: Vec<Tried> = (0..last.len())
        .map(|place| Tried {
            variant: first + last[place],
            rate: met.figure(place),
        })
        .collect();
    tried.sort_by(|a, b| b.rate.median.total_cmp(&a.rate.median));
    tried
}

/// The `kept` fastest of `forms`.
fn heat<W: Worker>(
    lead: &mut Lead<'_, W>,
    first: usize,
    forms: Vec<usize>,
    kept: usize,
) -> Vec<usize> {
    if forms.len() <= kept {
        return forms;
    }
    let mut rates = vec![0.0f64; forms.len()];
    for _ in 0..TRIES {
        for (form, best) in forms.iter().zip(&mut rates) {
            let rate = lead
                .window(Order::variant(first + form), &HEAT)
                .rate_while_running();
            *best = best.max(rate);
        }
    }
    let mut order: Vec<usize> = (0..forms.len()).collect();
    order.sort_by(|&a, &b| rates[b].total_cmp(&rates[a]));
    order.truncate(kept);
    order.into_iter().map(|place| forms[place]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mixer::session;
    use std::io;

    /// Does as much per step as its table says.
    struct Rigged {
        speeds: Vec<u64>,
        speed: u64,
    }

    impl Worker for Rigged {
        fn begin(&mut self, order: Order) {
            self.speed = self.speeds[order.variant];
        }

        fn step(&mut self) -> u64 {
            self.speed
        }
    }

    #[test]
    fn the_fastest_form_wins_also_among_narrow_ones() {
        let forms = forms(Op::Triad, false, None);
        assert!(forms.len() > 20);
        let narrowest = forms.iter().map(|form| form.kernel.isa).min().unwrap();
        let wish = forms
            .iter()
            .position(|form| form.kernel.isa == narrowest && form.kernel.streams > 3)
            .unwrap();
        let like = |form: &Setting| {
            let (a, b) = (form.kernel, forms[wish].kernel);
            (a.streams, a.prefetch, form.ahead) == (b.streams, b.prefetch, forms[wish].ahead)
        };
        // Orders of magnitude apart, so that no disturbance changes the order.
        let mut speeds: Vec<u64> = forms
            .iter()
            .map(|form| if like(form) { 1 << 20 } else { 1 })
            .collect();
        speeds[wish] = 1 << 40;
        speeds.insert(0, 1 << 44);
        let cpu = sys::process::affinity().unwrap()[0];
        let make = |_| {
            io::Result::Ok(Rigged {
                speeds: speeds.clone(),
                speed: 0,
            })
        };
        let tried = session(&[cpu], make, |lead| fastest(lead, 1, &forms)).unwrap();
        assert_eq!(tried[0].variant, 1 + wish);
        assert_eq!(tried.len(), KEPT[1]);
    }

    #[test]
    fn forms_obey_the_instruction_set_and_the_order() {
        for form in forms(Op::Read, false, Some(Isa::Sse2)) {
            assert_eq!(form.kernel.isa, Isa::Sse2);
            assert_eq!(form.kernel.prefetch, form.ahead > 0);
        }
        assert!(
            forms(Op::Read, true, None)
                .iter()
                .all(|form| form.kernel.random)
        );
        assert!(forms(Op::Triad, true, None).is_empty());
    }
}
