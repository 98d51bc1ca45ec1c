//! Where an end of a connection is, and its socket before the start.

use super::{DEADLINE, Options, Protocol};
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use sys::net::{Address, Socket};

/// Where to listen or whom to call.
pub(super) fn address(
    options: &Options,
    listens: bool,
    clone: u32,
    file: &Path,
) -> Result<Address, String> {
    let name = match options.hostname.as_str() {
        "" => file.to_string_lossy(),
        name => name.into(),
    };
    if options.protocol == Protocol::Unix {
        if options.port != 0 {
            return Err("port= has no meaning with protocol=unix".into());
        }
        return Ok(Address::Unix(PathBuf::from(name.as_ref())));
    }
    let port = u16::try_from(options.port + clone).unwrap_or(0);
    if options.port == 0 || port == 0 {
        return Err("port= must be from 1 to 65535, also for the last clone".into());
    }
    let six = matches!(options.protocol, Protocol::Tcpv6 | Protocol::Udpv6);
    if listens {
        let any = if six { "::" } else { "0.0.0.0" };
        let host = match (options.group(), options.hostname.as_str()) {
            (Some(group), _) if options.protocol == Protocol::Udp => group.to_string(),
            (_, "") => any.to_owned(),
            _ => return Err("hostname= of the listening end can only be an IPv4 group".into()),
        };
        let ip = host.parse().map_err(|_| format!("hostname={host}"))?;
        return Ok(Address::Internet(SocketAddr::new(ip, port)));
    }
    let found = (name.as_ref(), port).to_socket_addrs();
    let found = found
        .ok()
        .and_then(|mut all| all.find(|at| at.is_ipv6() == six));
    found.map(Address::Internet).ok_or_else(|| {
        let word = options.protocol.word();
        format!("hostname={name}: no such host for protocol={word}; did you mean listen?")
    })
}

/// Frees the name of a socket that nobody uses any more.
pub(super) fn clear(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.file_type().is_socket() => std::fs::remove_file(path),
        // Anything else is not ours to remove; `bind` will tell.
        _ => Ok(()),
    }
}

/// The socket as far as it can be made before the start.
pub(super) fn make(options: &Options, address: &Address, listens: bool) -> io::Result<Socket> {
    let socket = Socket::new(address, options.is_stream())?;
    let window = |wanted: bool| {
        let bytes = options.window_size as usize;
        (bytes > 0 && (wanted || options.pingpong)).then_some(bytes)
    };
    socket.set_buffers(window(listens), window(!listens))?;
    if options.mss > 0 && options.is_tcp() {
        socket.set_max_segment(options.mss)?;
    }
    if options.nodelay && options.is_tcp() && !listens {
        socket.set_nodelay()?;
    }
    let interface = options.interface().unwrap_or(None);
    let group = options.group().filter(|_| options.is_udp());
    if listens {
        if let Address::Unix(path) = address {
            clear(path)?;
        }
        socket.bind(address)?;
        if let Some(group) = group {
            socket.join(group, interface)?;
        }
        if options.is_stream() {
            socket.listen()?;
        }
    } else if group.is_some() {
        socket.set_multicast(options.ttl, interface)?;
    }
    socket.set_deadline(DEADLINE)?;
    Ok(socket)
}
