//! As much of HTTP as it takes to talk to a server on this machine: one request on a connection of its own.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The status and the body of an answer.
pub type Answer = (u16, Vec<u8>);

/// What is asked of a server.
pub struct Request<'a> {
    /// Where it is.
    pub address: SocketAddr,
    /// The token of the owner.
    pub token: &'a str,
    /// `GET` or `POST`.
    pub method: &'a str,
    /// What follows `/api/v1/`.
    pub path: &'a str,
    /// The body, if it has one.
    pub body: String,
}

impl Request<'_> {
    /// Sends it and waits for the answer. Nothing at all before the connection ends is an `UnexpectedEof`, something else than
    /// HTTP is `InvalidData`.
    pub fn answer(&self, patience: Duration) -> io::Result<Answer> {
        let mut stream = TcpStream::connect_timeout(&self.address, patience)?;
        stream.set_read_timeout(Some(patience))?;
        let Request {
            address,
            token,
            method,
            path,
            body,
        } = self;
        let head = format!(
            "{method} /api/v1/{path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nX-Dial: 1\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        // A server that refuses a large body may answer before it has read it all, and end the connection.
        let sent = stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(body.as_bytes()));
        let mut answer = Vec::new();
        let read = stream.read_to_end(&mut answer);
        match parsed(&answer) {
            Some(answer) => Ok(answer),
            None => {
                sent?;
                read?;
                let kind = if answer.is_empty() {
                    io::ErrorKind::UnexpectedEof
                } else {
                    io::ErrorKind::InvalidData
                };
                Err(io::Error::new(kind, "not an answer in HTTP"))
            }
        }
    }
}

/// Status and body of an answer; `None` if it is cut short.
fn parsed(answer: &[u8]) -> Option<Answer> {
    let end = answer.windows(4).position(|part| part == b"\r\n\r\n")?;
    let (head, body) = (
        std::str::from_utf8(&answer[..end]).ok()?,
        &answer[end + 4..],
    );
    let mut lines = head.split("\r\n");
    let status = lines
        .next()?
        .strip_prefix("HTTP/1.1 ")?
        .get(..3)?
        .parse()
        .ok()?;
    let headers: Vec<(String, &str)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim()))
        .collect();
    let value = |name: &str| {
        headers
            .iter()
            .find(|(other, _)| other == name)
            .map(|(_, value)| *value)
    };
    let body = match (value("transfer-encoding"), value("content-length")) {
        (Some("chunked"), _) => unchunked(body)?,
        (_, Some(length)) => body.get(..length.parse().ok()?)?.to_vec(),
        _ => body.to_vec(),
    };
    Some((status, body))
}

fn unchunked(mut body: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let end = body.windows(2).position(|part| part == b"\r\n")?;
        let line = std::str::from_utf8(&body[..end]).ok()?;
        let size = usize::from_str_radix(line.split(';').next()?.trim(), 16).ok()?;
        if size == 0 {
            return Some(whole);
        }
        let start = end + 2;
        whole.extend_from_slice(body.get(start..start.checked_add(size)?)?);
        body = body.get(start + size + 2..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_by_hand() {
        let whole = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        assert_eq!(parsed(whole), Some((200, b"{}".to_vec())));
        assert_eq!(parsed(&whole[..whole.len() - 1]), None, "cut short");
        let chunked =
            b"HTTP/1.1 409 Conflict\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=1\r\n0123456789\r\n0\r\n\r\n";
        assert_eq!(parsed(chunked), Some((409, b"abc0123456789".to_vec())));
        assert_eq!(parsed(&chunked[..chunked.len() - 8]), None, "cut short");
        assert_eq!(
            (parsed(b"nonsense"), parsed(b"SSH-2.0\r\n\r\n")),
            (None, None)
        );
    }
}
