//! One HTTP request to a server on this machine, on a connection that is used once. It is signed with the token of the
//! server, which is never sent, and an answer counts only with its proof.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use ureq::http;

use crate::auth::sessions::OWNER;
use crate::auth::signature::{Exchange, digest};

/// The status and the body of an answer.
pub type Answer = (u16, Vec<u8>);

/// Connecting to the loopback, and handing it the next bytes of a request, takes no longer than this unless the server
/// hangs.
const SEND_TIMEOUT: Duration = Duration::from_secs(60);

/// Before a body of more bytes is sent, the server is asked whether it takes it (`Expect: 100-continue`). A refusal
/// then arrives as an answer, and not as a connection that breaks under the body.
const ASK_BEFORE_SENDING: usize = 1 << 20;

/// A request to a server.
pub struct Request<'a> {
    /// The address of the server.
    pub address: SocketAddr,
    /// The token of the owner.
    pub token: &'a str,
    /// The run of the server.
    pub run: &'a str,
    /// The id of the project.
    pub project: &'a str,
    /// The id of its place.
    pub place: &'a str,
    /// `GET` or `POST`.
    pub method: &'a str,
    /// What follows `/api/v1/`.
    pub path: &'a str,
    /// The body; an empty one is not sent.
    pub body: String,
}

impl Request<'_> {
    /// Sends the request and waits for the answer, which may be silent for as long as `patience`. A server that is
    /// silent for longer is `TimedOut`, one that closes the connection before it has answered in full is
    /// `UnexpectedEof` or `ConnectionReset`, and one that does not speak HTTP is `InvalidData`. An answer without its proof
    /// is `PermissionDenied`: whoever gave it is not the server.
    pub fn answer(&self, patience: Duration) -> io::Result<Answer> {
        let send_timeout = SEND_TIMEOUT.min(patience);
        // The address is on this machine: a proxy of the environment must not see what is sent.
        let agent = ureq::Agent::config_builder()
            .proxy(None)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .timeout_connect(Some(send_timeout))
            .timeout_per_write(Some(send_timeout))
            .timeout_per_read(Some(patience))
            .build()
            .new_agent();
        let (host, target) = (self.address.to_string(), format!("/api/v1/{}", self.path));
        let nonce = dial_store::random_id().map_err(io::Error::other)?;
        let exchange = Exchange {
            run: self.run,
            host: &host,
            method: self.method,
            target: &target,
            nonce: &nonce,
            body: digest(&self.body),
        };
        let signature = exchange.signature(self.token);
        let authorization = format!("Dial {OWNER}.{nonce}.{}.{signature}", exchange.body);
        let mut request = http::Request::builder()
            .method(self.method)
            .uri(format!("http://{host}{target}"))
            .header("authorization", authorization)
            .header("x-dial", self.project)
            .header("x-dial-place", self.place)
            .header("connection", "close");
        if self.body.len() > ASK_BEFORE_SENDING {
            request = request.header("expect", "100-continue");
        }
        let sent = if self.body.is_empty() {
            request.body(()).map(|request| agent.run(request))
        } else {
            request
                .header("content-type", "application/json")
                .body(self.body.as_str())
                .map(|request| agent.run(request))
        };
        let mut answer = sent.map_err(ureq::Error::from).flatten().map_err(into_io)?;
        let body = answer
            .body_mut()
            .with_config()
            .limit(u64::MAX)
            .read_to_vec()
            .map_err(into_io)?;
        let status = answer.status().as_u16();
        let proof = answer.headers().get("x-dial-proof");
        let proof = proof
            .and_then(|proof| proof.to_str().ok())
            .unwrap_or_default();
        // What is sent while it is made has no length, and a proof of its head.
        let whole = answer.headers().contains_key("content-length");
        let proven = if whole { body.as_slice() } else { &[] };
        if !exchange.is_proven(self.token, status, proven, proof) {
            let text = format!("its answer ({status}) does not prove that it is the server");
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
        }
        Ok((status, body))
    }
}

