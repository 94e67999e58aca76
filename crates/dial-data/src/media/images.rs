//! Picture files for showing and describing: PNG and JPEG, known by their content, with limits before decoding.
//!
//! The header alone decides whether a picture is decoded: at most 100 million pixels, 20,000 on a side and 256 MiB of
//! decoded values, and no more pixels than the bytes of the file can stand for. Every row of a PNG is deflated, which
//! shrinks at most 1032 to 1; every block of 8 x 8 values of a JPEG takes at least one bit. The tag of orientation
//! (EXIF) is applied, 16 bits become 8, what is transparent lies over white, and of animations the first frame is taken.
//! Colour profiles are not applied. A JPEG without its end marker was cut, though decoders would fill it up with grey.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use image::codecs::jpeg::JpegDecoder;
use image::codecs::png::{PngDecoder, PngEncoder};
use image::metadata::Orientation;
use image::{DynamicImage, ExtendedColorType, ImageDecoder, ImageEncoder, ImageError, Limits};

use crate::error::{Error, Fault, Result, size_in_words};
use crate::media::resample;
use crate::open::read_file;

const MAX_DECODED_PIXELS: u64 = 100_000_000;
const LONGEST_SIDE: u32 = 20_000;
/// Of the file, and of the decoded values.
const MOST_BYTES: u64 = 256 << 20;

/// Beginnings of pictures that we do not read.
const OTHER_IMAGE_FORMATS: [(&[u8], &str); 11] = [
    (b"GIF8", "a GIF picture"),
    (b"RIFF", "a WebP picture"),
    (b"BM", "a BMP picture"),
    (b"II*\0", "a TIFF picture"),
    (b"MM\0*", "a TIFF picture"),
    (b"<svg", "an SVG drawing"),
    (b"<?xml", "an SVG drawing or other XML"),
    (b"\0\0\x01\0", "an icon"),
    (b"%PDF", "a PDF"),
    (b"8BPS", "a Photoshop file"),
    (b"\0\0\0\x0cjP", "a JPEG 2000 picture"),
];

/// A picture in 8-bit red, green and blue, row after row from the upper left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bitmap {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Three bytes a pixel.
    pub rgb: Vec<u8>,
}

impl Bitmap {
    /// This picture as a PNG file.
    ///
    /// # Panics
    /// If `rgb` does not hold `3 * width * height` bytes, or a side is 0.
    pub fn to_png(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        PngEncoder::new(&mut bytes)
            .write_image(&self.rgb, self.width, self.height, ExtendedColorType::Rgb8)
            .expect("a bitmap holds its pixels, and memory takes what is written");
        bytes
    }

    /// This picture with its longest side at most `side`, each new pixel the mean of those it covers.
    #[must_use]
    pub fn shrunk(self, longest_side: u32) -> Bitmap {
        let longest = self.width.max(self.height);
        if longest <= longest_side.max(1) {
            return self;
        }
        let scaled = |side: u32| {
            (u64::from(side) * u64::from(longest_side) / u64::from(longest)).max(1) as u32
        };
        let (width, height) = (scaled(self.width), scaled(self.height));
        let values = resample::resized(&self, width as usize, height as usize);
        Bitmap {
            width,
            height,
            rgb: values
                .iter()
                .map(|value| libm::roundf(*value) as u8)
                .collect(),
        }
    }
}

/// Reads a picture file, shrunk to a longest side if one is given. Nothing is decoded beyond the limits above; the error
/// then says how large the picture is, and [`reason`] says it briefly, for a placeholder.
pub fn load(path: impl AsRef<Path>, longest_side: Option<u32>) -> Result<Bitmap> {
    load_in_turn(path, longest_side, || ())
}

/// The same; a large picture is decoded while what `large` gives is held, so that it can wait until others are done.
///
/// # Errors
/// As [`load`].
pub fn load_in_turn<T>(
    path: impl AsRef<Path>,
    longest_side: Option<u32>,
    large: impl FnOnce() -> T,
) -> Result<Bitmap> {
    let place = path.as_ref().display().to_string();
    let bytes = checked_file(&place)?;
    let _turn = is_large(&bytes).then(large);
    let bitmap = decode(&bytes).map_err(|fault| fault.at(&place))?;
    Ok(match longest_side {
        Some(side) => bitmap.shrunk(side),
        None => bitmap,
    })
}

