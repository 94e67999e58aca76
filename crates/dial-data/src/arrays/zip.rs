//! The ZIP archives that hold npz files: stored and deflated members, with ZIP64.
//!
//! The central directory at the end is the truth; each local header must agree with it. Members must lie apart,
//! before the directory. Encryption, other packings and wrong checksums are refused.

use flate2::Crc;
use flate2::bufread::DeflateDecoder;

use crate::arrays::bytes::Bytes;
use crate::arrays::inflate;
use crate::error::Fault;
use crate::open::sniff;

/// A member of the archive, its data located.
#[derive(Clone, Debug)]
pub(crate) struct Member<'a> {
    pub name: String,
    /// Declared unpacked size.
    pub size: u64,
    packed: &'a [u8],
    deflated: bool,
    crc: u32,
}

/// The central directory's word on a member.
struct Entry {
    name: Vec<u8>,
    flags: u16,
    method: u16,
    crc: u32,
    packed: u64,
    size: u64,
    offset: u64,
}

impl Member<'_> {
    /// The whole member, its size and checksum verified.
    pub fn read(&self) -> Result<Vec<u8>, Fault> {
        let data = match self.deflated {
            true => inflate::exactly(
                DeflateDecoder::new(self.packed),
                self.packed.len(),
                self.size,
            )?,
            false => self.packed.to_vec(),
        };
        let mut crc = Crc::new();
        crc.update(&data);
        match crc.sum() == self.crc {
            true => Ok(data),
            false => Err(Fault::damaged("the checksum does not match")),
        }
    }

    /// Its first bytes, as far as they can be read.
    pub fn beginning(&self, limit: usize) -> Vec<u8> {
        match self.deflated {
            true => inflate::beginning(DeflateDecoder::new(self.packed), limit as u64),
            false => self.packed.iter().take(limit).copied().collect(),
        }
    }
}

/// The members of an archive, in the order of its directory.
pub(crate) fn members(bytes: &[u8]) -> Result<Vec<Member<'_>>, Fault> {
    let (count, size, start) = directory(bytes)?;
    let end = start
        .checked_add(size)
        .filter(|&end| end <= bytes.len() as u64);
    let end = end.ok_or_else(|| Fault::damaged("the ZIP directory lies outside the file"))?;
    let area = bytes.get(start as usize..end as usize).unwrap_or_default();
    let mut from = Bytes::new(area, 0, false);
    let mut members = Vec::new();
    let mut ranges = Vec::new();
    for _ in 0..count {
        let entry =
            entry(&mut from).ok_or_else(|| Fault::damaged("the ZIP directory cannot be read"))?;
        let (member, range) = member(bytes, start, entry)?;
        members.push(member);
        ranges.push(range);
    }
    ranges.sort_unstable();
    match ranges
        .iter()
        .zip(ranges.iter().skip(1))
        .any(|(one, next)| one.1 > next.0)
    {
        true => Err(Fault::damaged("members of the ZIP archive overlap")),
        false => Ok(members),
    }
}

/// Number of members, size and start of the central directory, from the record at the end of the file.
fn directory(bytes: &[u8]) -> Result<(u64, u64, u64), Fault> {
    if !bytes.starts_with(b"PK") {
        return Err(sniff::not_a("an NPZ file", bytes));
    }
    let cut = || Fault::damaged("the ZIP archive has no directory at its end");
    let earliest = bytes.len().saturating_sub(22 + 65_535);
    let fits = |&at: &usize| {
        let comment = Bytes::new(bytes, at + 20, false).u16();
        bytes.get(at..at + 4) == Some(b"PK\x05\x06")
            && comment.is_some_and(|c| at + 22 + usize::from(c) == bytes.len())
    };
    let at = (earliest..=bytes.len().saturating_sub(22))
        .rev()
        .find(fits)
        .ok_or_else(cut)?;
    let mut from = Bytes::new(bytes, at + 10, false);
    let count = from.u16().ok_or_else(cut)?;
    let (size, start) = from.u32().zip(from.u32()).ok_or_else(cut)?;
    if count == u16::MAX || size == u32::MAX || start == u32::MAX {
        return directory64(bytes, at)
            .ok_or_else(|| Fault::damaged("the ZIP64 directory cannot be read"));
    }
    Ok((u64::from(count), u64::from(size), u64::from(start)))
}

