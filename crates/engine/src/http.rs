//! `http`: each block is an object of its own, on a WebDAV, S3 or Swift server.
//!
//! As in fio: a write is a PUT, a read a GET, a trim a DELETE of `NAME_OFFSET_LENGTH`; what is not
//! there reads as zeros; with `http_object_mode=range` reads are ranges of the object `NAME`.

mod sign;

use crate::api::{Caps, Engine, EngineError, Io, Queued, Setup, Target};
use crate::offload::Serve;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use md5::{Digest, Md5};
use sign::{Signer, hash, hex};
use std::io::Read;
use std::path::Path;
use sys::file::File;
use sys::pages::Pool;
use units::Ddir;
use ureq::http::{Request, Response};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};

const EIO: i32 = 5;
const EINVAL: i32 = 22;
/// Bytes of a customer's key for encryption on the server.
const SSE_KEY_BYTES: usize = 32;

option::choices! {
    /// Encryption of the connection
    pub enum Https {
        /// None
        Off = "off";
        /// With a certificate that is checked
        On = "on";
        /// With any certificate
        Insecure = "insecure";
    }
}

option::choices! {
    /// How the server is addressed
    pub enum Mode {
        /// WebDAV
        Webdav = "webdav";
        /// OpenStack Swift
        Swift = "swift";
        /// Amazon S3 and what is like it
        S3 = "s3";
    }
}

option::choices! {
    /// What a block is
    pub enum ObjectMode {
        /// An object of its own
        Block = "block";
        /// A range of one object
        Range = "range";
    }
}

option::options! {
    /// http
    pub struct Options {
        /// Encrypt the connection.
        https: Https = "off";
        /// Host, with S3 that of the bucket; a port may follow.
        http_host: String = "localhost";
        /// User, for servers that ask for one.
        http_user: String;
        /// Password.
        http_pass: String;
        /// Kind of server.
        http_mode: Mode = "webdav";
        /// Secret key of S3.
        http_s3_key: String;
        /// Name of that key.
        http_s3_keyid: String;
        /// Token that goes with a temporary key.
        http_s3_security_token: String;
        /// Region of the bucket.
        http_s3_region: String = "us-east-1";
        /// Key with which the server encrypts, at most 32 bytes.
        http_s3_sse_customer_key: String;
        /// What that key is for.
        http_s3_sse_customer_algorithm: String = "AES256";
        /// Storage class of objects.
        http_s3_storage_class: String = "STANDARD";
        /// Token of Swift.
        http_swift_auth_token: String;
        /// Tell each request (1) and its headers (2) on standard error.
        http_verbose: u32 = "0";
        /// What a block is.
        http_object_mode: ObjectMode = "block";
    }
}

