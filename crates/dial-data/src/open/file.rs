//! The bytes of a file, read so that no file can hang the program or take more memory than it says.
//!
//! Only plain files are opened: a pipe or a device could block for ever or never end. Of each no more is read than the
//! length the file system states: files of `/proc` state 0, and reading some of them blocks. A text is refused at its
//! first line beyond [`MAX_LINE_BYTES`], before the rest of it is read. Files packed by gzip or zstd are unpacked on the
//! way, and counted as they come out.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::error::{Fault, Result};
use crate::open::packed::{Packing, Unpacker};
use crate::open::sniff;
use crate::tables::csv::reader::MAX_RECORD_BYTES;

/// The longest line of a text that is read at all: a row of the longest length in UTF-16, which takes twice its room.
const MAX_LINE_BYTES: usize = 2 * MAX_RECORD_BYTES;
/// So much of a file decides whether it is a text, and so much is read at once.
const CHUNK_BYTES: usize = 1 << 20;

/// The bytes of a file.
pub(crate) fn read_file(place: &str) -> Result<Vec<u8>> {
    let (file, length) = plain_file(Path::new(place)).map_err(|fault| fault.at(place))?;
    let mut bytes = Vec::new();
    room(&mut bytes, length)
        .and_then(|()| file.take(length).read_to_end(&mut bytes))
        .map_err(|error| unreadable(&error).at(place))?;
    Ok(bytes)
}

/// The bytes of a file in a format that is read, or what a packed one unpacks to. A line that is too long is refused as
/// soon as it is seen, and so is what unpacks to too much.
pub(crate) fn read_lines_or_bytes(place: &str) -> Result<Vec<u8>> {
    let (file, length) = plain_file(Path::new(place)).map_err(|fault| fault.at(place))?;
    let read = || {
        let mut source = Source::new(file.take(length), length)?;
        let bytes = source.read_all(place)?;
        source.fits(place, &bytes)?;
        Ok(bytes)
    };
    read().map_err(|fault: Fault| fault.at(place))
}

/// A file whose bytes were begun to be read.
type Begun = io::Chain<io::Cursor<Vec<u8>>, io::Take<File>>;

/// A file that is read from its beginning to its end.
struct Source {
    stream: Stream,
    /// How many bytes the file has.
    length: u64,
}

enum Stream {
    Plain(Begun),
    Packed(Box<Unpacker<Begun>>),
}

impl Source {
    fn new(mut file: io::Take<File>, length: u64) -> Result<Source, Fault> {
        let mut beginning = Vec::new();
        let read = file.by_ref().take(4).read_to_end(&mut beginning);
        read.map_err(|error| unreadable(&error))?;
        let packing = Packing::of(&beginning);
        let file = io::Cursor::new(beginning).chain(file);
        let stream = match packing {
            Some(packing) => Stream::Packed(Box::new(Unpacker::new(packing, file))),
            None => Stream::Plain(file),
        };
        Ok(Source { stream, length })
    }

    fn read_all(&mut self, place: &str) -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::new();
        if let Stream::Plain(_) = self.stream {
            room(&mut bytes, self.length).map_err(|error| unreadable(&error))?;
        }
        self.more(&mut bytes)?;
        let (in_lines, mut end) = (in_lines(place, &bytes), Line::default());
        loop {
            if in_lines {
                end.follow(&bytes);
                end.check(&bytes)?;
            }
            if self.more(&mut bytes)? == 0 {
                return Ok(bytes);
            }
        }
    }

    /// Reads the next part: how many bytes that were.
    fn more(&mut self, bytes: &mut Vec<u8>) -> Result<usize, Fault> {
        let most = CHUNK_BYTES as u64;
        match &mut self.stream {
            Stream::Plain(file) => {
                let read = file.take(most).read_to_end(bytes);
                read.map_err(|error| unreadable(&error))
            }
            Stream::Packed(file) => {
                let read = file.take(most).read_to_end(bytes);
                let read = read.map_err(|error| file.broken(&error, bytes))?;
                file.packing.check(self.length, bytes.len())?;
                Ok(read)
            }
        }
    }

    /// Whether what was read is what the name of the file says, and packed but once.
    fn fits(&self, place: &str, bytes: &[u8]) -> Result<(), Fault> {
        let format = || sniff::format(place, bytes);
        match &self.stream {
            Stream::Plain(_) => match Packing::named(place) {
                Some(packing) if !format().is_ok_and(|format| !format.text) => {
                    Err(packing.is_not(bytes))
                }
                _ => Ok(()),
            },
            Stream::Packed(file) => {
                file.packing.check_content(bytes)?;
                match format().is_ok_and(|format| format.packs) {
                    true => file.packing.check_twice(self.length, bytes.len()),
                    false => Ok(()),
                }
            }
        }
    }
}

