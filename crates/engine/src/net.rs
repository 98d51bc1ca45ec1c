//! `net` and `netsplice`: one end of a connection; the other end is another job, here or elsewhere.
//!
//! As in fio, whose programs understand these: a UDP sender announces itself with a message, its
//! datagrams carry a sequence number by which losses are counted, and every sender says when it
//! has finished, with a message that ends the receiver's job. Ports and files are taken before
//! the start, connections are made when it has come, and measuring begins when they stand.

mod socket;

use crate::api::{Aside, Caps, Engine, EngineError, Io, Job, Queued, Setup};
use socket::{address, clear, make};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;
use sys::clock::monotonic_ns;
use sys::file::File;
use sys::net::{Address, Socket};
use sys::pages::Pool;
use sys::pipe::Pipe;
use units::Ddir;

const EAGAIN: i32 = 11;
const EPROTO: i32 = 71;
const EISCONN: i32 = 106;
const EALREADY: i32 = 114;
const EINPROGRESS: i32 = 115;

/// How long a call may wait before orders are looked for.
const DEADLINE: Duration = Duration::from_millis(200);

/// fio's messages: the sender is there, the sender has finished.
const OPEN: [u8; 8] = *b"link\0\0\0\x98";
const CLOSE: [u8; 8] = *b"knil\x89\0\0\0";
/// First word of the trailer of a datagram; a sequence number and the datagram's length follow.
const SEQUENCE: u64 = 0x6573_7571_6e55_6563;
const TRAILER: usize = 24;

option::choices! {
    /// How the ends talk
    pub enum Protocol {
        /// TCP over IPv4
        Tcp = "tcp";
        /// TCP over IPv6
        Tcpv6 = "tcpv6";
        /// UDP over IPv4
        Udp = "udp";
        /// UDP over IPv6
        Udpv6 = "udpv6";
        /// A socket with a name in the file system
        Unix = "unix";
        /// Between a virtual machine and its host
        Vsock = "vsock", refused("is not built");
    }
}

option::options! {
    /// net
    pub struct Options {
        /// Whom to connect to, or the multicast group to join; filename= says it too.
        hostname: String;
        /// Port; clones take the following ones.
        port: u32 = "0", range(0, 65535);
        /// How the ends talk.
        protocol: Protocol = "tcp", aliases(&["proto"]);
        /// Send small segments at once (TCP_NODELAY).
        nodelay: bool = "0";
        /// Wait for a connection (TCP); with other protocols the reading end does.
        listen: bool = "0", bare();
        /// Answer each request with as many bytes.
        pingpong: bool = "0", bare();
        /// Address of the interface for multicast.
        interface: String;
        /// How far multicast datagrams go.
        ttl: u32 = "1";
        /// Size of the socket's buffer in bytes; 0: the system's.
        window_size: u32 = "0";
        /// Largest TCP segment in bytes; 0: the system's.
        mss: u32 = "0";
    }
}

impl Options {
    fn is_stream(&self) -> bool {
        !self.is_udp()
    }

    fn is_tcp(&self) -> bool {
        matches!(self.protocol, Protocol::Tcp | Protocol::Tcpv6)
    }

    fn is_udp(&self) -> bool {
        matches!(self.protocol, Protocol::Udp | Protocol::Udpv6)
    }

    fn interface(&self) -> Result<Option<Ipv4Addr>, String> {
        if self.interface.is_empty() {
            return Ok(None);
        }
        let address = self.interface.parse();
        address
            .map(Some)
            .map_err(|_| format!("interface={}: no IPv4 address", self.interface))
    }

    /// The multicast group among the hosts.
    fn group(&self) -> Option<Ipv4Addr> {
        let address: Ipv4Addr = self.hostname.parse().ok()?;
        address.is_multicast().then_some(address)
    }

    /// Whether the end that reads, or writes, waits for the other.
    fn listens(&self, reads: bool) -> bool {
        if self.is_tcp() { self.listen } else { reads }
    }
}

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Bytes or `-errno`.
    Done(i32),
    /// The deadline passed; nothing is lost.
    Wait,
    /// The other end has finished.
    End,
}

/// See the module.
#[derive(Debug)]
pub struct Net<const SPLICE: bool> {
    pool: Pool,
    options: Options,
    listens: bool,
    writes: bool,
    verifies: bool,
    /// Bytes of a pass; segments are filled until its end.
    pass_bytes: u64,
    sent_bytes: u64,
    address: Address,
    /// Where failures are told to have happened.
    label: PathBuf,
    /// Listens, or is the end of datagrams, or is to be connected.
    socket: Socket,
    /// The connection that was accepted.
    accepted: Option<Socket>,
    pipe: Option<Pipe>,
    /// Where datagrams go: the address given, or that of the last sender.
    peer: Option<SocketAddr>,
    open: bool,
    /// When the request began that had to wait.
    since_ns: Option<u64>,
    /// Within a request of ping and pong: the second half, and the bytes moved in this half.
    answering: bool,
    moved: usize,
    next_send: u64,
    next_receive: u64,
    /// The other end's datagrams have another length, so their trailers are somewhere else.
    unnumbered: bool,
    lost: u64,
    aside: Aside,
}

