//! Moving data through a pipe with `splice` and `vmsplice`.
//!
//! Invariant of the unsafe blocks: each iovec describes a slice that is borrowed for the whole
//! call, exclusively where the kernel writes. Pages given to the pipe for reading are counted by
//! the kernel, which may read them until the data has left the pipe; it never writes to them.

use crate::outcome;
use rustix::pipe::{IoSliceRaw, PipeFlags, SpliceFlags};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// A pipe of one thread: what goes in is taken out before the next call.
#[derive(Debug)]
pub struct Pipe {
    read: OwnedFd,
    write: OwnedFd,
}

/// Most bytes put into the pipe at once; a pipe holds 16 pages unless told otherwise.
const CHUNK: usize = 65_536;

impl Pipe {
    /// An empty pipe.
    pub fn new() -> io::Result<Pipe> {
        let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        Ok(Pipe { read, write })
    }

    /// From a file or socket through the pipe into `buffer`: bytes, fewer at the end of the file,
    /// or `-errno`. Without `offset` the descriptor's own position counts, and what one call of
    /// `splice` gives is all that is waited for.
    pub fn receive(&self, from: impl AsFd, offset: Option<u64>, buffer: &mut [u8]) -> i32 {
        let mut done = 0;
        while done < buffer.len() {
            let wanted = (buffer.len() - done).min(CHUNK);
            let mut at = offset.map(|offset| offset + done as u64);
            let flags = SpliceFlags::empty();
            let moved = rustix::pipe::splice(&from, at.as_mut(), &self.write, None, wanted, flags);
            match moved {
                Ok(0) => break,
                Ok(bytes) => {
                    let taken = self.take(&mut buffer[done..done + bytes]);
                    if taken < 0 {
                        return taken;
                    }
                    done += bytes;
                }
                Err(errno) if done == 0 => return -errno.raw_os_error(),
                Err(_) => break,
            }
            if offset.is_none() {
                break;
            }
        }
        done as i32
    }

    /// From `buffer` through the pipe to a file or socket: bytes or `-errno`. After an error the
    /// pipe may hold data and must not be used again.
    pub fn send(&self, to: impl AsFd, offset: Option<u64>, buffer: &[u8]) -> i32 {
        let mut done = 0;
        while done < buffer.len() {
            let end = buffer.len().min(done + CHUNK);
            let given = match self.give(&buffer[done..end]) {
                Ok(bytes) => bytes,
                Err(error) => return -error.raw_os_error().unwrap_or(libc::EIO),
            };
            let mut left = given;
            while left > 0 {
                let mut at = offset.map(|offset| offset + (done + given - left) as u64);
                let flags = SpliceFlags::empty();
                let moved = rustix::pipe::splice(&self.read, None, &to, at.as_mut(), left, flags);
                match outcome(moved) {
                    0 => return -libc::EIO,
                    errno @ ..0 => return errno,
                    bytes => left -= bytes as usize,
                }
            }
            done += given;
        }
        done as i32
    }

    /// Fills all of `buffer` with what is in the pipe; 0 or `-errno`.
    fn take(&self, buffer: &mut [u8]) -> i32 {
        let mut done = 0;
        while done < buffer.len() {
            let part = [IoSliceRaw::from_slice_mut(&mut buffer[done..])];
            // SAFETY: `part` describes a slice that is borrowed exclusively during the call.
            let moved = unsafe { rustix::pipe::vmsplice(&self.read, &part, SpliceFlags::MOVE) };
            match outcome(moved) {
                0 => return -libc::EIO,
                errno @ ..0 => return errno,
                bytes => done += bytes as usize,
            }
        }
        0
    }

    /// Puts as much of `buffer` into the empty pipe as fits.
    fn give(&self, buffer: &[u8]) -> io::Result<usize> {
        let part = [IoSliceRaw::from_slice(buffer)];
        // SAFETY: `part` describes a borrowed slice; the kernel only reads it.
        let moved = unsafe { rustix::pipe::vmsplice(&self.write, &part, SpliceFlags::NONBLOCK) };
        Ok(moved?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::{File, Open};

    #[test]
    fn data_pass_through_in_both_directions() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, vec![0; 300_000]).unwrap();
        let how = Open {
            read: true,
            write: true,
            ..Open::default()
        };
        let file = File::open(&path, how).unwrap();
        let pipe = Pipe::new().unwrap();
        // Neither aligned nor a multiple of pages.
        let data: Vec<u8> = (0..200_001u32).map(|at| (at % 251) as u8).collect();
        assert_eq!(pipe.send(&file, Some(777), &data[1..]), 200_000);
        let mut back = vec![0; 200_000];
        assert_eq!(pipe.receive(&file, Some(777), &mut back), 200_000);
        assert_eq!(back, data[1..]);
        assert_eq!(pipe.receive(&file, Some(299_000), &mut back), 1000);
        assert_eq!(pipe.receive(&file, Some(300_000), &mut back), 0);

        let how = Open {
            read: true,
            ..Open::default()
        };
        let closed = File::open(&path, how).unwrap();
        assert_eq!(pipe.send(&closed, Some(0), &data), -libc::EBADF);
    }
}
