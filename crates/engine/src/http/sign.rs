//! Signature version 4 of Amazon Web Services, for S3 requests whose body is at hand.
//!
//! Source: "Authenticating Requests: Using the Authorization Header", Amazon S3 API reference.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// Who signs.
pub struct Signer {
    /// Public name of the key.
    pub key_id: String,
    /// The secret.
    pub key: String,
    /// Region of the service.
    pub region: String,
}

impl Signer {
    /// Value of the `Authorization` header of a request.
    ///
    /// `path` is encoded; `headers` are in the order of their names, which are in small letters;
    /// `at` is the time as in `x-amz-date` (`20130524T000000Z`).
    pub fn authorization(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        payload: &str,
        at: &str,
    ) -> String {
        let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
        let names = names.join(";");
        let lines: String = headers
            .iter()
            .map(|(name, value)| format!("{name}:{value}\n"))
            .collect();
        let request = format!("{method}\n{path}\n\n{lines}\n{names}\n{payload}");
        let day = &at[..8];
        let scope = format!("{day}/{}/s3/aws4_request", self.region);
        let to_sign = format!(
            "AWS4-HMAC-SHA256\n{at}\n{scope}\n{}",
            hash(request.as_bytes())
        );
        let secret = format!("AWS4{}", self.key);
        let steps = [day, &self.region, "s3", "aws4_request", &to_sign];
        let signature = steps
            .iter()
            .fold(secret.into_bytes(), |key, step| mac(&key, step.as_bytes()));
        format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope},SignedHeaders={names},Signature={}",
            self.key_id,
            hex(&signature)
        )
    }
}

/// SHA-256 in hexadecimal digits.
pub fn hash(data: &[u8]) -> String {
    hex(&Sha256::digest(data))
}

/// Small hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn mac(key: &[u8], data: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("keys may have any length");
    mac.update(data);
    mac.finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signer() -> Signer {
        Signer {
            key_id: "AKIAIOSFODNN7EXAMPLE".into(),
            key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into(),
            region: "us-east-1".into(),
        }
    }

    /// The examples of the API reference.
    #[test]
    fn the_published_examples_have_their_signatures() {
        let empty = hash(b"");
        let at = "20130524T000000Z";
        let host = ("host", "examplebucket.s3.amazonaws.com");
        let headers = [
            host,
            ("range", "bytes=0-9"),
            ("x-amz-content-sha256", empty.as_str()),
            ("x-amz-date", at),
        ];
        let got = signer().authorization("GET", "/test.txt", &headers, &empty, at);
        assert_eq!(
            got,
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,\
             SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,\
             Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        );
        let body = hash(b"Welcome to Amazon S3.");
        let headers = [
            ("date", "Fri, 24 May 2013 00:00:00 GMT"),
            host,
            ("x-amz-content-sha256", body.as_str()),
            ("x-amz-date", at),
            ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
        ];
        let got = signer().authorization("PUT", "/test%24file.text", &headers, &body, at);
        let want = "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd";
        assert!(got.ends_with(want), "{got}");
    }
}
