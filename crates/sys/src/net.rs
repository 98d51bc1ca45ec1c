//! Sockets: connected streams and datagrams, with deadlines on every call that may wait.
//!
//! Results of transfers are bytes moved, or `-errno`; `-EAGAIN` says that the deadline has passed.
//! Invariant of the one unsafe block: the option is a `c_int` that lives through the call.

use crate::outcome;
use rustix::net::sockopt::{self, Timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where a socket is bound or connected to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// IPv4 or IPv6.
    Internet(SocketAddr),
    /// A name in the file system.
    Unix(PathBuf),
}

/// A socket. Closed on drop.
#[derive(Debug)]
pub struct Socket {
    fd: OwnedFd,
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn unix(path: &Path) -> io::Result<SocketAddrUnix> {
    Ok(SocketAddrUnix::new(path)?)
}

impl Socket {
    /// A socket for addresses like this one: of a stream, or of datagrams.
    pub fn new(address: &Address, stream: bool) -> io::Result<Socket> {
        let family = match address {
            Address::Internet(SocketAddr::V4(_)) => AddressFamily::INET,
            Address::Internet(SocketAddr::V6(_)) => AddressFamily::INET6,
            Address::Unix(_) => AddressFamily::UNIX,
        };
        let kind = if stream {
            SocketType::STREAM
        } else {
            SocketType::DGRAM
        };
        let fd = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
        Ok(Socket { fd })
    }

    /// Gives the socket its address; others that allow it too may share a port.
    pub fn bind(&self, address: &Address) -> io::Result<()> {
        match address {
            Address::Internet(address) => {
                sockopt::set_socket_reuseaddr(&self.fd, true)?;
                sockopt::set_socket_reuseport(&self.fd, true)?;
                rustix::net::bind(&self.fd, address)?;
            }
            Address::Unix(path) => rustix::net::bind(&self.fd, &unix(path)?)?,
        }
        Ok(())
    }

    /// The address it is bound to; `None` for one that is no internet address.
    pub fn address(&self) -> io::Result<Option<SocketAddr>> {
        Ok(rustix::net::getsockname(&self.fd)?.try_into().ok())
    }

    /// Lets others connect.
    pub fn listen(&self) -> io::Result<()> {
        Ok(rustix::net::listen(&self.fd, 10)?)
    }

    /// Takes the next connection. `EAGAIN` when there is none in time.
    pub fn accept(&self) -> io::Result<Socket> {
        let fd = rustix::net::accept_with(&self.fd, SocketFlags::CLOEXEC)?;
        Ok(Socket { fd })
    }

    /// Connects. `EINPROGRESS` when that takes longer than the deadline: call it again.
    pub fn connect(&self, to: &Address) -> io::Result<()> {
        match to {
            Address::Internet(address) => rustix::net::connect(&self.fd, address)?,
            Address::Unix(path) => rustix::net::connect(&self.fd, &unix(path)?)?,
        }
        Ok(())
    }

    /// How long each call may wait.
    pub fn set_deadline(&self, deadline: Duration) -> io::Result<()> {
        for what in [Timeout::Recv, Timeout::Send] {
            sockopt::set_socket_timeout(&self.fd, what, Some(deadline))?;
        }
        Ok(())
    }

    /// `SO_RCVBUF` and `SO_SNDBUF` in bytes.
    pub fn set_buffers(&self, receive: Option<usize>, send: Option<usize>) -> io::Result<()> {
        if let Some(bytes) = receive {
            sockopt::set_socket_recv_buffer_size(&self.fd, bytes)?;
        }
        if let Some(bytes) = send {
            sockopt::set_socket_send_buffer_size(&self.fd, bytes)?;
        }
        Ok(())
    }

    /// `TCP_NODELAY`: small segments are sent at once.
    pub fn set_nodelay(&self) -> io::Result<()> {
        Ok(sockopt::set_tcp_nodelay(&self.fd, true)?)
    }

    /// `TCP_MAXSEG`: largest segment, bytes.
    pub fn set_max_segment(&self, bytes: u32) -> io::Result<()> {
        let value = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
        // SAFETY: the kernel reads one c_int.
        let rc = unsafe {
            libc::setsockopt(
                self.fd.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_MAXSEG,
                (&raw const value).cast(),
                size_of::<libc::c_int>() as libc::socklen_t,
            )
        };
        if rc < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    }

    /// Receives what is sent to a multicast group, through one interface or any.
    pub fn join(&self, group: Ipv4Addr, interface: Option<Ipv4Addr>) -> io::Result<()> {
        let interface = interface.unwrap_or(Ipv4Addr::UNSPECIFIED);
        Ok(sockopt::set_ip_add_membership(
            &self.fd, &group, &interface,
        )?)
    }

