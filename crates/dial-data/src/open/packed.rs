//! Files compressed by gzip or zstd: every reader gets what they unpack to.
//!
//! What a file is packed by is known by its first bytes. Members of gzip and frames of zstd that follow each other are
//! one file, as their own tools read them. Nothing that a stream says of its length is trusted: bytes are counted as
//! they come out ([`Packing::check`]), and zstd looks back at most [`MAX_WINDOW_BYTES`].

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::arrays::inflate::{HARMLESS_BYTES, MOST_FOLD};
use crate::error::{Fault, size_in_words};
use crate::open::sniff;

/// The longest window of a zstd stream, which is held in memory: what zstd itself allows unless it is told otherwise.
const MAX_WINDOW_BYTES: u64 = 128 << 20;
/// A format that packs its values itself gains little by being packed again; more than this is a bomb in a bomb.
const MOST_FOLD_TWICE: u64 = 10;
/// Up to this, packing twice does no harm.
const HARMLESS_TWICE_BYTES: u64 = 1 << 20;

/// How files are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Gzip,
    Zstd,
}

/// Endings, beginnings and names of the packings.
const PACKINGS: [(Packing, &str, &[u8], &str); 2] = [
    (Packing::Gzip, ".gz", b"\x1f\x8b", "gzip"),
    (Packing::Zstd, ".zst", b"\x28\xb5\x2f\xfd", "zstd"),
];

/// How the names of packed files end.
pub(crate) const ENDINGS: [&str; 2] = [PACKINGS[0].1, PACKINGS[1].1];

/// What packed files begin with, and what that is.
pub(crate) const BEGINNINGS: [(&[u8], &str); 2] = [
    (PACKINGS[0].2, PACKINGS[0].3),
    (PACKINGS[1].2, PACKINGS[1].3),
];

/// The name of a file without the ending of its packing: `x.csv` of `x.csv.gz`.
pub(crate) fn bare(name: &str) -> &str {
    let cut = ENDINGS.iter().find_map(|ending| {
        let at = name.len().checked_sub(ending.len())?;
        let (stem, end) = name.split_at_checked(at)?;
        end.eq_ignore_ascii_case(ending).then_some(stem)
    });
    cut.unwrap_or(name)
}

impl Packing {
    /// How a file that begins so is packed.
    pub fn of(beginning: &[u8]) -> Option<Packing> {
        PACKINGS
            .iter()
            .find(|(_, _, magic, _)| beginning.starts_with(magic))
            .map(|&(packing, ..)| packing)
    }

    /// How a file should be packed that is named so.
    pub fn named(name: &str) -> Option<Packing> {
        let ending = name.strip_prefix(bare(name))?.to_ascii_lowercase();
        PACKINGS
            .iter()
            .find(|(_, known, ..)| *known == ending)
            .map(|&(packing, ..)| packing)
    }

    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Packing::Gzip => PACKINGS[0].3,
            Packing::Zstd => PACKINGS[1].3,
        }
    }

    /// Refuses what unpacks to more than the packed bytes warrant, however much more is to come.
    pub fn check(self, packed: u64, unpacked: usize) -> Result<(), Fault> {
        match unpacked as u64 > HARMLESS_BYTES.max(packed.saturating_mul(MOST_FOLD)) {
            true => Err(self.bomb(packed, unpacked, MOST_FOLD)),
            false => Ok(()),
        }
    }

    /// The same, narrower, for a format that packs its values itself: it could be a bomb in turn.
    pub fn check_twice(self, packed: u64, unpacked: usize) -> Result<(), Fault> {
        let most = HARMLESS_TWICE_BYTES.max(packed.saturating_mul(MOST_FOLD_TWICE));
        match unpacked as u64 > most {
            true => Err(self.bomb(packed, unpacked, MOST_FOLD_TWICE)),
            false => Ok(()),
        }
    }

    /// Refuses what was packed twice, and archives of several files.
    pub fn check_content(self, unpacked: &[u8]) -> Result<(), Fault> {
        let word = self.word();
        let tar = unpacked.get(257..262) == Some(b"ustar");
        match Packing::of(unpacked) {
            _ if tar => Err(Fault::format(
                format!("this is a tar archive packed by {word}"),
                "Unpack it, and give one of its files or its folder.",
            )),
            Some(inner) => Err(Fault::format(
                format!("this is {} packed once more by {word}", inner.word()),
                "Unpack it once, then give the unpacked file.",
            )),
            None => Ok(()),
        }
    }

    /// The fault of a file that is named as packed and is not.
    pub fn is_not(self, bytes: &[u8]) -> Fault {
        let what = sniff::not_what(&format!("a {} file", self.word()), bytes);
        let next = "Copy it again, or take the ending off its name if it was unpacked on the way.";
        Fault::format(what, next)
    }

    fn bomb(self, packed: u64, unpacked: usize, fold: u64) -> Fault {
        let (what, packed) = (self.word(), size_in_words(packed));
        let unpacked = size_in_words(unpacked as u64);
        Fault::Bomb(format!(
            "{packed} of {what} unpack to {unpacked} or more, beyond {fold} times as much"
        ))
    }
}

