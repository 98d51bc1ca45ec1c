//! One declaration per option.
//!
//! An [`options!`] block declares a struct whose fields are options. The same line gives the
//! typed field, the default, the parser, the checks, the names and the help, so that no
//! second list can disagree with it. [`choices!`] does the same for an enumeration's words.
//!
//! ```
//! option::options! {
//!     /// Queueing
//!     pub struct Depth {
//!         /// Number of requests to keep in flight.
//!         iodepth: u32 = "1", at_least(1);
//!         /// Requests to collect before a submission; 0 means `iodepth`.
//!         iodepth_batch: u32 = "1", aliases(&["iodepth_batch_submit"]), parent("iodepth");
//!     }
//! }
//! use option::OptionSet;
//! let mut depth = Depth::default();
//! let (index, _) = option::find(Depth::DEFS, "iodepth_batch_submit").unwrap();
//! depth.set(index, Some("1k"), Default::default()).unwrap();
//! assert_eq!(depth.iodepth_batch, 1024);
//! assert!(depth.set(0, Some("0"), Default::default()).is_err());
//! ```
#![forbid(unsafe_code)]

mod def;
mod error;
mod lists;
mod macros;
mod table;
#[cfg(test)]
mod tests;
mod value;
mod values;

pub use def::{Choice, Def, Kind, State};
pub use error::ValueError;
pub use lists::{Floats, IdList, Names};
pub use table::{
    EngineTable, OptionSet, bad_choice, check_default, closest, distance, find, problems,
};
pub use units::{KbBase, number::Scanned};
pub use value::{Ctx, Value, assign, initial, is_initial};
