//! I/O directions and values kept once per direction.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::{Index, IndexMut};

/// What one I/O does. `Read`, `Write` and `Trim` carry data statistics; the other kinds are
/// counted and timed as synchronisation.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[repr(u8)]
pub enum Ddir {
    /// Device to memory.
    Read = 0,
    /// Memory to device.
    Write = 1,
    /// Discard a range.
    Trim = 2,
    /// `fsync`.
    Sync = 3,
    /// `fdatasync`.
    DataSync = 4,
    /// `sync_file_range`.
    SyncFileRange = 5,
}

impl Ddir {
    /// The directions that move (or discard) data, in report order.
    pub const DATA: [Ddir; 3] = [Ddir::Read, Ddir::Write, Ddir::Trim];

    /// True for read, write and trim.
    #[inline]
    pub const fn is_data(self) -> bool {
        (self as u8) < 3
    }

    /// Position in a [`PerDdir`]; meaningful for data directions only.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Lower-case name as reports print it.
    pub const fn name(self) -> &'static str {
        match self {
            Ddir::Read => "read",
            Ddir::Write => "write",
            Ddir::Trim => "trim",
            Ddir::Sync => "sync",
            Ddir::DataSync => "datasync",
            Ddir::SyncFileRange => "sync_file_range",
        }
    }
}

/// One value for each of read, write and trim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct PerDdir<T>(pub [T; 3]);

impl<T> PerDdir<T> {
    /// Builds the three values from their direction.
    pub fn from_fn(mut value: impl FnMut(Ddir) -> T) -> Self {
        PerDdir([value(Ddir::Read), value(Ddir::Write), value(Ddir::Trim)])
    }

    /// The three values with their directions, in report order.
    pub fn iter(&self) -> impl Iterator<Item = (Ddir, &T)> {
        Ddir::DATA.into_iter().zip(self.0.iter())
    }

    /// Applies `f` to each value.
    pub fn map<U>(self, f: impl FnMut(T) -> U) -> PerDdir<U> {
        PerDdir(self.0.map(f))
    }
}

impl<T: Clone> PerDdir<T> {
    /// The same value in all directions.
    pub fn splat(value: T) -> Self {
        PerDdir([value.clone(), value.clone(), value])
    }
}

impl<T> Index<Ddir> for PerDdir<T> {
    type Output = T;
    #[inline]
    fn index(&self, ddir: Ddir) -> &T {
        &self.0[ddir.index()]
    }
}

impl<T> IndexMut<Ddir> for PerDdir<T> {
    #[inline]
    fn index_mut(&mut self, ddir: Ddir) -> &mut T {
        &mut self.0[ddir.index()]
    }
}
