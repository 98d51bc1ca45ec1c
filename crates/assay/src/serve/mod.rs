//! `assay serve`: the history, comparisons and what runs now, as pages for a browser.
//!
//! It is read only: there is no request that changes anything. What may be read is guarded by
//! [`gate`]: the server listens on the loopback interface unless told otherwise, every address
//! begins with a secret that only the printed link holds, and names that are not the machine's own
//! are refused, so that no page from elsewhere reaches it through the reader's browser.

mod gate;
mod pages;
mod watch;

use crate::history::Place;
use crate::live::channel::Ear;
use anyhow::{Context, bail};
use gate::{Gate, Refusal};
use pages::Answer;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::Write;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use tiny_http::{Header, Method, Request, Response, Server};
use watch::Hub;

/// Requests that are answered at a time; one that takes long stops no other.
const WORKERS: usize = 4;
/// Readers of the live page at a time.
const MOST_READERS: usize = 32;

/// Words after `serve`.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// Address to listen on; port 0 takes one that is free
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Listen beyond this machine, where --listen says so: whoever gets hold of the link can read
    /// everything, and so can whoever reads the traffic, which is not encrypted
    #[arg(long)]
    open_to_network: bool,
    #[command(flatten)]
    place: Place,
}

/// What all requests share.
struct Site {
    gate: Gate,
    place: Place,
    hub: Hub,
    /// Value of the header that tells what pages may do.
    policy: String,
    readers: AtomicUsize,
}

/// Serves until a signal ends it.
pub fn main(arguments: &Arguments) -> ExitCode {
    match serve(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("assay: serve: {error:#}");
            ExitCode::from(1)
        }
    }
}

fn serve(arguments: &Arguments) -> anyhow::Result<()> {
    let listen = arguments.listen;
    if !listen.ip().is_loopback() && !arguments.open_to_network {
        bail!(
            "--listen={listen}: others could reach it, as it is no loopback address; \
             --open-to-network says that this is meant"
        );
    }
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context("signals")?;
    let server = Server::http(listen)
        .map_err(|error| anyhow::anyhow!("{error}"))
        .with_context(|| format!("--listen={listen}"))?;
    let bound = server.server_addr().to_ip().unwrap_or(listen);
    let gate = Gate::new(bound).context("a secret for the link")?;
    let link = gate.link();
    let site = Arc::new(Site {
        gate,
        place: arguments.place.clone(),
        hub: Hub::default(),
        policy: render::site::policy(),
        readers: AtomicUsize::new(0),
    });
    // Without a socket nothing is seen of what runs; everything else works.
    let ear = match Ear::open() {
        Ok(ear) => Some(Arc::new(ear)),
        Err(error) => {
            eprintln!("assay: serve: the live page stays empty: {error}");
            None
        }
    };
    if let Some(ear) = ear.clone() {
        let site = Arc::clone(&site);
        thread::spawn(move || site.hub.listen(&ear));
    }
    let server = Arc::new(server);
    for _ in 0..WORKERS {
        let (server, site) = (Arc::clone(&server), Arc::clone(&site));
        thread::spawn(move || {
            while let Ok(request) = server.recv() {
                // A reader that is gone needs no answer.
                let _ = answer(request, &site);
            }
        });
    }
    let beyond = match listen.ip().is_loopback() {
        true => "",
        false => "Open to the network, and not encrypted. ",
    };
    let told =
        format!("{link}\n{beyond}Whoever has this link can read the runs; Ctrl-C ends it.\n");
    // Nobody may be reading; the page is there all the same.
    let _ = crate::out::put(&told);
    signals.forever().next();
    if let Some(ear) = ear {
        let _ = std::fs::remove_file(ear.path());
    }
    Ok(())
}

fn answer(request: Request, site: &Arc<Site>) -> std::io::Result<()> {
    let header = |name: &'static str| {
        let mut all = request.headers().iter();
        let found = all.find(|header| header.field.equiv(name));
        found.map(|header| header.value.as_str().to_owned())
    };
    let (host, origin) = (header("Host"), header("Origin"));
    let admitted = site
        .gate
        .admit(request.url(), host.as_deref(), origin.as_deref());
    let inner = match admitted.map(str::to_owned) {
        Ok(inner) => inner,
        Err(Refusal::Unfinished(whole)) => {
            let moved = plain(303, "it goes on below\n");
            return respond(request, site, moved, Some(("Location", &whole)));
        }
        Err(Refusal::Foreign(why)) => return respond(request, site, plain(403, why), None),
    };
    if !matches!(request.method(), Method::Get | Method::Head) {
        let words = plain(405, "everything here is only read\n");
        return respond(request, site, words, Some(("Allow", "GET, HEAD")));
    }
    let (page, query) = inner.split_once('?').unwrap_or((&inner, ""));
    if page == "events" && *request.method() == Method::Get {
        return follow(request, site);
    }
    let made = catch_unwind(AssertUnwindSafe(|| pages::answer(site, page, query)));
    let made =
        made.unwrap_or_else(|_| plain(500, "this page cannot be shown: a defect of Assay\n"));
    respond(request, site, made, None)
}

/// A few words that are no page.
fn plain(status: u16, words: &str) -> Answer {
    Answer {
        status,
        kind: "text/plain; charset=utf-8",
        body: words.to_owned(),
    }
}

/// Headers that every answer has.
fn guards(site: &Site) -> [(&'static str, &str); 6] {
    [
        ("Content-Security-Policy", &site.policy),
        ("X-Content-Type-Options", "nosniff"),
        ("Cache-Control", "no-store"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
    ]
}

fn respond(
    request: Request,
    site: &Site,
    answer: Answer,
    more: Option<(&str, &str)>,
) -> std::io::Result<()> {
    let mut response = Response::from_data(answer.body).with_status_code(answer.status);
    let kind = ("Content-Type", answer.kind);
    for (name, value) in guards(site).into_iter().chain([kind]).chain(more) {
        if let Ok(header) = Header::from_bytes(name, value) {
            response.add_header(header);
        }
    }
    request.respond(response)
}

/// The stream of the live page, in a thread of its own.
fn follow(request: Request, site: &Arc<Site>) -> std::io::Result<()> {
    if site.readers.fetch_add(1, Ordering::Relaxed) >= MOST_READERS {
        site.readers.fetch_sub(1, Ordering::Relaxed);
        return respond(request, site, plain(503, "too many readers\n"), None);
    }
    let site = Arc::clone(site);
    thread::spawn(move || {
        // It ends when the reader goes.
        let _ = stream(request, &site);
        site.readers.fetch_sub(1, Ordering::Relaxed);
    });
    Ok(())
}

fn stream(request: Request, site: &Site) -> std::io::Result<()> {
    let mut out = request.into_writer();
    let mut head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n".to_owned();
    for (name, value) in guards(site) {
        head += &format!("{name}: {value}\r\n");
    }
    write!(out, "{head}\r\nretry: 1000\n\n")?;
    out.flush()?;
    let mut seen = None;
    loop {
        match site.hub.next(seen) {
            Some((version, html)) => {
                seen = Some(version);
                // JSON has no line ends of its own, which would end the event.
                let data = serde_json::json!({ "html": *html });
                write!(out, "data: {data}\n\n")?;
            }
            // So that a reader who is gone is noticed.
            None => write!(out, ": nothing new\n\n")?,
        }
        out.flush()?;
    }
}
