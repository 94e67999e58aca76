//! Signed requests and proven answers. Both ends hold a secret: a browser session its key, a program the token. Neither
//! sends it; each shows that it holds it. Whoever takes over a port therefore learns nothing that it could use, and
//! cannot acknowledge anything.
//!
//! ```text
//! exchange  = RUN \n HOST \n METHOD \n TARGET \n NONCE \n SHA256(body of the request)
//! signature = HMAC-SHA256(secret, "dial request\n" exchange)                     by who asks
//! proof     = HMAC-SHA256(secret, "dial answer\n" exchange \n STATUS \n BODY)    by who answers
//! ```
//!
//! RUN is random for every start of a server: what was signed for one run is worth nothing in the next, so no clock is
//! needed to limit how long a signature holds. HOST is the address that was asked: nobody can pass a request on to a
//! server that listens elsewhere. NONCE is made by who asks, for one request: it binds the answer to the request, and an
//! old answer proves nothing about a new one. TARGET is the path with its query; signatures and proofs are hexadecimal; a
//! secret is used as the text that it is. The proof of an answer without `Content-Length`, which is sent while it is
//! made (events, exports), covers its head, as if its body were empty.

use std::fmt;

use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

/// What a signature and a proof are about.
pub struct Exchange<'a> {
    /// The run of the server.
    pub run: &'a str,
    /// The header `Host`.
    pub host: &'a str,
    /// The method.
    pub method: &'a str,
    /// The path, with the query.
    pub target: &'a str,
    /// What the sender made for this request alone; empty from a program that sends the token.
    pub nonce: &'a str,
    /// The hash of the body of the request.
    pub body: String,
}

impl fmt::Display for Exchange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Exchange {
            run,
            host,
            method,
            target,
            nonce,
            body,
        } = self;
        write!(f, "{run}\n{host}\n{method}\n{target}\n{nonce}\n{body}")
    }
}

impl Exchange<'_> {
    /// The signature of the request.
    pub fn signature(&self, secret: &str) -> String {
        hex::encode(self.request(secret).finalize().into_bytes())
    }

    /// Whether this is the signature of the request, in constant time.
    pub fn is_signed(&self, secret: &str, signature: &str) -> bool {
        same(self.request(secret), signature)
    }

    /// Whether this is the proof of an answer, in constant time.
    pub fn is_proven(&self, secret: &str, status: u16, body: &[u8], proof: &str) -> bool {
        same(answer(&self.to_string(), secret, status, body), proof)
    }

    fn request(&self, secret: &str) -> Hmac<Sha256> {
        keyed(secret, &format!("dial request\n{self}"), b"")
    }
}

/// The proof of an answer, of an exchange as text.
pub fn proof_of(exchange: &str, secret: &str, status: u16, body: &[u8]) -> String {
    hex::encode(
        answer(exchange, secret, status, body)
            .finalize()
            .into_bytes(),
    )
}

fn answer(exchange: &str, secret: &str, status: u16, body: &[u8]) -> Hmac<Sha256> {
    keyed(
        secret,
        &format!("dial answer\n{exchange}\n{status}\n"),
        body,
    )
}

/// The key of a browser session. It is derived anew for each request, so that it is kept nowhere.
pub fn session_key(root: &str, session: &str) -> String {
    let key = keyed(root, "dial session\n", session.as_bytes());
    hex::encode(key.finalize().into_bytes())
}

/// The hash of a body.
pub fn digest(bytes: impl AsRef<[u8]>) -> String {
    hex::encode(Sha256::digest(bytes))
}

fn keyed(secret: &str, head: &str, body: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::new_from_slice(secret.as_bytes()).expect("a key of any length is taken");
    mac.update(head.as_bytes());
    mac.update(body);
    mac
}

fn same(mac: Hmac<Sha256>, given: &str) -> bool {
    hex::decode(given).is_ok_and(|bytes| mac.verify_slice(&bytes).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange() -> Exchange<'static> {
        Exchange {
            run: "r",
            host: "127.0.0.1:8000",
            method: "POST",
            target: "/api/v1/next?a=1",
            nonce: "n",
            body: digest("{}"),
        }
    }

    #[test]
    fn the_values_of_another_program() {
        // exchange="r\n127.0.0.1:8000\nPOST\n/api/v1/next?a=1\nn\n$(printf '{}' | sha256sum | cut -c-64)"
        // printf "dial request\n$exchange" | openssl dgst -sha256 -hmac secret
        // printf "dial answer\n$exchange\n200\n[]" | openssl dgst -sha256 -hmac secret
        let signature = "cd2520709ded9b80459317d4fbdddf78d505ca679823af78200730aa5f9119b1";
        assert_eq!(exchange().signature("secret"), signature);
        let proof = "e8d228077d3effd5e6da42827c3cffb13fb4eee66ad0436d3ca50e00b6c01e35";
        assert_eq!(
            proof_of(&exchange().to_string(), "secret", 200, b"[]"),
            proof
        );
    }

    #[test]
    fn every_part_counts() {
        let signature = exchange().signature("secret");
        assert!(exchange().is_signed("secret", &signature));
        let others = [
            Exchange {
                run: "s",
                ..exchange()
            },
            Exchange {
                host: "127.0.0.1:8001",
                ..exchange()
            },
            Exchange {
                method: "GET",
                ..exchange()
            },
            Exchange {
                target: "/api/v1/next?a=2",
                ..exchange()
            },
            Exchange {
                nonce: "m",
                ..exchange()
            },
            Exchange {
                body: digest("[]"),
                ..exchange()
            },
        ];
        for other in others {
            assert!(!other.is_signed("secret", &signature), "{other}");
        }
        assert!(!exchange().is_signed("other", &signature));
        for text in ["", "x", "é", &signature[..62], &format!("{signature}00")] {
            assert!(!exchange().is_signed("secret", text), "{text}");
        }
        let proof = proof_of(&exchange().to_string(), "secret", 200, b"");
        assert!(exchange().is_proven("secret", 200, b"", &proof));
        assert!(!exchange().is_proven("secret", 409, b"", &proof));
        assert!(!exchange().is_proven("secret", 200, b"x", &proof));
        assert!(!exchange().is_proven("secret", 200, b"", &signature));
    }
}