impl<const SPLICE: bool> Net<SPLICE> {
    fn refuse(what: impl Into<String>) -> EngineError {
        EngineError::Unsupported {
            engine: Self::NAME,
            what: what.into(),
        }
    }

    fn link(&self) -> &Socket {
        self.accepted.as_ref().unwrap_or(&self.socket)
    }

    /// One attempt to have the connection.
    fn connect(&mut self) -> Step {
        if !self.listens {
            if self.options.is_udp() {
                let peer = self.peer.expect("a sender of datagrams has an address");
                return Step::Done(self.socket.send_to(&OPEN, &peer).min(0));
            }
            let done = self.socket.connect(&self.address);
            return match done.as_ref().map_err(io::Error::raw_os_error) {
                Ok(()) | Err(Some(EISCONN)) => Step::Done(0),
                Err(Some(EINPROGRESS | EALREADY | EAGAIN)) => Step::Wait,
                Err(errno) => Step::Done(-errno.unwrap_or(EPROTO)),
            };
        }
        if self.options.is_udp() {
            let mut message = [0; 8];
            let (bytes, from) = self.socket.receive_from(&mut message);
            self.peer = from;
            return match bytes {
                errno if errno == -EAGAIN => Step::Wait,
                errno @ ..0 => Step::Done(errno),
                _ if message == OPEN => Step::Done(0),
                // What was sent before anybody listened.
                _ => Step::Wait,
            };
        }
        let accepted = self.socket.accept().and_then(|socket| {
            if self.options.nodelay && self.options.is_tcp() {
                socket.set_nodelay()?;
            }
            socket.set_deadline(DEADLINE)?;
            Ok(socket)
        });
        match accepted {
            Ok(socket) => {
                self.accepted = Some(socket);
                Step::Done(0)
            }
            Err(error) => match error.raw_os_error() {
                Some(EAGAIN) => Step::Wait,
                errno => Step::Done(-errno.unwrap_or(EPROTO)),
            },
        }
    }

    fn send(&mut self, slot: u32, range: std::ops::Range<usize>) -> Step {
        if self.options.is_udp() {
            let buffer = &mut self.pool.slot_mut(slot)[range];
            if !self.verifies && buffer.len() >= TRAILER {
                number(buffer, self.next_send);
            }
            let Some(peer) = self.peer else {
                return Step::Done(-EPROTO);
            };
            let result = self.socket.send_to(buffer, &peer);
            if result == -EAGAIN {
                return Step::Wait;
            }
            self.next_send += 1;
            return Step::Done(result);
        }
        let buffer = &self.pool.slot(slot)[range];
        let left = self.pass_bytes.saturating_sub(self.sent_bytes);
        let more = !self.options.pingpong && left > buffer.len() as u64;
        let link = self.accepted.as_ref().unwrap_or(&self.socket);
        let result = match &self.pipe {
            Some(pipe) => pipe.send(link, None, buffer),
            None => link.send(buffer, more),
        };
        match result {
            errno if errno == -EAGAIN => Step::Wait,
            errno @ ..0 => Step::Done(errno),
            bytes => {
                self.sent_bytes += u64::from(bytes.unsigned_abs());
                if self.sent_bytes >= self.pass_bytes {
                    self.sent_bytes = 0;
                }
                Step::Done(bytes)
            }
        }
    }

    fn receive(&mut self, slot: u32, range: std::ops::Range<usize>) -> Step {
        let buffer = &mut self.pool.slot_mut(slot)[range];
        let link = self.accepted.as_ref().unwrap_or(&self.socket);
        let result = if self.options.is_udp() {
            let (result, from) = self.socket.receive_from(buffer);
            if self.listens {
                self.peer = from.or(self.peer);
            }
            result
        } else if let Some(pipe) = &self.pipe {
            pipe.receive(link, None, buffer)
        } else {
            link.receive(buffer)
        };
        match result {
            errno if errno == -EAGAIN => return Step::Wait,
            errno @ ..0 => return Step::Done(errno),
            0 => return Step::End,
            _ => {}
        }
        let received = &buffer[..result as usize];
        if received == CLOSE {
            return Step::End;
        }
        if self.options.is_udp() && !self.verifies {
            let length = buffer.len() as u64;
            self.count_lost(slot, result as usize, length);
        }
        Step::Done(result)
    }

