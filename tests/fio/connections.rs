//! Connections: both programs at either end, on the loopback interface.

use crate::harness::command::have_peer;
use crate::harness::{Scratch, Tool, fio};
use serde_json::Value;
use std::net::{TcpListener, UdpSocket};
use std::path::Path;
use std::time::Duration;

/// A port that was free a moment ago, for streams or datagrams.
fn port(stream: bool) -> u16 {
    let address = if stream {
        let socket = TcpListener::bind("127.0.0.1:0").expect("loopback");
        socket.local_addr()
    } else {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        socket.local_addr()
    };
    address.expect("an address").port()
}

/// Waits until somebody has taken the port, or the name.
fn until_taken(protocol: &str, port: u16, name: &Path) {
    let taken = || {
        if protocol == "unix" {
            return name.exists();
        }
        let table = std::fs::read_to_string(format!("/proc/net/{protocol}")).expect("procfs");
        let wanted = format!(":{port:04X} ");
        let mut rows = table.lines().skip(1);
        rows.any(|row| {
            row.split_once(": ")
                .is_some_and(|(_, row)| row[..30].contains(&wanted))
        })
    };
    while !taken() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What one direction says: I/Os, bytes, what was lost.
fn counts(job: &Value, ddir: &str) -> [u64; 3] {
    ["total_ios", "io_bytes", "drop_ios"].map(|key| job[ddir][key].as_u64().expect(key))
}

/// Runs a receiver and a sender; their jobs, as they report them.
fn converse(dir: &Path, tools: [Tool; 2], protocol: &str, more: &str) -> [Value; 2] {
    let port = port(protocol != "udp");
    let (receiving, sending) = match protocol {
        "unix" => ("--filename=s".into(), "--filename=s".into()),
        _ => {
            let listen = if protocol == "tcp" { "--listen" } else { "" };
            (
                format!("--port={port} {listen}"),
                format!("--port={port} --hostname=127.0.0.1"),
            )
        }
    };
    let common = format!(
        "--output-format=json --ioengine=net --protocol={protocol} --bs=16k --size=1m {more}"
    );
    let receiver = fio(&format!("{common} --name=r --rw=read {receiving}"));
    let receiver = receiver.in_dir(dir).with(tools[0]).spawn();
    until_taken(protocol, port, &dir.join("s"));
    let sender = fio(&format!("{common} --name=w --rw=write {sending}"));
    let sender = sender.in_dir(dir).with(tools[1]).ok();
    let mut received = receiver.wait().expect_ok();
    // fio says what it waits for before the document.
    let at = received.stdout.find("{\n").expect("a document");
    received.stdout.drain(..at);
    [received.job(), sender.job()]
}

#[test]
fn both_programs_understand_each_other() {
    use Tool::{Assay, Peer};
    if !have_peer("connections") {
        return;
    }
    for (protocol, more) in [
        ("tcp", ""),
        ("tcp", "--pingpong --nodelay=1"),
        ("tcp", "--ioengine=netsplice"),
        ("udp", "--rate=20m"),
    ] {
        for tools in [[Assay, Assay], [Assay, Peer], [Peer, Assay]] {
            let scratch = Scratch::new("connections");
            let [received, sent] = converse(scratch.path(), tools, protocol, more);
            let what = format!("{protocol} {more} {tools:?}: {received} {sent}");
            assert_eq!(counts(&sent, "write"), [64, 1 << 20, 0], "{what}");
            let [ios, bytes, lost] = counts(&received, "read");
            let known = bytes + lost * 16_384;
            assert!(ios > 0 && known > 0 && known <= 1 << 20, "{what}");
            // Datagrams may be lost, and the last ones without a trace; fio forgets parts of
            // blocks.
            let exact = protocol == "tcp" && tools[0] == Assay;
            assert!(!exact || known == 1 << 20, "{what}");
        }
    }
}

#[test]
fn ends_in_one_process_find_each_other() {
    let scratch = Scratch::new("connections");
    let dir = scratch.path();
    let port = port(true);
    let jobs = format!(
        "--output-format=json --ioengine=net --size=256k --bs=4k --name=r --rw=read --listen \
         --port={port} --name=w --rw=write --hostname=localhost --port={port} --window_size=65536 \
         --mss=1000"
    );
    let document = fio(&jobs).in_dir(dir).ok().json();
    assert_eq!(counts(&document["jobs"][0], "read")[1..], [262_144, 0]);
    assert_eq!(counts(&document["jobs"][1], "write"), [64, 262_144, 0]);

    let words = "--output-format=json --ioengine=net --proto=unix --filename=s --size=256k \
                 --name=r --rw=read --name=w --rw=write";
    let document = fio(words).in_dir(dir).ok().json();
    assert_eq!(counts(&document["jobs"][0], "read"), [64, 262_144, 0]);
    assert_eq!(std::fs::read_dir(dir).expect("scratch").count(), 0);
}

#[test]
fn rates_are_shown_in_bits() {
    let scratch = Scratch::new("connections");
    let words = "--ioengine=net --proto=unix --filename=s --size=256k --name=r --rw=read --name=w \
                 --rw=write";
    let text = fio(words).in_dir(scratch.path()).ok().stdout;
    let rates: Vec<&str> = text.lines().filter(|line| line.contains("BW=")).collect();
    assert_eq!(rates.len(), 2, "{text}");
    assert!(rates.iter().all(|line| line.contains("bit/s (")), "{text}");
}

/// A sender that says nothing for itself ends its receiver's job all the same.
#[test]
fn a_receiver_ends_with_its_sender_or_its_time() {
    let scratch = Scratch::new("connections");
    let dir = scratch.path();
    let words = "--output-format=json --ioengine=net --proto=unix --filename=s --name=r --rw=read \
                 --size=1m --name=w --rw=write --size=64k";
    let document = fio(words).in_dir(dir).ok().json();
    assert_eq!(counts(&document["jobs"][0], "read"), [16, 65_536, 0]);
    let port = port(true);
    let words = format!("--name=r --ioengine=net --listen --port={port} --size=1m --runtime=100ms");
    fio(&words).in_dir(dir).ok();
}

#[test]
fn impossible_connections_are_refused() {
    let scratch = Scratch::new("connections");
    std::fs::write(scratch.path().join("kept"), "x").expect("scratch");
    for (words, reason) in [
        ("--port=9 --listen --rw=randread", "no offsets"),
        ("--port=9 --hostname=localhost --rw=rw", "not both"),
        ("--rw=write --hostname=localhost", "port="),
        ("--port=9 --rw=write", "did you mean listen?"),
        ("--port=9 --proto=udp --listen", "listen is for TCP"),
        ("--proto=unix --filename=s --port=9", "port="),
        ("--proto=unix --filename=kept", "Address already in use"),
        ("--port=9 --listen --interface=eth0", "interface=eth0"),
        ("--port=9 --listen --rw=trim", "cannot trim"),
    ] {
        let words = format!("--name=s --ioengine=net --size=64k {words}");
        fio(&words)
            .in_dir(scratch.path())
            .fails()
            .explains(&[reason]);
    }
    let kept = std::fs::read(scratch.path().join("kept")).expect("it is no socket");
    assert_eq!(kept, b"x");
    let port = port(true);
    let words = format!("--name=s --ioengine=net --size=4k --rw=write --port={port}");
    let lonely = fio(&words).arg("--hostname=127.0.0.1").fails();
    lonely.explains(&[&format!("127.0.0.1:{port}"), "Connection refused"]);
}