/// The error as one of input and output, whose kind says what to do about the server.
fn into_io(error: ureq::Error) -> io::Error {
    let kind = match &error {
        ureq::Error::Io(_) => return error.into_io(),
        ureq::Error::Timeout(_) => io::ErrorKind::TimedOut,
        ureq::Error::ConnectionFailed => io::ErrorKind::ConnectionRefused,
        _ => io::ErrorKind::InvalidData,
    };
    io::Error::new(kind, error)
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read, Write};
    use std::net::TcpListener;

    use super::*;
    use crate::auth::signature::proof_of;

    /// What a server that answers `answer` to the head of the request and closes makes of `POST things`. PROOF stands for
    /// the proof of an answer with the body `proven`.
    fn answered(answer: &'static str, proven: &'static str, body: &str) -> io::Result<Answer> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") {
                assert_eq!(stream.read(&mut byte).unwrap(), 1);
                head.push(byte[0]);
            }
            let head = String::from_utf8(head).unwrap();
            let answer = answer.replace("PROOF", &proof(&head, address, answer, proven));
            stream.write_all(answer.as_bytes()).unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            // A connection closed with unread bytes is reset, and the answer may be lost with it.
            let mut rest = Vec::new();
            stream.read_to_end(&mut rest).ok();
            (head, rest)
        });
        let answer = Request {
            body: body.to_string(),
            ..request(address)
        }
        .answer(Duration::from_millis(500));
        let (head, sent) = server.join().unwrap();
        assert!(
            head.starts_with("POST /api/v1/things?a=1 HTTP/1.1\r\n"),
            "{head}"
        );
        assert!(head.contains("x-dial: p\r\n"), "{head}");
        assert!(head.contains("x-dial-place: q\r\n"), "{head}");
        assert!(!head.contains("secret"), "the token is never sent: {head}");
        let asked = body.len() > ASK_BEFORE_SENDING;
        assert_eq!(head.contains("expect: 100-continue"), asked);
        assert_eq!(sent.len(), if asked { 0 } else { body.len() });
        answer
    }

    fn request(address: SocketAddr) -> Request<'static> {
        Request {
            address,
            token: "secret",
            run: "r",
            project: "p",
            place: "q",
            method: "POST",
            path: "things?a=1",
            body: String::new(),
        }
    }

    /// The proof that the server with the token gives, once it has checked the signature of the request.
    fn proof(head: &str, address: SocketAddr, answer: &str, proven: &str) -> String {
        let given = head.split_once("authorization: Dial owner.").unwrap().1;
        let words: Vec<&str> = given.lines().next().unwrap().split('.').collect();
        let exchange = Exchange {
            run: "r",
            host: &address.to_string(),
            method: "POST",
            target: "/api/v1/things?a=1",
            nonce: words[0],
            body: words[1].into(),
        };
        assert!(exchange.is_signed("secret", words[2]));
        let status = answer.get(9..12).and_then(|status| status.parse().ok());
        let status = status.unwrap_or(0);
        proof_of(&exchange.to_string(), "secret", status, proven.as_bytes())
    }

    #[test]
    fn answers_by_hand() {
        let whole = "HTTP/1.1 200 OK\r\nX-Dial-Proof: PROOF\r\nContent-Length: 2\r\n\r\n{}";
        assert_eq!(answered(whole, "{}", "[1]").unwrap(), (200, b"{}".to_vec()));
        let chunked = "HTTP/1.1 409 Conflict\r\nx-dial-proof: PROOF\r\ntransfer-encoding: chunked\r\n\r\n\
            3\r\nabc\r\nA;x=1\r\n0123456789\r\n0\r\n\r\n";
        let answer = answered(chunked, "", "[1]").unwrap();
        assert_eq!(answer, (409, b"abc0123456789".to_vec()));
        let moved = "HTTP/1.1 307 X\r\nLocation: http://127.0.0.1:1/\r\nx-dial-proof: PROOF\r\nContent-Length: 0\r\n\r\n";
        assert_eq!(answered(moved, "", "[1]").unwrap(), (307, Vec::new()));
    }

    #[test]
    fn what_is_not_proven_is_no_answer() {
        let kind = |answer, proven| answered(answer, proven, "[1]").unwrap_err().kind();
        let none = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        assert_eq!(kind(none, "{}"), ErrorKind::PermissionDenied);
        let other = "HTTP/1.1 200 OK\r\nx-dial-proof: PROOF\r\nContent-Length: 2\r\n\r\n{}";
        assert_eq!(kind(other, "[]"), ErrorKind::PermissionDenied);
    }

    #[test]
    fn a_refused_large_body_is_not_sent() {
        let body = " ".repeat(ASK_BEFORE_SENDING + 1);
        let refusal = "HTTP/1.1 413 Large\r\nx-dial-proof: PROOF\r\nContent-Length: 2\r\n\r\n{}";
        assert_eq!(
            answered(refusal, "{}", &body).unwrap(),
            (413, b"{}".to_vec())
        );
    }

    #[test]
    fn faults_by_kind() {
        let kind = |answer| answered(answer, "", "[1]").unwrap_err().kind();
        assert_eq!(kind(""), ErrorKind::UnexpectedEof);
        let cut = kind("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}");
        assert_eq!(cut, ErrorKind::UnexpectedEof);
        assert_eq!(kind("SSH-2.0-x\r\n\r\n"), ErrorKind::InvalidData);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut request = request(listener.local_addr().unwrap());
        let silent = request.answer(Duration::from_millis(100)).unwrap_err();
        assert_eq!(silent.kind(), ErrorKind::TimedOut);
        // No test can have this port: it takes a privilege.
        request.address = ([127, 0, 0, 1], 1).into();
        let refused = request.answer(Duration::from_millis(500)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        request.project = "two\nlines";
        let bad = request.answer(Duration::from_millis(500)).unwrap_err();
        assert_eq!(bad.kind(), ErrorKind::InvalidData);
    }
}
