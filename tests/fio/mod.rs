//! The fio personality: its command line, job files, streams, signals, and its refusals.

mod bad_input;
mod command_line;
mod connections;
mod devices;
mod engines;
mod http;
mod information;
mod job_files;
mod logs;
mod output;
mod scripts;
mod signals;
mod verify;
