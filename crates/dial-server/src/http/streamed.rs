//! The body of an answer that is sent while it is written, so that it never lies in memory as a whole.

use std::io::{self, Write};

use axum::body::{Body, Bytes};
use futures_util::stream;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Bytes of a part, and parts that may wait to be sent.
const BYTES_PER_PART: usize = 64 << 10;
const PARTS_WAITING: usize = 4;

type Part = io::Result<Bytes>;

/// The writing end of a body, for a thread that may wait.
pub struct Parts {
    sender: Sender<Part>,
    bytes: Vec<u8>,
    whole: bool,
}

/// A body and the end that it is written to.
pub fn streamed() -> (Parts, Body) {
    let (sender, receiver) = channel(PARTS_WAITING);
    let next = async |mut receiver: Receiver<Part>| Some((receiver.recv().await?, receiver));
    let parts = Parts {
        sender,
        bytes: Vec::new(),
        whole: false,
    };
    (parts, Body::from_stream(stream::unfold(receiver, next)))
}

impl Parts {
    /// Ends the body.
    pub fn end(mut self, written: io::Result<()>) {
        self.whole = written.and_then(|()| self.flush()).is_ok();
    }
}

impl Drop for Parts {
    /// A body that was not written to its end breaks off, so that the other end sees that it is not whole.
    fn drop(&mut self) {
        if !self.whole {
            let _ = self
                .sender
                .blocking_send(Err(io::ErrorKind::Interrupted.into()));
        }
    }
}

impl Write for Parts {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() >= BYTES_PER_PART {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    /// Fails when the other end has gone.
    fn flush(&mut self) -> io::Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let part = Bytes::from(std::mem::take(&mut self.bytes));
        let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        self.sender.blocking_send(Ok(part)).map_err(gone)
    }
}
