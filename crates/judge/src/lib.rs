//! What results mean. Pure: no clock, file or device.
#![forbid(unsafe_code)]

pub mod compare;
