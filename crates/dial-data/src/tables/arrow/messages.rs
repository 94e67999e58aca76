//! The messages of an Arrow stream or file, walked before they are decoded: lengths against the file, packed sizes
//! against what they claim to unpack to.
//!
//! A message is `FF FF FF FF`, a length, a description of that many bytes and, as the description says, a body. Each packed
//! buffer of a body begins with its unpacked length (8 bytes; -1 if it is not packed). A file ends in a table of its
//! blocks, each a message; what else may lie between them is never looked at (some writers leave the schema bare there).

use arrow_ipc::{
    Block, CompressionType, Message, MessageHeader, RecordBatch, root_as_footer, root_as_message,
};

use crate::arrays::inflate::within;
use crate::error::{Fault, size_in_words};

/// The marks at the beginning and the end of a file.
pub(super) const ARROW_MAGIC: &[u8] = b"ARROW1";

/// Checks every block of a file. Blocks that overlap would let a small file mean a large one.
pub(super) fn check_file(file: &[u8]) -> Result<(), Fault> {
    let short = || Fault::Size("the file ends before its last mark".into());
    let rest = file.strip_suffix(ARROW_MAGIC).ok_or_else(short)?;
    let (rest, length) = rest.split_last_chunk::<4>().ok_or_else(short)?;
    let start = usize::try_from(i32::from_le_bytes(*length))
        .ok()
        .and_then(|length| rest.len().checked_sub(length));
    let start =
        start.ok_or_else(|| Fault::Size("the table of contents is longer than the file".into()))?;
    let (body, footer) = rest.split_at_checked(start).unwrap_or_default();
    let footer = root_as_footer(footer).map_err(super::damaged)?;
    let mut left = body.len();
    for block in footer
        .dictionaries()
        .iter()
        .flatten()
        .chain(footer.recordBatches().iter().flatten())
    {
        let length = checked_block(block, body)?;
        let overlap = || Fault::Size("blocks overlap or reach beyond the file".into());
        left = left.checked_sub(length).ok_or_else(overlap)?;
    }
    Ok(())
}

/// Checks a block; gives its length.
fn checked_block(block: &Block, file: &[u8]) -> Result<usize, Fault> {
    let parts = (
        usize::try_from(block.metaDataLength()),
        usize::try_from(block.bodyLength()),
    );
    let place = usize::try_from(block.offset())
        .ok()
        .zip(parts.0.ok().zip(parts.1.ok()));
    let part = place.and_then(|(start, (head, body))| {
        file.get(start..start.checked_add(head)?.checked_add(body)?)?
            .split_at_checked(head)
    });
    let (head, body) = part.ok_or_else(|| Fault::Size("a block reaches beyond the file".into()))?;
    let start = if number(head, 0) == Some(-1) { 8 } else { 4 };
    let description = head
        .get(start..)
        .ok_or_else(|| Fault::Size("a block without its description".into()))?;
    contents(&root_as_message(description).map_err(super::damaged)?, body)?;
    Ok(head.len() + body.len())
}

/// Checks every message of a stream.
pub(super) fn check(stream: &[u8]) -> Result<(), Fault> {
    let mut rest = stream;
    while !rest.is_empty() {
        let short = || {
            Fault::Size(format!(
                "the stream ends within a message ({} are left)",
                size_in_words(rest.len() as u64)
            ))
        };
        let (start, length) = match number(rest, 0).ok_or_else(short)? {
            -1 => (8, number(rest, 4).ok_or_else(short)?),
            old => (4, old),
        };
        if length == 0 {
            return Ok(());
        }
        let end = usize::try_from(length)
            .ok()
            .and_then(|length| length.checked_add(start))
            .ok_or_else(short)?;
        let description = rest.get(start..end).ok_or_else(short)?;
        let message = root_as_message(description).map_err(super::damaged)?;
        let body = usize::try_from(message.bodyLength())
            .ok()
            .and_then(|length| length.checked_add(end));
        let body = body
            .and_then(|stop| rest.get(end..stop))
            .ok_or_else(short)?;
        contents(&message, body)?;
        rest = rest.get(end + body.len()..).unwrap_or_default();
    }
    Ok(())
}

/// Checks what a message describes.
fn contents(message: &Message<'_>, body: &[u8]) -> Result<(), Fault> {
    let batch = match message.header_type() {
        MessageHeader::RecordBatch => message.header_as_record_batch(),
        MessageHeader::DictionaryBatch => message
            .header_as_dictionary_batch()
            .and_then(|batch| batch.data()),
        _ => None,
    };
    batch.map_or(Ok(()), |batch| buffers(&batch, body))
}

fn number(bytes: &[u8], at: usize) -> Option<i32> {
    bytes
        .get(at..at + 4)?
        .try_into()
        .ok()
        .map(i32::from_le_bytes)
}

/// Checks that the buffers of a batch lie in its body, and what they unpack to.
fn buffers(batch: &RecordBatch<'_>, body: &[u8]) -> Result<(), Fault> {
    let packing = batch.compression().map(|compression| compression.codec());
    if packing
        .is_some_and(|codec| codec != CompressionType::LZ4_FRAME && codec != CompressionType::ZSTD)
    {
        let next = "Write it with LZ4 or without packing: in pandas, to_feather(path, compression=\"lz4\").";
        return Err(Fault::format(
            "compressed in a way that dial does not read",
            next,
        ));
    }
    for buffer in batch.buffers().iter().flatten() {
        let place = usize::try_from(buffer.offset())
            .ok()
            .zip(usize::try_from(buffer.length()).ok());
        let bytes = place.and_then(|(start, length)| body.get(start..start.checked_add(length)?));
        let bytes =
            bytes.ok_or_else(|| Fault::Size("a column reaches beyond its message".into()))?;
        let first = bytes
            .get(..8)
            .and_then(|first| first.try_into().ok())
            .filter(|_| packing.is_some());
        let declared = first.map_or(0, i64::from_le_bytes);
        within(
            bytes.len(),
            u64::try_from(declared).unwrap_or(0),
            super::MAX_EXPANSION,
        )?;
    }
    Ok(())
}