/// Why a picture cannot be shown or described, in a few words: `image too large to show (60000 x 60000)`.
pub fn reason(error: &Error) -> String {
    match &error.fault {
        Fault::TooLarge(what) | Fault::Format { what, .. } | Fault::Io(what) => what.clone(),
        Fault::Missing => "no such file".into(),
        fault => fault.to_string(),
    }
}

/// The bytes of a picture file that is not itself too large.
pub(crate) fn checked_file(place: &str) -> Result<Vec<u8>> {
    let length = fs::metadata(place).map_or(0, |data| data.len());
    if length > MOST_BYTES {
        return Err(Fault::TooLarge(format!(
            "image too large to show (a file of {})",
            size_in_words(length)
        ))
        .at(place));
    }
    read_file(place)
}

/// Whether decoding takes so much memory that pictures like this should be taken one at a time.
pub(crate) fn is_large(bytes: &[u8]) -> bool {
    let size = png_header(bytes)
        .map(|(width, height, _)| (width, height))
        .or_else(|| whole_jpeg(bytes).ok());
    size.is_some_and(|(width, height)| u64::from(width) * u64::from(height) > 16_000_000)
}

/// Decodes the bytes of a PNG or JPEG file.
pub(crate) fn decode(bytes: &[u8]) -> Result<Bitmap, Fault> {
    let mut limits = Limits::default();
    limits.max_image_width = Some(LONGEST_SIDE);
    limits.max_image_height = Some(LONGEST_SIDE);
    limits.max_alloc = Some(MOST_BYTES);
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => {
            let (width, height, bits) =
                png_header(bytes).ok_or_else(|| Fault::damaged("a PNG without its header"))?;
            within_limits(width, height, 1)?;
            let packed = u64::from(height) * (1 + (u64::from(width) * u64::from(bits)).div_ceil(8));
            warranted(packed / 1032, bytes, (width, height))?;
            // A small picture does not need all that memory for its colour profile and its comments.
            limits.max_alloc =
                Some(MOST_BYTES.min(8 * u64::from(width) * u64::from(height) + (16 << 20)));
            decoded(PngDecoder::with_limits(Cursor::new(bytes), limits).map_err(damaged)?)
        }
        [0xff, 0xd8, 0xff, ..] => {
            let (width, height) = whole_jpeg(bytes)?;
            within_limits(width, height, 1)?;
            warranted(
                u64::from(width) * u64::from(height) / 512,
                bytes,
                (width, height),
            )?;
            let mut decoder = JpegDecoder::new(Cursor::new(bytes)).map_err(damaged)?;
            decoder.set_limits(limits).map_err(damaged)?;
            decoded(decoder)
        }
        _ => Err(not_a_picture(bytes)),
    }
}

fn decoded(mut decoder: impl ImageDecoder) -> Result<Bitmap, Fault> {
    let (width, height) = decoder.dimensions();
    within_limits(
        width,
        height,
        u64::from(decoder.color_type().bytes_per_pixel()),
    )?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let picture = DynamicImage::from_decoder(decoder).map_err(damaged)?;
    let mut plain = DynamicImage::ImageRgb8(over_white(picture));
    plain.apply_orientation(orientation);
    let plain = plain.into_rgb8();
    Ok(Bitmap {
        width: plain.width(),
        height: plain.height(),
        rgb: plain.into_raw(),
    })
}

/// Eight bits of red, green and blue; what is transparent lies over white.
fn over_white(picture: DynamicImage) -> image::RgbImage {
    if !picture.color().has_alpha() {
        return picture.into_rgb8();
    }
    let picture = picture.into_rgba8();
    let (width, height) = picture.dimensions();
    let mix = |value: u8, alpha: u8| {
        let sum = u32::from(value) * u32::from(alpha) + 255 * (255 - u32::from(alpha));
        ((sum + 127) / 255) as u8
    };
    let pixels = picture.pixels().flat_map(|pixel| {
        let [r, g, b, a] = pixel.0;
        [mix(r, a), mix(g, a), mix(b, a)]
    });
    image::RgbImage::from_raw(width, height, pixels.collect()).unwrap_or_default()
}

