//! Zipf, pareto and normal distributions over the blocks of one file.
//!
//! Zipf follows J. Gray et al., "Quickly generating billion-record synthetic databases"
//! (SIGMOD 1994). Popular ranks are spread over the region by a multiplicative hash and then
//! shifted. `pow` and the sums are done in fio's order so that the last bit agrees; that
//! holds where both use the same C library.

use crate::arith::Modulus;
use crate::hash::spread;
use crate::rng::{TWO_POW_MINUS_32, Taus88};
use crate::spec::{Distribution, SpecError};

/// Ranks whose weights are summed; fio stops there too.
const SUMMED_RANKS: u64 = 10_000_000;
/// Draws that are averaged for a normal value.
const NORMAL_DRAWS: u64 = 12;

#[derive(Clone, Debug)]
enum Shape {
    Zipf {
        zeta: f64,
        eta: f64,
        alpha: f64,
        second: f64,
    },
    Pareto {
        power: f64,
    },
    Normal {
        deviation: u32,
        draw: Modulus,
    },
}

/// A skewed choice of blocks.
#[derive(Clone, Debug)]
pub(crate) struct Skew {
    shape: Shape,
    rand: Taus88,
    ranks: u64,
    modulus: Modulus,
    shift: u64,
    /// Popular ranks are spread over the region.
    spreads: bool,
}

impl Skew {
    /// The distribution over `ranks` blocks; `None` for those that are not skewed.
    pub(crate) fn new(
        distribution: &Distribution,
        ranks: u64,
        seed: u32,
    ) -> Result<Option<Self>, SpecError> {
        let ranks = ranks.max(1);
        let mut rand = Taus88::new(seed);
        let (shape, shift) = match *distribution {
            Distribution::Zipf { theta, center } => {
                let shift = offset_of(&mut rand, ranks, center);
                (zipf(theta, ranks)?, shift)
            }
            Distribution::Pareto { h, center } => {
                if !(h > 0.0 && h < 1.0) {
                    return Err(SpecError::Value {
                        what: "random_distribution=pareto",
                        reason: "the power must be between 0 and 1",
                    });
                }
                let shift = offset_of(&mut rand, ranks, center);
                (
                    Shape::Pareto {
                        power: h.ln() / (1.0 - h).ln(),
                    },
                    shift,
                )
            }
            Distribution::Normal { deviation, center } => {
                if !(0.0..100.0).contains(&deviation) {
                    return Err(SpecError::Value {
                        what: "random_distribution=normal",
                        reason: "the deviation must be at least 0 and below 100 percent",
                    });
                }
                let blocks = (ranks as f64 * deviation / 100.0).ceil() as u64;
                let deviation = blocks.min(ranks / 2) as u32;
                let shift = center.map_or(0, |center| (ranks as f64 * (center - 0.5)) as i64);
                let draw = Modulus::new(ranks + 1);
                (Shape::Normal { deviation, draw }, u64::from(shift as u32))
            }
            _ => return Ok(None),
        };
        Ok(Some(Skew {
            shape,
            rand,
            ranks,
            modulus: Modulus::new(ranks),
            shift,
            spreads: true,
        }))
    }

    /// The same with neighbouring ranks left together.
    pub(crate) fn without_spreading(mut self) -> Self {
        self.spreads = false;
        self
    }

    /// The next block.
    pub(crate) fn next(&mut self) -> u64 {
        let rank = match self.shape {
            Shape::Zipf {
                zeta,
                eta,
                alpha,
                second,
            } => {
                let uniform = f64::from(self.rand.draw()) / f64::from(u32::MAX);
                let weight = uniform * zeta;
                if weight < 1.0 {
                    0
                } else if weight < second {
                    1
                } else {
                    (self.ranks as f64 * (eta * uniform - eta + 1.0).powf(alpha)) as u64
                }
            }
            Shape::Pareto { power } => {
                let uniform = f64::from(self.rand.draw()) / f64::from(u32::MAX);
                ((self.ranks - 1) as f64 * uniform.powf(power)) as u64
            }
            Shape::Normal { deviation, draw } => self.normal(deviation, draw),
        };
        let place = if self.spreads { spread(rank) } else { rank };
        self.modulus.of(place.wrapping_add(self.shift))
    }

    fn normal(&mut self, deviation: u32, draw: Modulus) -> u64 {
        let sum: u64 = (0..NORMAL_DRAWS)
            .map(|_| draw.of(u64::from(self.rand.draw())))
            .sum();
        let mean = sum.div_ceil(NORMAL_DRAWS);
        if deviation == 0 {
            return mean;
        }
        let width = f64::from(deviation);
        let drawn = (width * (f64::from(self.rand.draw()) * TWO_POW_MINUS_32)) as i32;
        let mut by = drawn.wrapping_sub((deviation / 2) as i32);
        // Halved until the sum is in range; values below 0 wrap to large ones.
        while by != 0 && mean.wrapping_add_signed(i64::from(by)) >= self.ranks {
            by /= 2;
        }
        mean.wrapping_add_signed(i64::from(by))
    }
}

/// Where the most popular rank lies: at the centre asked for, or at the first value of the
/// stream, which is consumed in both cases.
fn offset_of(rand: &mut Taus88, ranks: u64, center: Option<f64>) -> u64 {
    let drawn = u64::from(rand.draw());
    center.map_or(drawn, |center| (ranks as f64 * center) as u64)
}

fn zipf(theta: f64, ranks: u64) -> Result<Shape, SpecError> {
    if theta == 1.0 || theta.is_nan() || theta < 0.0 {
        return Err(SpecError::Value {
            what: "random_distribution=zipf",
            reason: "the exponent must be at least 0 and different from 1",
        });
    }
    let summed = ranks.min(SUMMED_RANKS);
    let zeta = (1..=summed).fold(0.0, |sum, rank| sum + (1.0 / rank as f64).powf(theta));
    let first_two = 1.0f64.powf(theta) + 0.5f64.powf(theta);
    let alpha = 1.0 / (1.0 - theta);
    let eta = (1.0 - (2.0 / ranks as f64).powf(1.0 - theta)) / (1.0 - first_two / zeta);
    Ok(Shape::Zipf {
        zeta,
        eta,
        alpha,
        second: 1.0 + 0.5f64.powf(theta),
    })
}