/// What requests carry so that the server serves them.
enum Access {
    /// Nothing, or the value of `Authorization`.
    Webdav(Option<String>),
    /// A token.
    Swift(String),
    /// Headers that are signed with the others.
    S3(Signer, Vec<(&'static str, String)>),
}

/// The engine.
pub struct Http {
    agent: Agent,
    /// Scheme, host and port.
    server: String,
    /// As in the `host` header.
    host: String,
    /// Encoded path of the object of each file.
    names: Vec<String>,
    ranges: bool,
    verbose: u32,
    access: Access,
    pool: Pool,
    /// What the user calls the files.
    targets: Vec<Target>,
    /// What was wrong with the last request that failed.
    reason: Option<String>,
}

impl Access {
    fn new(options: &Options) -> Result<Access, String> {
        let filled = |value: &str, name: &str| match value.is_empty() {
            true => Err(format!(
                "http_mode={} needs {name}=",
                options.http_mode.word()
            )),
            false => Ok(value.to_owned()),
        };
        Ok(match options.http_mode {
            Mode::Webdav if options.http_user.is_empty() => Access::Webdav(None),
            Mode::Webdav => {
                let both = format!("{}:{}", options.http_user, options.http_pass);
                Access::Webdav(Some(format!("Basic {}", BASE64.encode(both))))
            }
            Mode::Swift => Access::Swift(filled(
                &options.http_swift_auth_token,
                "http_swift_auth_token",
            )?),
            Mode::S3 => {
                let signer = Signer {
                    key_id: filled(&options.http_s3_keyid, "http_s3_keyid")?,
                    key: filled(&options.http_s3_key, "http_s3_key")?,
                    region: options.http_s3_region.clone(),
                };
                Access::S3(signer, s3_headers(options)?)
            }
        })
    }
}

/// The headers that are the same for all requests, in the order of their names.
fn s3_headers(options: &Options) -> Result<Vec<(&'static str, String)>, String> {
    let mut headers = Vec::new();
    let key = options.http_s3_sse_customer_key.as_bytes();
    if key.len() > SSE_KEY_BYTES {
        return Err(format!(
            "http_s3_sse_customer_key= has {} bytes, at most {SSE_KEY_BYTES} are allowed",
            key.len()
        ));
    }
    if !key.is_empty() {
        let mut padded = [0; SSE_KEY_BYTES];
        padded[..key.len()].copy_from_slice(key);
        let algorithm = options.http_s3_sse_customer_algorithm.clone();
        headers.extend([
            ("x-amz-server-side-encryption-customer-algorithm", algorithm),
            (
                "x-amz-server-side-encryption-customer-key",
                BASE64.encode(padded),
            ),
            (
                "x-amz-server-side-encryption-customer-key-md5",
                BASE64.encode(Md5::digest(padded)),
            ),
        ]);
    }
    if !options.http_s3_security_token.is_empty() {
        let token = options.http_s3_security_token.clone();
        headers.push(("x-amz-security-token", token));
    }
    headers.push(("x-amz-storage-class", options.http_s3_storage_class.clone()));
    Ok(headers)
}

/// A path as it goes into a URL. S3 signs one in which all that is not plain is encoded; other
/// servers get what the user wrote, as far as a URL can hold it.
fn encode(path: &str, all: bool) -> String {
    let mut encoded = String::new();
    for byte in path.bytes() {
        let plain = byte.is_ascii_alphanumeric() || b"_-~./".contains(&byte);
        let allowed = !all && byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte);
        if plain || allowed {
            encoded.push(byte.into());
        } else {
            encoded += &format!("%{byte:02X}");
        }
    }
    encoded
}

impl Http {
    fn headers(
        &self,
        method: &str,
        path: &str,
        range: Option<String>,
        body: &[u8],
    ) -> Vec<(&'static str, String)> {
        let mut headers: Vec<(&'static str, String)> = vec![("host", self.host.clone())];
        headers.extend(range.map(|range| ("range", range)));
        match &self.access {
            Access::Webdav(authorization) => {
                headers.extend(authorization.clone().map(|value| ("authorization", value)));
            }
            Access::Swift(token) => {
                if method == "PUT" {
                    headers.push(("etag", hex(&Md5::digest(body))));
                }
                headers.push(("x-auth-token", token.clone()));
            }
            Access::S3(signer, fixed) => {
                let now = jiff::Timestamp::now()
                    .strftime("%Y%m%dT%H%M%SZ")
                    .to_string();
                let payload = hash(body);
                headers.push(("x-amz-content-sha256", payload.clone()));
                headers.push(("x-amz-date", now.clone()));
                headers.extend(fixed.iter().cloned());
                let signed: Vec<(&str, &str)> = headers
                    .iter()
                    .map(|(name, value)| (*name, value.as_str()))
                    .collect();
                let value = signer.authorization(method, path, &signed, &payload, &now);
                headers.push(("authorization", value));
            }
        }
        headers
    }

    /// Sends one request; the answer, whatever its status.
    fn send(
        &self,
        method: &'static str,
        path: &str,
        range: Option<String>,
        body: &[u8],
    ) -> Result<Response<Body>, String> {
        let url = format!("{}{path}", self.server);
        let headers = self.headers(method, path, range, body);
        let mut request = Request::builder().method(method).uri(&url);
        for (name, value) in &headers {
            request = request.header(*name, value);
        }
        let answer = if method == "PUT" {
            let request = request.body(body).map_err(|error| error.to_string())?;
            self.agent.run(request)
        } else {
            let request = request.body(()).map_err(|error| error.to_string())?;
            self.agent.run(request)
        };
        if self.verbose > 0 {
            self.tell(method, &url, &headers, &answer);
        }
        answer.map_err(|error| format!("{method} {url}: {error}"))
    }

    #[cold]
    fn tell(
        &self,
        method: &str,
        url: &str,
        headers: &[(&str, String)],
        answer: &Result<Response<Body>, ureq::Error>,
    ) {
        let outcome = match answer {
            Ok(answer) => answer.status().to_string(),
            Err(error) => error.to_string(),
        };
        eprintln!("http: {method} {url}: {outcome}");
        if self.verbose > 1 {
            for (name, value) in headers {
                eprintln!("http: > {name}: {value}");
            }
            for (name, value) in answer.iter().flat_map(|answer| answer.headers()) {
                eprintln!(
                    "http: < {name}: {}",
                    String::from_utf8_lossy(value.as_bytes())
                );
            }
        }
    }

    fn transfer(&mut self, io: Io) -> Result<u32, String> {
        let slot_range = io.at as usize..io.at as usize + io.len as usize;
        let mut path = self.names[usize::from(io.file)].clone();
        if !self.ranges {
            path += &format!("_{}_{}", io.offset, io.len);
        }
        let (method, range, good): (_, _, &[u16]) = match io.ddir {
            Ddir::Write => ("PUT", None, &[200, 201, 202, 203, 204]),
            Ddir::Read if self.ranges => {
                let last = io.offset + u64::from(io.len) - 1;
                let range = format!("bytes={}-{last}", io.offset);
                ("GET", Some(range), &[200, 206])
            }
            Ddir::Read => ("GET", None, &[200]),
            _ => ("DELETE", None, &[200, 202, 204, 404]),
        };
        let body = match io.ddir {
            Ddir::Write => &self.pool.slot(io.slot)[slot_range.clone()],
            _ => &[],
        };
        let mut answer = self.send(method, &path, range, body)?;
        let status = answer.status().as_u16();
        let failed = |what: String| format!("{method} {}{path}: {what}", self.server);
        let mut content = answer.body_mut().as_reader();
        if io.ddir == Ddir::Read {
            let buffer = &mut self.pool.slot_mut(io.slot)[slot_range];
            if status == 404 {
                buffer.fill(0);
            } else if good.contains(&status) {
                content
                    .read_exact(buffer)
                    .map_err(|error| failed(format!("fewer than {} bytes: {error}", io.len)))?;
                let more = content.read(&mut [0]).map_err(|e| failed(e.to_string()))?;
                if more > 0 {
                    return Err(failed(format!("more than {} bytes", io.len)));
                }
                return Ok(io.len);
            }
        }
        // What is left of the answer is read, so that the connection can be used again.
        std::io::copy(&mut content, &mut std::io::sink()).map_err(|e| failed(e.to_string()))?;
        if good.contains(&status) || (io.ddir == Ddir::Read && status == 404) {
            Ok(io.len)
        } else {
            Err(failed(answer.status().to_string()))
        }
    }
}

impl Engine for Http {
    type Options = Options;
    const NAME: &'static str = "http";
    const HELP: &'static str = "Objects of WebDAV, S3 and Swift servers";
    const CAPS: Caps = Caps {
        sync: true,
        diskless: true,
        trims: true,
        offloads: true,
        ..Caps::NONE
    };