/// Width, height and bits of a pixel, from the header that every PNG begins with.
fn png_header(bytes: &[u8]) -> Option<(u32, u32, u32)> {
    let header = bytes.get(8..26)?.strip_prefix(b"\0\0\0\x0dIHDR")?;
    let number = |at: usize| Some(u32::from_be_bytes(header.get(at..at + 4)?.try_into().ok()?));
    let channels = match header.get(9)? {
        2 => 3,
        4 => 2,
        6 => 4,
        _ => 1,
    };
    Some((
        number(0)?,
        number(4)?,
        u32::from(*header.get(8)?) * channels,
    ))
}

fn within_limits(width: u32, height: u32, pixel_bytes: u64) -> Result<(), Fault> {
    let pixels = u64::from(width) * u64::from(height);
    if width == 0 || height == 0 {
        return Err(Fault::damaged(format!(
            "a picture of {width} x {height} pixels"
        )));
    }
    if width.max(height) > LONGEST_SIDE
        || pixels > MAX_DECODED_PIXELS
        || pixels.saturating_mul(pixel_bytes) > MOST_BYTES
    {
        return Err(Fault::TooLarge(format!(
            "image too large to show ({width} x {height})"
        )));
    }
    Ok(())
}

/// Refuses a header that promises more pixels than the file can hold.
fn warranted(least: u64, bytes: &[u8], (width, height): (u32, u32)) -> Result<(), Fault> {
    match least > bytes.len() as u64 {
        true => {
            let length = size_in_words(bytes.len() as u64);
            Err(Fault::damaged(format!(
                "{width} x {height} pixels cannot be in a file of {length}"
            )))
        }
        false => Ok(()),
    }
}

/// Width and height of a JPEG that has its end: goes from segment to segment to the first scan, and looks for the end
/// marker behind it.
fn whole_jpeg(bytes: &[u8]) -> Result<(u32, u32), Fault> {
    let early = || Fault::damaged("the JPEG picture ends early");
    let mut size = (0, 0);
    let mut at = 2;
    loop {
        let rest = bytes.get(at..).ok_or_else(early)?;
        at += match rest {
            [0xff, 0x01 | 0xd0..=0xd8, ..] => 2,
            [0xff, 0xda, rest @ ..] => {
                return if rest.windows(2).any(|two| two == [0xff, 0xd9]) {
                    Ok(size)
                } else {
                    Err(early())
                };
            }
            [0xff, 0xd9, ..] => return Err(Fault::damaged("a JPEG without a picture")),
            [0xff, kind @ 0x02..=0xfe, high, low, segment @ ..] => {
                if let (0xc0..=0xc3 | 0xc5..=0xc7, [_, h1, h0, w1, w0, ..]) = (*kind, segment) {
                    size = (
                        u32::from(u16::from_be_bytes([*w1, *w0])),
                        u32::from(u16::from_be_bytes([*h1, *h0])),
                    );
                }
                2 + usize::from(u16::from_be_bytes([*high, *low]))
            }
            [] | [0xff] => return Err(early()),
            // Fill bytes and stray bytes between segments: decoders look for the next marker.
            _ => 1,
        };
    }
}

fn damaged(error: ImageError) -> Fault {
    match error {
        ImageError::Limits(_) => Fault::TooLarge(format!("image too large to show ({error})")),
        ImageError::Unsupported(_) => Fault::format(
            format!("a kind of picture that this tool does not read ({error})"),
            "Save it again as a PNG or an RGB JPEG.",
        ),
        _ => Fault::damaged(format!("a damaged picture ({error})")),
    }
}

fn not_a_picture(bytes: &[u8]) -> Fault {
    let next = "Save it as PNG or JPEG.";
    if bytes.is_empty() {
        return Fault::format("the file is empty", "Copy or save it again.");
    }
    if bytes.get(4..8) == Some(b"ftyp") {
        return Fault::format("a HEIC, AVIF or video file, not PNG or JPEG", next);
    }
    let text = bytes
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(bytes)
        .trim_ascii_start();
    let known = OTHER_IMAGE_FORMATS
        .iter()
        .find(|(beginning, _)| bytes.starts_with(beginning) || text.starts_with(beginning));
    match known {
        Some((_, what)) => Fault::format(format!("{what}, not PNG or JPEG"), next),
        None => {
            let first: Vec<String> = bytes
                .iter()
                .take(4)
                .map(|byte| format!("{byte:02X}"))
                .collect();
            Fault::format(
                format!(
                    "not a PNG or JPEG picture (first bytes {})",
                    first.join(" ")
                ),
                next,
            )
        }
    }
}
