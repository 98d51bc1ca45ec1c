//! Places where the next random request goes, apart from the uniform one.

mod skew;
mod zoned;

pub(crate) use skew::Skew;
pub(crate) use zoned::Zones;
