//! What is embedded: texts, or pictures that are loaded one by one when their turn comes.

use std::borrow::Cow;
use std::sync::Mutex;

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::media::images::{self, Bitmap};
use crate::pool::matrix::Matrix;
use crate::pool::show::{Images, Picture};

/// What tells the content of an item from that of others: its SHA-256.
pub(super) type Key = [u8; 32];

/// The items of a pool.
#[derive(Clone, Copy)]
pub(crate) enum Items<'a> {
    Texts(&'a [String]),
    Pictures(&'a dyn Pictures),
}

/// Pictures, wherever they lie.
pub(crate) trait Pictures: Sync {
    fn count(&self) -> usize;
    /// What tells the content of a picture from that of others.
    fn key(&self, item: usize) -> Result<Key>;
    fn load(&self, item: usize) -> Result<Cow<'_, Bitmap>>;
}

impl Items<'_> {
    pub fn count(&self) -> usize {
        match self {
            Items::Texts(texts) => texts.len(),
            Items::Pictures(pictures) => pictures.count(),
        }
    }

    pub fn key(&self, item: usize) -> Result<Key> {
        match self {
            Items::Texts(texts) => {
                Ok(Sha256::digest(texts.get(item).map_or("", String::as_str)).into())
            }
            Items::Pictures(pictures) => pictures.key(item),
        }
    }

    /// What the items are, in the plural.
    pub fn word(&self) -> &'static str {
        match self {
            Items::Texts(_) => "texts",
            Items::Pictures(_) => "pictures",
        }
    }
}

/// Picture files.
pub(crate) struct Files<'a> {
    images: &'a Images,
    /// Held while a large picture is decoded: they take their turns, which bounds the memory.
    large: Mutex<()>,
}

impl<'a> Files<'a> {
    pub fn new(images: &'a Images) -> Files<'a> {
        Files {
            images,
            large: Mutex::new(()),
        }
    }

    fn path(&self, item: usize) -> std::path::PathBuf {
        self.images.folder.join(&self.images.files[item])
    }
}

impl Pictures for Files<'_> {
    fn count(&self) -> usize {
        self.images.files.len()
    }

    fn key(&self, item: usize) -> Result<Key> {
        let bytes = images::checked_file(&self.path(item).display().to_string())?;
        Ok(Sha256::digest(bytes).into())
    }

    fn load(&self, item: usize) -> Result<Cow<'_, Bitmap>> {
        images::load_in_turn(self.path(item), None, || self.large.lock()).map(Cow::Owned)
    }
}

/// Grey pictures that are rows of numbers.
pub(crate) struct Rows<'a> {
    pub pixels: &'a Matrix,
    pub picture: Picture,
}

impl Rows<'_> {
    fn bitmap(&self, item: usize) -> Bitmap {
        let Picture {
            height,
            width,
            lowest,
            highest,
        } = self.picture;
        let range = if highest > lowest {
            highest - lowest
        } else {
            1.0
        };
        let grey = |column| {
            let share = (self.pixels.get(item, column) - lowest) / range;
            (share * 255.0).round().clamp(0.0, 255.0) as u8
        };
        Bitmap {
            width: width as u32,
            height: height as u32,
            rgb: (0..height * width)
                .flat_map(|column| [grey(column); 3])
                .collect(),
        }
    }
}

impl Pictures for Rows<'_> {
    fn count(&self) -> usize {
        self.pixels.n
    }

    fn key(&self, item: usize) -> Result<Key> {
        Ok(bitmap_key(&self.bitmap(item)))
    }

    fn load(&self, item: usize) -> Result<Cow<'_, Bitmap>> {
        Ok(Cow::Owned(self.bitmap(item)))
    }
}

impl Pictures for &[Bitmap] {
    fn count(&self) -> usize {
        self.len()
    }

    fn key(&self, item: usize) -> Result<Key> {
        Ok(bitmap_key(&self[item]))
    }

    fn load(&self, item: usize) -> Result<Cow<'_, Bitmap>> {
        Ok(Cow::Borrowed(&self[item]))
    }
}

fn bitmap_key(bitmap: &Bitmap) -> Key {
    let mut sum = Sha256::new();
    sum.update(bitmap.width.to_le_bytes());
    sum.update(bitmap.height.to_le_bytes());
    sum.update(&bitmap.rgb);
    sum.finalize().into()
}

/// An error for each item that has one.
pub(crate) type Errors = Vec<Option<Error>>;
