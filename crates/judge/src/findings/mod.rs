//! The rules, one a file. Each is silent unless the document holds its evidence.

pub(crate) mod array;
pub(crate) mod cpu;
pub(crate) mod depth;
pub(crate) mod ebs;
pub(crate) mod excess;
pub(crate) mod link;
pub(crate) mod mix;
pub(crate) mod no_disk;
pub(crate) mod partial;
pub(crate) mod short;
pub(crate) mod stall;
pub(crate) mod stripe;
pub(crate) mod tail;
pub(crate) mod throttled;
pub(crate) mod unread;
pub(crate) mod unwritten;
pub(crate) mod zeroes;