    /// Looks at the sequence number of a datagram for `length` bytes.
    fn count_lost(&mut self, slot: u32, received: usize, length: u64) {
        if received < TRAILER || self.unnumbered {
            return;
        }
        let datagram = &self.pool.slot(slot)[..received];
        let Some((sequence, bytes)) = read_number(datagram) else {
            return;
        };
        if bytes != length {
            self.unnumbered = true;
            return;
        }
        self.lost += sequence.saturating_sub(self.next_receive);
        self.next_receive = sequence + 1;
    }

    /// All bytes of a slot in one direction, over as many calls as it takes.
    fn whole(&mut self, ddir: Ddir, slot: u32, len: usize) -> Step {
        while self.moved < len {
            let range = self.moved..len;
            let step = match ddir {
                Ddir::Write => self.send(slot, range),
                _ => self.receive(slot, range),
            };
            match step {
                Step::Done(bytes @ 0..) => self.moved += bytes as usize,
                other => return other,
            }
        }
        self.moved = 0;
        Step::Done(len as i32)
    }

    fn exchange(&mut self, io: &Io) -> Step {
        if !self.options.pingpong {
            let range = io.at as usize..io.at as usize + io.len as usize;
            return match io.ddir {
                Ddir::Write => self.send(io.slot, range),
                _ => self.receive(io.slot, range),
            };
        }
        let other = match io.ddir {
            Ddir::Write => Ddir::Read,
            _ => Ddir::Write,
        };
        for (answer, ddir) in [(false, io.ddir), (true, other)] {
            if self.answering != answer {
                continue;
            }
            let step = self.whole(ddir, io.slot, io.len as usize);
            if !matches!(step, Step::Done(0..)) {
                return step;
            }
            self.answering = !answer;
        }
        Step::Done(io.len as i32)
    }
}

/// Writes the trailer of a datagram.
fn number(datagram: &mut [u8], sequence: u64) {
    let length = datagram.len();
    let words = [SEQUENCE, sequence, length as u64];
    for (place, word) in datagram[length - TRAILER..].chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
}

/// Sequence number and length from a datagram's trailer.
fn read_number(datagram: &[u8]) -> Option<(u64, u64)> {
    let (_, trailer) = datagram.split_at_checked(datagram.len().checked_sub(TRAILER)?)?;
    let mut words = trailer.chunks_exact(8).map(|word| {
        let word = word.try_into().expect("eight bytes");
        u64::from_le_bytes(word)
    });
    let (magic, sequence, length) = (words.next()?, words.next()?, words.next()?);
    (magic == SEQUENCE).then_some((sequence, length))
}