    /// How far, and through which interface, datagrams to a multicast group go.
    pub fn set_multicast(&self, ttl: u32, interface: Option<Ipv4Addr>) -> io::Result<()> {
        if let Some(interface) = interface {
            sockopt::set_ip_multicast_if(&self.fd, &interface)?;
        }
        Ok(sockopt::set_ip_multicast_ttl(&self.fd, ttl)?)
    }

    /// Sends to whom the socket is connected. `more`: more follows, so segments may be filled.
    #[inline]
    pub fn send(&self, bytes: &[u8], more: bool) -> i32 {
        let mut flags = SendFlags::NOSIGNAL;
        flags.set(SendFlags::MORE, more);
        outcome(rustix::net::send(&self.fd, bytes, flags))
    }

    /// Receives from whom the socket is connected to; 0 when that one has closed.
    #[inline]
    pub fn receive(&self, buffer: &mut [u8]) -> i32 {
        let received = rustix::net::recv(&self.fd, buffer, RecvFlags::empty());
        outcome(received.map(|(bytes, _)| bytes))
    }

    /// Sends one datagram.
    #[inline]
    pub fn send_to(&self, bytes: &[u8], to: &SocketAddr) -> i32 {
        outcome(rustix::net::sendto(
            &self.fd,
            bytes,
            SendFlags::NOSIGNAL,
            to,
        ))
    }

    /// Receives one datagram, and says from whom.
    #[inline]
    pub fn receive_from(&self, buffer: &mut [u8]) -> (i32, Option<SocketAddr>) {
        match rustix::net::recvfrom(&self.fd, buffer, RecvFlags::empty()) {
            Ok((bytes, _, from)) => (bytes as i32, from.and_then(|from| from.try_into().ok())),
            Err(errno) => (-errno.raw_os_error(), None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(20);

    fn here(port: u16) -> Address {
        Address::Internet(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
    }

    fn pair(address: &Address) -> (Socket, Socket) {
        let listener = Socket::new(address, true).unwrap();
        listener.bind(address).unwrap();
        listener.listen().unwrap();
        listener.set_deadline(SOON).unwrap();
        let early = listener.accept().unwrap_err();
        assert_eq!(early.raw_os_error(), Some(libc::EAGAIN));
        let address = match listener.address().unwrap() {
            Some(bound) => Address::Internet(bound),
            None => address.clone(),
        };
        let caller = Socket::new(&address, true).unwrap();
        caller.connect(&address).unwrap();
        (caller, listener.accept().unwrap())
    }

    #[test]
    fn streams_carry_bytes_and_end() {
        let dir = tempfile::tempdir().unwrap();
        for address in [here(0), Address::Unix(dir.path().join("s"))] {
            let (caller, called) = pair(&address);
            called.set_deadline(SOON).unwrap();
            let mut buffer = [0; 8];
            assert_eq!(called.receive(&mut buffer), -libc::EAGAIN);
            assert_eq!(caller.send(b"hello", false), 5);
            assert_eq!(called.receive(&mut buffer), 5);
            assert_eq!(&buffer[..5], b"hello");
            drop(caller);
            assert_eq!(called.receive(&mut buffer), 0);
        }
    }

    #[test]
    fn datagrams_say_from_whom_they_are() {
        let receiver = Socket::new(&here(0), false).unwrap();
        receiver.bind(&here(0)).unwrap();
        receiver.set_deadline(SOON).unwrap();
        let to = receiver.address().unwrap().unwrap();
        let sender = Socket::new(&here(0), false).unwrap();
        assert_eq!(sender.send_to(b"one", &to), 3);
        let mut buffer = [0; 8];
        let (bytes, from) = receiver.receive_from(&mut buffer);
        assert_eq!((bytes, &buffer[..3]), (3, b"one".as_slice()));
        assert_eq!(
            from,
            sender.address().unwrap().map(|mut from| {
                from.set_ip(Ipv4Addr::LOCALHOST.into());
                from
            })
        );
        assert_eq!(receiver.receive_from(&mut buffer).0, -libc::EAGAIN);
    }

    #[test]
    fn options_are_set() {
        let socket = Socket::new(&here(0), true).unwrap();
        socket.set_buffers(Some(65_536), Some(65_536)).unwrap();
        socket.set_nodelay().unwrap();
        socket.set_max_segment(1000).unwrap();
        let group = Socket::new(&here(0), false).unwrap();
        group.set_multicast(3, Some(Ipv4Addr::LOCALHOST)).unwrap();
    }
}
