//! How a request reaches a device: one file per engine, one line each in [`registry`].
//!
//! The hot loops are generic over [`Engine`], so nothing here is called through a pointer.
#![forbid(unsafe_code)]

pub mod api;
pub mod cmdprio;
pub mod cpuio;
pub mod direct;
pub mod directories;
pub mod exec;
pub mod falloc;
pub mod fault;
pub mod files;
pub mod ftruncate;
pub mod http;
pub mod inline;
pub mod io_uring;
pub mod io_uring_cmd;
pub mod libaio;
pub mod mmap;
pub mod names;
pub mod net;
pub mod nop;
pub mod null;
pub mod offload;
pub mod page_fault;
pub mod posixaio;
pub mod psync;
pub mod pvsync;
pub mod pvsync2;
pub mod registry;
pub mod splice;
pub mod sync;
pub mod vsync;

pub use api::{
    Aside, ByName, Caps, Engine, EngineError, Io, Job, NoOptions, Queued, Setup, Target,
};
pub use registry::{EngineKind, UnknownEngine, Visitor};