/// The line that the bytes read so far end in.
struct Line {
    /// Its number, from 1.
    number: usize,
    /// Where it starts.
    start: usize,
    /// How many bytes were looked at.
    seen: usize,
}

impl Default for Line {
    fn default() -> Line {
        Line {
            number: 1,
            start: 0,
            seen: 0,
        }
    }
}

impl Line {
    /// Goes on to the end of the bytes. Lines end with LF, CR or both; a line that is too long ends the search.
    fn follow(&mut self, bytes: &[u8]) {
        for at in self.seen..bytes.len() {
            if at - self.start > MAX_LINE_BYTES {
                return;
            }
            let both = at > 0 && bytes[at - 1] == b'\r';
            match bytes[at] {
                b'\n' if both => self.start = at + 1,
                b'\n' | b'\r' => (self.number, self.start) = (self.number + 1, at + 1),
                _ => {}
            }
        }
        self.seen = bytes.len();
    }

    /// Refuses a line that is too long.
    fn check(&self, bytes: &[u8]) -> Result<(), Fault> {
        if bytes.len() - self.start <= MAX_LINE_BYTES {
            return Ok(());
        }
        let text = format!("line {} is longer than 32 MiB", self.number);
        let next = "Is this a table or a text? Put each row or text on a line of its own, or save numbers as npy.";
        Err(Fault::format(text, next))
    }
}

/// Whether a file that begins so is a text of lines; an array of JSON may stand on one line.
fn in_lines(place: &str, beginning: &[u8]) -> bool {
    let text = beginning
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(beginning)
        .trim_ascii_start();
    !text.starts_with(b"[") && sniff::format(place, beginning).is_ok_and(|format| format.text)
}

/// Makes room for so many bytes, or says that there is too little memory.
fn room(bytes: &mut Vec<u8>, length: u64) -> io::Result<()> {
    Ok(bytes.try_reserve_exact(length as usize)?)
}

/// Opens a plain file; its length too.
pub(crate) fn plain_file(path: &Path) -> Result<(File, u64), Fault> {
    let fault = |error: io::Error| unreadable(&error);
    // Before it is opened: that waits for somebody at the other end of a pipe.
    let kind = path.metadata().map_err(fault)?;
    if kind.is_dir() {
        return Err(Fault::Io("is a folder, not a file".into()));
    }
    if !kind.is_file() {
        return Err(Fault::Io("is not a plain file".into()));
    }
    Ok((File::open(path).map_err(fault)?, kind.len()))
}

fn unreadable(error: &io::Error) -> Fault {
    match error.kind() {
        io::ErrorKind::NotFound => Fault::Missing,
        _ => Fault::io(error, "cannot read this file"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths of lines and whether a text of them is read; the last line has no end.
    #[test]
    fn a_line_beyond_the_limit_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let place = path.display().to_string();
        let cases = [
            (vec![CHUNK_BYTES + 3, MAX_LINE_BYTES, 5], None),
            (vec![10, MAX_LINE_BYTES + 1], Some(2)),
            (vec![MAX_LINE_BYTES + 1, 10], Some(1)),
        ];
        for (lengths, too_long) in cases {
            for end in ["\n", "\r", "\r\n"] {
                let lines: Vec<String> = lengths.iter().map(|&length| "x".repeat(length)).collect();
                std::fs::write(&path, lines.join(end)).unwrap();
                match (read_lines_or_bytes(&place), too_long) {
                    (Ok(bytes), None) => assert_eq!(bytes, std::fs::read(&path).unwrap()),
                    (Err(error), Some(line)) => {
                        assert_eq!(error.code(), "I5");
                        let said = error.to_string();
                        assert!(said.contains(&format!("line {line} is longer")), "{said}");
                    }
                    (read, _) => panic!("{lengths:?} {end:?}: {:?}", read.map(|bytes| bytes.len())),
                }
            }
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn files_of_the_kernel_and_pipes_do_not_block() {
        // Reading the messages of the kernel waits for the next one.
        assert_eq!(read_file("/proc/kmsg").map_or(0, |bytes| bytes.len()), 0);
        assert_eq!(read_file("/dev/zero").unwrap_err().code(), "S5");
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe.txt");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        assert_eq!(
            read_file(&pipe.display().to_string()).unwrap_err().code(),
            "S5"
        );
    }
}