    fn start(setup: Setup<'_, Options>) -> Result<Self, EngineError> {
        let options = setup.options;
        let unsupported = |what: String| EngineError::Unsupported {
            engine: Self::NAME,
            what,
        };
        let access = Access::new(options).map_err(unsupported)?;
        // A path may stand behind the host, and comes before each object's name.
        let place = options.http_host.trim_end_matches('/');
        let (host, prefix) = match place.split_once('/') {
            Some((host, prefix)) => (host, format!("/{prefix}")),
            None => (place, String::new()),
        };
        if host.is_empty() {
            return Err(unsupported("http_host= names no host".into()));
        }
        let scheme = match options.https {
            Https::Off => "http",
            Https::On | Https::Insecure => "https",
        };
        let tls = TlsConfig::builder()
            // The authorities that this host trusts, as curl does; `SSL_CERT_FILE` names others.
            .root_certs(RootCerts::PlatformVerifier)
            .disable_verification(options.https == Https::Insecure)
            .build();
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .user_agent("assay")
            .tls_config(tls)
            .build();
        let all = matches!(access, Access::S3(..));
        let name = |path: &Path| {
            let path = path.to_string_lossy();
            let slash = if path.starts_with('/') { "" } else { "/" };
            encode(&format!("{prefix}{slash}{path}"), all)
        };
        Ok(Http {
            agent: config.into(),
            server: format!("{scheme}://{host}"),
            host: host.to_owned(),
            names: setup.job.targets.iter().map(|t| name(&t.path)).collect(),
            ranges: options.http_object_mode == ObjectMode::Range,
            verbose: options.http_verbose,
            access,
            pool: setup.pool,
            targets: setup.job.targets,
            reason: None,
        })
    }

    fn queue(&mut self, io: Io) -> Queued {
        if !io.ddir.is_data() {
            self.reason = Some("http has reads, writes and trims only".into());
            return Queued::Done(-EINVAL);
        }
        Queued::Done(match self.transfer(io) {
            Ok(bytes) => bytes as i32,
            Err(why) => {
                self.reason = Some(why);
                -EIO
            }
        })
    }

    fn slot(&self, slot: u32) -> &[u8] {
        self.pool.slot(slot)
    }

    fn slot_mut(&mut self, slot: u32) -> &mut [u8] {
        self.pool.slot_mut(slot)
    }

    fn files(&self) -> &[File] {
        &[]
    }

    fn path(&self, file: u16) -> Option<&Path> {
        Some(&self.targets.get(usize::from(file))?.path)
    }

    fn reason(&self, _slot: u32) -> Option<&str> {
        self.reason.as_deref()
    }

    fn into_server(self) -> Option<Box<dyn Serve>> {
        Some(Box::new(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_encoded_as_the_server_reads_them() {
        assert_eq!(encode("/a b/c$d~e", true), "/a%20b/c%24d~e");
        assert_eq!(encode("/a b/c$d%20", false), "/a%20b/c$d%20");
        assert_eq!(encode("/\u{e4}", false), "/%C3%A4");
    }

    #[test]
    fn what_a_mode_needs_is_asked_for_by_name() {
        let options = Options {
            http_mode: Mode::S3,
            http_s3_keyid: "id".into(),
            ..Options::default()
        };
        let error = Access::new(&options).err().unwrap();
        assert_eq!(error, "http_mode=s3 needs http_s3_key=");
        let options = Options {
            http_mode: Mode::Swift,
            ..Options::default()
        };
        let error = Access::new(&options).err().unwrap();
        assert_eq!(error, "http_mode=swift needs http_swift_auth_token=");
        let options = Options {
            http_s3_sse_customer_key: "k".repeat(33),
            ..Options::default()
        };
        assert!(s3_headers(&options).is_err());
    }
}