/// What a packed file unpacks to.
pub(crate) struct Unpacker<R> {
    /// How it is packed.
    pub packing: Packing,
    stream: Stream<Ending<R>>,
    ended: Rc<Cell<bool>>,
}

enum Stream<R> {
    Gzip(MultiGzDecoder<BufReader<R>>),
    Zstd(Box<Frames<BufReader<R>>>),
}

impl<R: Read> Unpacker<R> {
    pub fn new(packing: Packing, file: R) -> Unpacker<R> {
        let ended = Rc::new(Cell::new(false));
        let file = BufReader::new(Ending {
            inner: file,
            ended: Rc::clone(&ended),
        });
        let stream = match packing {
            Packing::Gzip => Stream::Gzip(MultiGzDecoder::new(file)),
            Packing::Zstd => Stream::Zstd(Box::new(Frames::new(file))),
        };
        Unpacker {
            packing,
            stream,
            ended,
        }
    }

    /// The fault of a stream that failed after these bytes came out.
    pub fn broken(&self, error: &io::Error, unpacked: &[u8]) -> Fault {
        let word = self.packing.word();
        let mut place = format!("after {} unpacked", size_in_words(unpacked.len() as u64));
        if !unpacked.contains(&0) {
            let lines = unpacked.iter().filter(|&&byte| byte == b'\n').count();
            place += &format!(", in line {}", lines + 1);
        }
        if error.kind() == io::ErrorKind::OutOfMemory {
            return Fault::io(error, "cannot unpack this file");
        }
        match self.ended.get() {
            true => Fault::damaged(format!("the {word} data end too early, {place}")),
            false => Fault::damaged(format!("the {word} data are broken {place} ({error})")),
        }
    }
}

impl<R: Read> Read for Unpacker<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.stream {
            Stream::Gzip(stream) => stream.read(buffer),
            Stream::Zstd(stream) => stream.read(buffer),
        }
    }
}

/// A file that remembers whether more was asked of it than it holds.
struct Ending<R> {
    inner: R,
    ended: Rc<Cell<bool>>,
}

impl<R: Read> Read for Ending<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        if read == 0 && !buffer.is_empty() {
            self.ended.set(true);
        }
        Ok(read)
    }
}

/// The frames of a zstd file, one after the other. Those that hold no data are skipped.
struct Frames<R> {
    file: R,
    /// That of the frame which was begun and not ended. Each has its own: one that is used again makes room for the whole
    /// window that a frame claims.
    decoder: Option<FrameDecoder>,
}

impl<R: BufRead> Frames<R> {
    fn new(file: R) -> Frames<R> {
        Frames {
            file,
            decoder: None,
        }
    }

    /// Begins the next frame.
    fn begin(&mut self) -> io::Result<()> {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MAX_WINDOW_BYTES);
        match decoder.init(&mut self.file) {
            Ok(()) => self.decoder = Some(decoder),
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                let mut skipped = self.file.by_ref().take(length.into());
                if io::copy(&mut skipped, &mut io::sink())? < length.into() {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            Err(FrameDecoderError::WindowSizeTooBig { requested, max }) => {
                let (found, most) = (size_in_words(requested), size_in_words(max));
                return Err(io::Error::other(format!(
                    "its window of {found} is beyond {most}: compress it without --long"
                )));
            }
            Err(error) => return Err(io::Error::other(error)),
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let Some(decoder) = &mut self.decoder else {
                if self.file.fill_buf()?.is_empty() {
                    return Ok(0);
                }
                self.begin()?;
                continue;
            };
            while decoder.can_collect() == 0 && !decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                let decoded = decoder.decode_blocks(&mut self.file, one);
                decoded.map_err(io::Error::other)?;
            }
            let read = decoder.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            let stated = decoder.get_checksum_from_data();
            if stated.is_some() && stated != decoder.get_calculated_checksum() {
                return Err(io::Error::other("its checksum does not match"));
            }
            self.decoder = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        compress_to_vec(bytes, CompressionLevel::Fastest)
    }

