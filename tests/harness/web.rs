//! A small web server for tests: objects in memory, and a record of what was asked for.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use hmac::{Hmac, KeyInit, Mac};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use sha2::{Digest, Sha256};

/// What a client sent.
#[derive(Clone, Debug)]
pub struct Request {
    /// `GET`, `PUT`, `DELETE`.
    pub method: String,
    /// As it stands in the first line.
    pub path: String,
    /// Names in small letters.
    pub headers: BTreeMap<String, String>,
    /// What followed the headers.
    pub body: Vec<u8>,
}

/// Status and body.
pub type Answer = (u16, Vec<u8>);

/// A server on the loopback interface.
pub struct Web {
    /// `127.0.0.1:PORT`.
    pub host: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Web {
    /// Serves each connection in a thread of its own, until the tests end.
    pub fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Web {
        Web::listen(answer, Some)
    }

    /// The same behind TLS; the certificate, which nobody else vouches for, as PEM.
    pub fn start_tls(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> (Web, String) {
        let names = ["127.0.0.1".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).expect("a certificate");
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
        let config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .expect("a usable certificate");
        let config = Arc::new(config);
        let shake = move |stream| {
            let session = ServerConnection::new(Arc::clone(&config)).ok()?;
            Some(StreamOwned::new(session, stream))
        };
        (Web::listen(answer, shake), made.cert.pem())
    }

    fn listen<S: Read + Write>(
        answer: impl Fn(&Request) -> Answer + Send + Sync + 'static,
        shake: impl Fn(TcpStream) -> Option<S> + Send + Sync + 'static,
    ) -> Web {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let host = listener.local_addr().expect("an address").to_string();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (record, answer) = (Arc::clone(&requests), Arc::new(answer));
        let shake = Arc::new(shake);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (record, answer) = (Arc::clone(&record), Arc::clone(&answer));
                let shake = Arc::clone(&shake);
                thread::spawn(move || {
                    if let Some(stream) = shake(stream) {
                        serve(stream, &record, &*answer);
                    }
                });
            }
        });
        Web { host, requests }
    }

    /// Everything asked for so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("no panic").clone()
    }
}

fn serve(
    stream: impl Read + Write,
    record: &Mutex<Vec<Request>>,
    answer: &dyn Fn(&Request) -> Answer,
) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = receive(&mut reader) {
        record.lock().expect("no panic").push(request.clone());
        let (status, body) = answer(&request);
        let head = match status {
            204 => "HTTP/1.1 204 x\r\n\r\n".to_owned(),
            _ => format!(
                "HTTP/1.1 {status} x\r\ncontent-length: {}\r\n\r\n",
                body.len()
            ),
        };
        let writer = reader.get_mut();
        let sent = writer.write_all(&[head.as_bytes(), &body].concat());
        if sent.and_then(|()| writer.flush()).is_err() {
            return;
        }
    }
}

fn receive(reader: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|n| *n > 0)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers
        .get("content-length")
        .map_or(0, |l| l.parse().expect("a length"));
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request {
        method,
        path,
        headers,
        body,
    })
}

/// Objects by name, as servers keep them.
#[derive(Default)]
pub struct Objects(pub Mutex<BTreeMap<String, Vec<u8>>>);

impl Objects {
    /// What a plain server answers.
    pub fn answer(&self, request: &Request) -> Answer {
        let mut objects = self.0.lock().expect("no panic");
        let found = objects.get(&request.path).cloned();
        match request.method.as_str() {
            "PUT" => {
                objects.insert(request.path.clone(), request.body.clone());
                (201, Vec::new())
            }
            "DELETE" => {
                let gone = objects.remove(&request.path).is_some();
                (if gone { 204 } else { 404 }, Vec::new())
            }
            _ => match (found, request.headers.get("range")) {
                (None, _) => (404, b"there is nothing".to_vec()),
                (Some(object), None) => (200, object),
                (Some(object), Some(range)) => {
                    let range = range.strip_prefix("bytes=").expect("a range of bytes");
                    let (first, last) = range.split_once('-').expect("two ends");
                    let [first, last] =
                        [first, last].map(|end| end.parse::<usize>().expect("a number"));
                    (206, object[first..=last].to_vec())
                }
            },
        }
    }
}

/// Whether a request is signed with this secret, by the rules of Amazon's version 4, from what
/// was received alone.
pub fn signed_with(request: &Request, secret: &str, region: &str) -> bool {
    let header = |name: &str| request.headers.get(name).cloned().unwrap_or_default();
    let authorization = header("authorization");
    let part = |name: &str| {
        let at = authorization.find(name).map(|at| at + name.len())?;
        authorization[at..].split(',').next().map(str::to_owned)
    };
    let (Some(scope), Some(names), Some(signature)) = (
        part("Credential="),
        part("SignedHeaders="),
        part("Signature="),
    ) else {
        return false;
    };
    let payload = hex(&Sha256::digest(&request.body));
    if header("x-amz-content-sha256") != payload {
        return false;
    }
    let lines: String = names
        .split(';')
        .map(|name| format!("{name}:{}\n", header(name)))
        .collect();
    let canonical = format!(
        "{}\n{}\n\n{lines}\n{names}\n{payload}",
        request.method, request.path
    );
    let scope = scope.split_once('/').expect("a key's name").1.to_owned();
    let date = header("x-amz-date");
    let text = format!(
        "AWS4-HMAC-SHA256\n{date}\n{scope}\n{}",
        hex(&Sha256::digest(canonical))
    );
    let mac = |key: &[u8], data: &str| {
        let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("any length");
        mac.update(data.as_bytes());
        mac.finalize().into_bytes().to_vec()
    };
    let day = mac(format!("AWS4{secret}").as_bytes(), &date[..8]);
    let key = mac(&mac(&mac(&day, region), "s3"), "aws4_request");
    hex(&mac(&key, &text)) == signature
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