impl<const SPLICE: bool> Engine for Net<SPLICE> {
    type Options = Options;
    const NAME: &'static str = if SPLICE { "netsplice" } else { "net" };
    const HELP: &'static str = if SPLICE {
        "As net, with splice"
    } else {
        "Sends and receives over a socket"
    };
    const CAPS: Caps = Caps {
        sync: true,
        diskless: true,
        // fio reports this one in bits and that one in bytes.
        bits: !SPLICE,
        ..Caps::NONE
    };

    fn start(setup: Setup<'_, Options>) -> Result<Self, EngineError> {
        let (options, job) = (setup.options, setup.job);
        let listens = options.listens(!setup.writes);
        if setup.random {
            return Err(Self::refuse(
                "a connection has no offsets; use rw=read or rw=write",
            ));
        }
        if setup.reads && setup.writes {
            return Err(Self::refuse(
                "a job reads or writes, not both (do_verify=0 for one that is verified elsewhere)",
            ));
        }
        if options.listen && !options.is_tcp() {
            return Err(Self::refuse(
                "listen is for TCP; otherwise the end that reads listens",
            ));
        }
        options.interface().map_err(Self::refuse)?;
        let file = job.targets.first().map(|target| target.path.as_path());
        let address = address(options, listens, job.clone, file.unwrap_or(Path::new("")))
            .map_err(Self::refuse)?;
        let label = match &address {
            Address::Internet(address) => address.to_string().into(),
            Address::Unix(path) => path.clone(),
        };
        let kernel = |source| EngineError::Kernel {
            engine: Self::NAME,
            what: format!("preparing {}", label.display()),
            source,
        };
        let socket = make(options, &address, listens).map_err(kernel)?;
        // Only streams pass through a pipe, as in fio, and among them only TCP's.
        let splices = SPLICE && options.is_tcp();
        let pipe = splices.then(Pipe::new).transpose().map_err(kernel)?;
        let peer = match &address {
            Address::Internet(address) if !listens => Some(*address),
            _ => None,
        };
        Ok(Net {
            pool: setup.pool,
            options: options.clone(),
            listens,
            writes: setup.writes,
            verifies: job.verifies,
            pass_bytes: job.targets.iter().map(|target| target.length).sum(),
            sent_bytes: 0,
            address,
            label,
            socket,
            accepted: None,
            pipe,
            peer,
            open: false,
            since_ns: None,
            answering: false,
            moved: 0,
            next_send: 0,
            next_receive: 0,
            unnumbered: false,
            lost: 0,
            aside: Aside::End,
        })
    }

    #[inline]
    fn queue(&mut self, io: Io) -> Queued {
        if !io.ddir.is_data() {
            return Queued::Done(0);
        }
        if !self.open {
            return match self.connect() {
                Step::Done(errno @ ..0) => Queued::Done(errno),
                Step::Done(_) => {
                    self.open = true;
                    self.aside = Aside::Begin;
                    Queued::Aside
                }
                Step::Wait | Step::End => Queued::Full,
            };
        }
        match self.exchange(&io) {
            Step::Wait => {
                let began = || monotonic_ns().saturating_sub(DEADLINE.as_nanos() as u64);
                self.since_ns.get_or_insert_with(began);
                Queued::Full
            }
            Step::End => {
                self.aside = Aside::End;
                Queued::Aside
            }
            Step::Done(result) => match self.since_ns.take() {
                // The loop's own stamp is that of the last attempt.
                Some(since_ns) if result == io.len as i32 => {
                    let ns = monotonic_ns().saturating_sub(since_ns);
                    self.aside = Aside::Timed { result, ns };
                    Queued::Aside
                }
                _ => Queued::Done(result),
            },
        }
    }

    #[inline]
    fn slot(&self, slot: u32) -> &[u8] {
        self.pool.slot(slot)
    }

    #[inline]
    fn slot_mut(&mut self, slot: u32) -> &mut [u8] {
        self.pool.slot_mut(slot)
    }

    fn files(&self) -> &[File] {
        &[]
    }

    fn aside(&mut self) -> Aside {
        self.aside
    }

    fn path(&self, _file: u16) -> Option<&Path> {
        Some(&self.label)
    }

    fn dropped(&self) -> u64 {
        self.lost
    }

    fn opening(options: &Options, _job: &Job<'_>) -> Vec<String> {
        if options.is_tcp() && options.listen {
            vec!["fio: waiting for connection".to_owned()]
        } else {
            Vec::new()
        }
    }
}

impl<const SPLICE: bool> Drop for Net<SPLICE> {
    fn drop(&mut self) {
        if self.open && self.writes {
            // The other end may have gone first; there is nobody to tell then.
            let _ = match &self.peer {
                Some(peer) if self.options.is_udp() => self.socket.send_to(&CLOSE, peer),
                _ => self.link().send(&CLOSE, false),
            };
        }
        if let (Address::Unix(path), true) = (&self.address, self.listens) {
            let _ = clear(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailers_number_datagrams_as_fio_does() {
        let mut datagram = [7; 32];
        number(&mut datagram, 0x0102);
        assert_eq!(datagram[..8], [7; 8]);
        assert_eq!(&datagram[8..16], b"ceUnquse");
        assert_eq!(datagram[16..24], [2, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(read_number(&datagram), Some((0x0102, 32)));
        datagram[8] = 0;
        assert_eq!(read_number(&datagram), None);
        assert_eq!(read_number(&[0; 23]), None);
    }

    #[test]
    fn addresses_follow_protocol_and_end() {
        let options = |protocol, hostname: &str, port| Options {
            protocol,
            hostname: hostname.into(),
            port,
            ..Options::default()
        };
        let file = Path::new("j.0.0");
        let text = |options: &Options, listens, clone| match address(options, listens, clone, file)
        {
            Ok(Address::Internet(address)) => address.to_string(),
            Ok(Address::Unix(path)) => path.display().to_string(),
            Err(error) => error,
        };
        let tcp = options(Protocol::Tcp, "127.0.0.1", 5000);
        assert_eq!(text(&tcp, false, 2), "127.0.0.1:5002");
        assert!(text(&tcp, true, 0).contains("IPv4 group"));
        let open = options(Protocol::Tcpv6, "", 5000);
        assert_eq!(text(&open, true, 0), "[::]:5000");
        assert!(text(&open, false, 0).contains("did you mean listen?"));
        let group = options(Protocol::Udp, "239.1.2.3", 9);
        assert_eq!(text(&group, true, 0), "239.1.2.3:9");
        assert_eq!(text(&options(Protocol::Unix, "", 0), true, 0), "j.0.0");
        assert!(text(&options(Protocol::Unix, "s", 1), true, 0).contains("port="));
        assert!(text(&options(Protocol::Udp, "::1", 0), false, 0).contains("port="));
        assert!(text(&options(Protocol::Udp, "", 65_535), true, 1).contains("last clone"));
    }
}