    fn unpacked(bytes: &[u8]) -> Result<Vec<u8>, Fault> {
        let mut from = Unpacker::new(Packing::of(bytes).unwrap(), bytes);
        let mut out = Vec::new();
        match from.read_to_end(&mut out) {
            Ok(_) => Ok(out),
            Err(error) => Err(from.broken(&error, &out)),
        }
    }

    #[test]
    fn names() {
        let cases = [
            ("x.csv.gz", "x.csv", Some(Packing::Gzip)),
            ("X.JSONL.ZST", "X.JSONL", Some(Packing::Zstd)),
            ("x.csv", "x.csv", None),
            ("gz", "gz", None),
            ("é.gz", "é", Some(Packing::Gzip)),
            ("日", "日", None),
        ];
        for (name, stem, packing) in cases {
            assert_eq!((bare(name), Packing::named(name)), (stem, packing));
        }
    }

    #[test]
    fn members_and_frames_follow_each_other() {
        let (one, two) = (b"a,b\n1,2\n".as_slice(), b"3,4\n".as_slice());
        let both = [one, two].concat();
        assert_eq!(unpacked(&[gzip(one), gzip(two)].concat()), Ok(both.clone()));
        assert_eq!(unpacked(&[zstd(one), zstd(two)].concat()), Ok(both.clone()));
        let skipped = b"\x50\x2a\x4d\x18\x03\0\0\0xyz".to_vec();
        let between = [zstd(one), skipped.clone(), zstd(two), skipped].concat();
        assert_eq!(unpacked(&between), Ok(both));
    }

    /// Every cut and every changed byte is a fault or changes nothing: both packings have checksums.
    #[test]
    fn what_is_damaged_is_never_read() {
        let text: Vec<u8> = (0..4000u32)
            .flat_map(|i| format!("{},{}\n", i, i * i % 97).into_bytes())
            .collect();
        for packed in [gzip(&text), zstd(&text)] {
            assert_eq!(unpacked(&packed).as_ref(), Ok(&text));
            for end in (4..packed.len()).step_by(7) {
                let fault = unpacked(&packed[..end]).unwrap_err().to_string();
                assert!(fault.contains("data end too early, after "), "{fault}");
            }
            for at in (4..packed.len()).step_by(5) {
                let mut changed = packed.clone();
                changed[at] ^= 0x10;
                assert!(
                    unpacked(&changed).is_ok_and(|out| out == text) || unpacked(&changed).is_err()
                );
            }
        }
    }

    #[test]
    fn limits() {
        let harmless = HARMLESS_BYTES as usize;
        assert!(Packing::Gzip.check(1, harmless).is_ok());
        assert!(Packing::Gzip.check(1 << 20, 200 << 20).is_ok());
        let text = Packing::Zstd.check(1 << 10, harmless + 1);
        let text = text.unwrap_err().to_string();
        assert!(
            text.starts_with(
                "1.0 KiB of zstd unpack to 64.0 MiB or more, beyond 200 times as much."
            ),
            "{text}"
        );
        assert!(Packing::Gzip.check_twice(1 << 20, 10 << 20).is_ok());
        assert!(Packing::Gzip.check_twice(1 << 20, (10 << 20) + 1).is_err());
        // A window of 2 GiB: exponent 21 in the upper five bits.
        let long = b"\x28\xb5\x2f\xfd\x00\xa8\x01\0\0";
        let fault = unpacked(long).unwrap_err().to_string();
        assert!(
            fault.contains("its window of 2.0 GiB is beyond 128.0 MiB"),
            "{fault}"
        );
    }
}
