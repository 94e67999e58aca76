//! Colours for values and for classes.
//!
//! Values: a colour map of our own, computed in OKLab (Ottosson, "A perceptual color space for image processing", 2020):
//! lightness rises evenly from 0.27 to 0.92 while the hue turns evenly from 305° (violet) to 105° (yellow); chroma is
//! the largest that sRGB has there, at most 0.155. Because lightness alone orders it, it survives colour blindness and
//! grey print. Classes: Okabe and Ito's palette less its yellow, then lighter tints of it.

use crate::chart::Colour;

/// Seventeen points of the colour map, evenly spaced.
const COLOUR_MAP: [Colour; 17] = [
    Colour(55, 2, 90),
    Colour(56, 15, 117),
    Colour(49, 38, 136),
    Colour(34, 58, 151),
    Colour(6, 79, 154),
    Colour(9, 97, 148),
    Colour(12, 113, 149),
    Colour(15, 128, 152),
    Colour(17, 143, 155),
    Colour(20, 159, 156),
    Colour(23, 175, 154),
    Colour(26, 191, 146),
    Colour(76, 205, 132),
    Colour(126, 214, 119),
    Colour(168, 222, 108),
    Colour(207, 228, 100),
    Colour(244, 234, 98),
];

/// Okabe and Ito's palette less its yellow, which vanishes on white.
pub const CLASSES: [Colour; 7] = [
    Colour(0, 114, 178),
    Colour(213, 94, 0),
    Colour(0, 158, 115),
    Colour(204, 121, 167),
    Colour(230, 159, 0),
    Colour(31, 35, 40),
    Colour(86, 180, 233),
];

/// The blue of the palette.
pub const BLUE: Colour = CLASSES[0];
/// The red (vermilion) of the palette.
pub const RED: Colour = CLASSES[1];
/// The green of the palette.
pub const GREEN: Colour = CLASSES[2];
/// The purple of the palette.
pub const PURPLE: Colour = CLASSES[3];
/// The orange of the palette.
pub const ORANGE: Colour = CLASSES[4];
/// A middle grey that goes with the palette.
pub const GREY: Colour = Colour(128, 133, 140);

/// The colour of a share from 0 to 1 of the range of values; what is beyond is cut off, what is not a number is grey.
pub fn of_share(share: f64) -> Colour {
    if share.is_nan() {
        return Colour::GRID;
    }
    let place = share.clamp(0.0, 1.0) * (COLOUR_MAP.len() - 1) as f64;
    let first = (place as usize).min(COLOUR_MAP.len() - 2);
    mix(
        COLOUR_MAP[first],
        COLOUR_MAP[first + 1],
        place - first as f64,
    )
}

/// How many colours a picture of values has.
pub const VALUE_COLOURS: usize = 254;

/// The colours of the map as a palette for pictures; [`number`] counts in it, and its last entry is for missing values.
pub fn palette() -> Vec<Colour> {
    (0..VALUE_COLOURS)
        .map(|i| of_share(i as f64 / (VALUE_COLOURS - 1) as f64))
        .chain([Colour::GRID])
        .collect()
}

/// The number in the [`palette`] of a value between `low` and `high`.
pub fn number(value: f64, low: f64, high: f64) -> u8 {
    if !value.is_finite() {
        return VALUE_COLOURS as u8;
    }
    (share(value, low, high) * (VALUE_COLOURS - 1) as f64).round() as u8
}

/// Where a value lies between `low` and `high`, cut off at 0 and 1; one half where they do not differ.
pub fn share(value: f64, low: f64, high: f64) -> f64 {
    if high > low {
        ((value - low) / (high - low)).clamp(0.0, 1.0)
    } else {
        0.5
    }
}

/// The colour of a class: the palette, then the same colours mixed with white, more each time round.
pub fn of_class(class: usize) -> Colour {
    // Near-black last: it would be the loudest colour of a map.
    const ORDER: [usize; 7] = [0, 1, 2, 3, 4, 6, 5];
    let round = (class / ORDER.len()) as f64;
    mix(
        CLASSES[ORDER[class % ORDER.len()]],
        Colour::WHITE,
        1.0 - 1.0 / (1.0 + 0.9 * round),
    )
}

/// `a` with a part of `b`.
pub fn mix(a: Colour, b: Colour, part: f64) -> Colour {
    let channel = |a: u8, b: u8| {
        (f64::from(a) + part * (f64::from(b) - f64::from(a)))
            .round()
            .clamp(0.0, 255.0) as u8
    };
    Colour(channel(a.0, b.0), channel(a.1, b.1), channel(a.2, b.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// OKLab's lightness, from its definition.
    fn lightness(colour: Colour) -> f64 {
        let linear = |c: u8| {
            let c = f64::from(c) / 255.0;
            if c <= 0.04045 {
                c / 12.92
            } else {
                libm::pow((c + 0.055) / 1.055, 2.4)
            }
        };
        let (r, g, b) = (linear(colour.0), linear(colour.1), linear(colour.2));
        let l = libm::cbrt(0.412_221_470_8 * r + 0.536_332_536_3 * g + 0.051_445_992_9 * b);
        let m = libm::cbrt(0.211_903_498_2 * r + 0.680_699_545_1 * g + 0.107_396_956_6 * b);
        let s = libm::cbrt(0.088_302_461_9 * r + 0.281_718_837_6 * g + 0.629_978_700_5 * b);
        0.210_454_255_3 * l + 0.793_617_785_0 * m - 0.004_072_046_8 * s
    }

    #[test]
    fn lightness_rises_evenly() {
        for i in 0..=64 {
            let share = f64::from(i) / 64.0;
            let want = 0.27 + 0.65 * share;
            assert!(
                (lightness(of_share(share)) - want).abs() < 0.012,
                "{share}: {}",
                lightness(of_share(share))
            );
        }
    }

    #[test]
    fn numbers_cover_the_palette() {
        assert_eq!(
            (
                number(2.0, 2.0, 4.0),
                number(4.0, 2.0, 4.0),
                number(9.0, 2.0, 4.0)
            ),
            (0, 253, 253)
        );
        assert_eq!(palette().len(), 255);
        assert_eq!(
            palette()[usize::from(number(f64::NAN, 0.0, 1.0))],
            Colour::GRID
        );
        assert_eq!(share(1.0, 1.0, 1.0), 0.5);
    }

    #[test]
    fn many_classes_have_many_colours() {
        let mut all: Vec<_> = (0..21).map(of_class).map(|c| (c.0, c.1, c.2)).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 21);
        assert_eq!(of_class(0), CLASSES[0]);
    }
}
