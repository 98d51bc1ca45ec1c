//! Who may read.

use std::fs::File;
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr};

/// Bytes of the secret: 128 bits.
const SECRET_BYTES: usize = 16;

/// Why a request is not answered.
#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It comes from elsewhere, or knows no secret.
    Foreign(&'static str),
    /// The link without its last stroke; with it, it goes on.
    Unfinished(String),
}

/// The secret and the names of this server.
#[derive(Debug)]
pub struct Gate {
    secret: String,
    bound: SocketAddr,
    hostname: String,
}

impl Gate {
    /// A new secret for a server that listens there.
    ///
    /// # Errors
    /// The kernel gives no random numbers.
    pub fn new(bound: SocketAddr) -> io::Result<Gate> {
        let mut bytes = [0; SECRET_BYTES];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        let hostname = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        Ok(Gate {
            secret: bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            bound,
            hostname: hostname.trim().to_owned(),
        })
    }

    /// What is printed for people.
    pub fn link(&self) -> String {
        let (port, secret) = (self.bound.port(), &self.secret);
        match self.bound.ip() {
            ip if ip.is_unspecified() => format!("http://{}:{port}/{secret}/", self.hostname),
            _ => format!("http://{}/{secret}/", self.bound),
        }
    }

    /// What is asked for, behind the secret.
    ///
    /// # Errors
    /// The request is not to be answered.
    pub fn admit<'a>(
        &self,
        url: &'a str,
        host: Option<&str>,
        origin: Option<&str>,
    ) -> Result<&'a str, Refusal> {
        // A name that somebody else has made point here has the reader's browser ask with it.
        let host = host
            .filter(|host| self.own(host))
            .ok_or(Refusal::Foreign("this server does not go by that name\n"))?;
        if origin.is_some_and(|origin| origin.strip_prefix("http://") != Some(host)) {
            return Err(Refusal::Foreign("asked for by a page from elsewhere\n"));
        }
        let path = url.strip_prefix('/').unwrap_or(url);
        let (secret, inner) = match path.split_once('/') {
            Some((secret, inner)) => (secret, Some(inner)),
            None => (path, None),
        };
        if !same(secret, &self.secret) {
            let words = "the link that `assay serve` printed is needed\n";
            return Err(Refusal::Foreign(words));
        }
        inner.ok_or_else(|| Refusal::Unfinished(format!("/{}/", self.secret)))
    }

    /// A name of this machine as a browser gives it, with any port: one may be forwarded. Numbers
    /// cannot be made to point elsewhere, so that beyond the loopback interface all of them do.
    fn own(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split_once(']').map_or("", |(name, _)| name),
            None => host.rsplit_once(':').map_or(host, |(name, _)| name),
        };
        let beyond = !self.bound.ip().is_loopback();
        match name.parse::<IpAddr>() {
            Ok(ip) => beyond || ip.is_loopback(),
            Err(_) if name.eq_ignore_ascii_case("localhost") => true,
            Err(_) => beyond && name.eq_ignore_ascii_case(&self.hostname),
        }
    }
}

/// Compares without telling by its time how much is right.
fn same(given: &str, secret: &str) -> bool {
    let pairs = given.bytes().zip(secret.bytes());
    given.len() == secret.len() && pairs.fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(bound: &str) -> Gate {
        Gate {
            secret: "5ec2e7".to_owned(),
            bound: bound.parse().expect("an address"),
            hostname: "box".to_owned(),
        }
    }

    #[test]
    fn only_the_link_on_a_name_of_ones_own_is_answered() {
        let gate = gate("127.0.0.1:8000");
        let ask = |url: &'static str, host| gate.admit(url, Some(host), None);
        assert_eq!(ask("/5ec2e7/", "127.0.0.1:8000"), Ok(""));
        assert_eq!(ask("/5ec2e7/run?id=1", "localhost:9"), Ok("run?id=1"));
        assert_eq!(ask("/5ec2e7/x/y", "[::1]:8000"), Ok("x/y"));
        let whole = Refusal::Unfinished("/5ec2e7/".to_owned());
        assert_eq!(ask("/5ec2e7", "127.0.0.1"), Err(whole));
        for url in [
            "/",
            "",
            "/live",
            "/5ec2e/",
            "/5ec2e8/",
            "/5ec2e77/",
            "//5ec2e7/",
        ] {
            let refused = ask(url, "127.0.0.1:8000");
            assert!(matches!(refused, Err(Refusal::Foreign(_))), "{url}");
        }
        for host in [
            "evil.example",
            "box:8000",
            "127.0.0.1.evil.example",
            "10.0.0.1",
            "",
            "[",
        ] {
            let refused = ask("/5ec2e7/", host);
            assert!(matches!(refused, Err(Refusal::Foreign(_))), "{host}");
        }
        assert!(gate.admit("/5ec2e7/", None, None).is_err());
    }

    #[test]
    fn beyond_the_machine_its_name_and_numbers_are_its_own() {
        let gate = gate("0.0.0.0:8000");
        for (host, fits) in [
            ("box:8000", true),
            ("10.0.0.1:8000", true),
            ("evil:8000", false),
        ] {
            assert_eq!(
                gate.admit("/5ec2e7/", Some(host), None).is_ok(),
                fits,
                "{host}"
            );
        }
        assert_eq!(gate.link(), "http://box:8000/5ec2e7/");
    }

    #[test]
    fn pages_from_elsewhere_may_not_ask() {
        let gate = gate("127.0.0.1:8000");
        let ask = |origin| gate.admit("/5ec2e7/", Some("127.0.0.1:8000"), Some(origin));
        assert!(ask("http://127.0.0.1:8000").is_ok());
        for origin in [
            "http://evil.example",
            "null",
            "http://127.0.0.1:8001",
            "https://127.0.0.1:8000",
            "http://127.0.0.1:8000.evil.example",
        ] {
            assert!(matches!(ask(origin), Err(Refusal::Foreign(_))), "{origin}");
        }
    }

    #[test]
    fn secrets_are_long_and_never_the_same() {
        let address = "127.0.0.1:1".parse().expect("an address");
        let [a, b] = [0, 0].map(|_| Gate::new(address).expect("random numbers").secret);
        assert_eq!(a.len(), 32);
        assert_ne!(a, b);
    }
}
