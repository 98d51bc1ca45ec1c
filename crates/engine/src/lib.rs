//! How a request reaches a device: one file per engine, one line each in [`registry`].
//!
//! The hot loops are generic over [`Engine`], so nothing here is called through a pointer.
#![forbid(unsafe_code)]

pub mod api;
mod inline;
pub mod null;
pub mod psync;
pub mod registry;

pub use api::{Caps, Engine, EngineError, Io, Queued, Setup};
pub use registry::{EngineKind, Visitor};