fn directory64(bytes: &[u8], end: usize) -> Option<(u64, u64, u64)> {
    let mut locator = Bytes::new(bytes, end.checked_sub(20)?, false);
    (locator.take(4)? == b"PK\x06\x07").then_some(())?;
    locator.u32()?;
    let mut record = Bytes::new(bytes, usize::try_from(locator.u64()?).ok()?, false);
    (record.take(4)? == b"PK\x06\x06").then_some(())?;
    record.take(8 + 2 + 2 + 4 + 4 + 8)?;
    Some((record.u64()?, record.u64()?, record.u64()?))
}

fn entry(from: &mut Bytes<'_>) -> Option<Entry> {
    (from.take(4)? == b"PK\x01\x02").then_some(())?;
    from.take(4)?; // Versions.
    let (flags, method) = (from.u16()?, from.u16()?);
    from.take(4)?; // Time and date.
    let crc = from.u32()?;
    let (packed, size) = (from.u32()?, from.u32()?);
    let (name, extra, comment) = (from.u16()?, from.u16()?, from.u16()?);
    from.take(8)?; // Disk and attributes.
    let offset = from.u32()?;
    let name = from.take(usize::from(name))?.to_vec();
    let extra = from.take(usize::from(extra))?;
    from.take(usize::from(comment))?;
    let mut wide = zip64(extra);
    let mut full = |short: u32| match short {
        u32::MAX => wide.as_mut().and_then(Bytes::u64),
        _ => Some(u64::from(short)),
    };
    let (size, packed, offset) = (full(size)?, full(packed)?, full(offset)?);
    Some(Entry {
        name,
        flags,
        method,
        crc,
        packed,
        size,
        offset,
    })
}

/// The ZIP64 part of an extra field: 64-bit size, packed size and offset, each only where the short one is full.
fn zip64(extra: &[u8]) -> Option<Bytes<'_>> {
    let mut from = Bytes::new(extra, 0, false);
    loop {
        let (id, length) = (from.u16()?, from.u16()?);
        let data = from.take(usize::from(length))?;
        if id == 1 {
            return Some(Bytes::new(data, 0, false));
        }
    }
}

/// Locates the data of an entry, with the range of the file it covers.
fn member(bytes: &[u8], directory: u64, entry: Entry) -> Result<(Member<'_>, (u64, u64)), Fault> {
    let name = String::from_utf8_lossy(&entry.name).into_owned();
    let fault = |what: &str| Fault::damaged(format!("{name}: {what}"));
    if entry.flags & 0x2041 != 0 {
        return Err(Fault::format(
            format!("{name} is encrypted"),
            "Save it without a password.",
        ));
    }
    if entry.method != 0 && entry.method != 8 {
        let what = format!(
            "{name} is packed by method {}, only stored and deflated are read",
            entry.method
        );
        return Err(Fault::format(
            what,
            "Save it with numpy.savez or numpy.savez_compressed.",
        ));
    }
    if entry.method == 0 && entry.packed != entry.size {
        return Err(fault("is stored, but its two sizes differ"));
    }
    let start = local_data(bytes, &entry).ok_or_else(|| fault("has no valid local header"))?;
    let end = start
        .checked_add(entry.packed)
        .filter(|&end| end <= directory);
    let end = end.ok_or_else(|| fault("reaches past the data of the archive"))?;
    let packed = bytes.get(start as usize..end as usize).unwrap_or_default();
    let member = Member {
        size: entry.size,
        packed,
        deflated: entry.method == 8,
        crc: entry.crc,
        name,
    };
    Ok((member, (entry.offset, end)))
}

/// Where the data of an entry start, if its local header is there and has the same name.
fn local_data(bytes: &[u8], entry: &Entry) -> Option<u64> {
    let mut from = Bytes::new(bytes, usize::try_from(entry.offset).ok()?, false);
    (from.take(4)? == b"PK\x03\x04").then_some(())?;
    from.take(22)?;
    let (name, extra) = (from.u16()?, from.u16()?);
    (from.take(usize::from(name))? == entry.name.as_slice()).then_some(())?;
    from.take(usize::from(extra))?;
    Some(from.at() as u64)
}
