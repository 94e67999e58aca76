//! What is done before and after a network: from the files beside it, and from defaults where they are silent.
//!
//! | file | says |
//! |---|---|
//! | `dial.json` | anything below; it wins |
//! | `sentence_bert_config.json`, `tokenizer.json`, `tokenizer_config.json` | how many tokens of a text count |
//! | `1_Pooling/config.json` | how the vectors of its tokens become one |
//! | `preprocessor_config.json` | size, cut, scale and colours of pictures |
//!
//! Defaults: at most 512 tokens, the mean over them; pictures of 224 x 224 (or what the network says), cut from the middle
//! after their shorter side was made 256/224 as long, bicubic, colours as on ImageNet (ResNet, DINO); as CLIP has them where
//! the output is called `image_embeds`. Files are looked for beside the network, and one folder up where that one is `onnx`.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Fault, Result};
use crate::media::filter::Filter;
use crate::open::read_file;

/// The version of what is done with items: another one makes other embeddings.
const VERSION: u32 = 1;
const MAX_TOKENS: usize = 512;
/// No text has more.
pub(super) const MOST_TOKENS: usize = 1 << 15;
const MAX_SIDE: usize = 4096;
/// Sidecars are small.
const MAX_JSON_BYTES: usize = 64 << 20;

/// What `dial.json` may say.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Sidecar {
    output: Option<String>,
    pooling: Option<Pooling>,
    prefix: Option<String>,
    max_tokens: Option<usize>,
    size: Option<Size>,
    resize: Option<usize>,
    resample: Option<Filter>,
    mean: Option<[f32; 3]>,
    std: Option<[f32; 3]>,
    preset: Option<Preset>,
}

/// How several vectors of a network become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Pooling {
    /// The mean of them, over the tokens of the text.
    Mean,
    /// The first one.
    Cls,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Preset {
    /// ResNet, DINO and others trained on ImageNet.
    Imagenet,
    Clip,
}

/// A side of a square, or height and width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum Size {
    Square(usize),
    Sides([usize; 2]),
}

impl Size {
    fn sides(self) -> [usize; 2] {
        match self {
            Size::Square(side) => [side, side],
            Size::Sides(sides) => sides,
        }
    }
}

/// What is done with texts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct TextSettings {
    version: u32,
    pub pooling: Pooling,
    /// Stands before every text.
    pub prefix: String,
    pub max_tokens: usize,
}

/// What is done with pictures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct PictureSettings {
    version: u32,
    pub pooling: Pooling,
    pub fit: Fit,
    /// Height and width of what the network sees.
    pub size: [usize; 2],
    pub resample: Filter,
    /// What values from 0 to 255 are multiplied by.
    pub scale: f32,
    pub mean: [f32; 3],
    pub std: [f32; 3],
}

/// How a picture gets its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Fit {
    /// The shorter side gets this length, then the middle is cut out.
    ShorterSide(usize),
    /// Both sides get their length, whatever that does to shapes.
    Squeezed,
}

/// The files beside a network.
pub(super) struct Sidecars {
    folders: Vec<PathBuf>,
    own: Sidecar,
}

impl Sidecars {
    /// Reads those of a network that lies in `folder`.
    pub fn of(folder: &Path) -> Result<Sidecars, Fault> {
        let mut folders = vec![folder.to_path_buf()];
        if folder.file_name().is_some_and(|name| name == "onnx") {
            folders.extend(folder.parent().map(Path::to_path_buf));
        }
        let mut found = Sidecars {
            folders,
            own: Sidecar::default(),
        };
        if let Some(bytes) = found.file("dial.json")? {
            found.own = serde_json::from_slice(&bytes)
                .map_err(|error| wrong("dial.json", &error.to_string()))?;
        }
        Ok(found)
    }

    /// The bytes of a file beside the network, if it is there.
    pub fn file(&self, name: &str) -> Result<Option<Vec<u8>>, Fault> {
        let Some(path) = self
            .folders
            .iter()
            .map(|folder| folder.join(name))
            .find(|path| path.is_file())
        else {
            return Ok(None);
        };
        let bytes = read_file(&path.display().to_string())
            .map_err(|error| wrong(name, &error.fault.to_string()))?;
        match bytes.len() > MAX_JSON_BYTES {
            true => Err(wrong(name, "it is larger than 64 MiB")),
            false => Ok(Some(bytes)),
        }
    }

    fn json(&self, name: &str) -> Result<Value, Fault> {
        match self.file(name)? {
            Some(bytes) => {
                serde_json::from_slice(&bytes).map_err(|error| wrong(name, &error.to_string()))
            }
            None => Ok(Value::Null),
        }
    }

    /// The output that `dial.json` names.
    pub fn output(&self) -> Option<&str> {
        self.own.output.as_deref()
    }

    /// What is done with texts; `fixed` is the number of tokens that the network takes, if it takes no other.
    pub fn for_texts(&self, fixed: Option<usize>) -> Result<TextSettings, Fault> {
        let number = |value: &Value| {
            value
                .as_u64()
                .filter(|&number| number < 1 << 30)
                .map(|number| number as usize)
        };
        let told = match self.own.max_tokens {
            Some(told) => Some(told),
            None => number(&self.json("sentence_bert_config.json")?["max_seq_length"])
                .or(number(
                    &self.json("tokenizer.json")?["truncation"]["max_length"],
                ))
                .or(number(
                    &self.json("tokenizer_config.json")?["model_max_length"],
                ))
                // Longer than anybody waits for: what nobody typed is cut.
                .map(|told| told.min(MOST_TOKENS)),
        };
        let max_tokens = match (told, fixed) {
            (Some(told), Some(fixed)) => told.min(fixed),
            (told, fixed) => told.or(fixed).unwrap_or(MAX_TOKENS),
        };
        if !(3..=MOST_TOKENS).contains(&max_tokens) {
            return Err(wrong(
                "dial.json",
                &format!("\"max_tokens\" is {max_tokens}, and may be 3 to {MOST_TOKENS}"),
            ));
        }
        let pooling = match self.own.pooling {
            Some(pooling) => pooling,
            None => self.pooling_of_texts()?,
        };
        let prefix = self.own.prefix.clone().unwrap_or_default();
        Ok(TextSettings {
            version: VERSION,
            pooling,
            prefix,
            max_tokens,
        })
    }

    fn pooling_of_texts(&self) -> Result<Pooling, Fault> {
        let name = "1_Pooling/config.json";
        let config = self.json(name)?;
        let modes: Vec<&str> = config
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(key, value)| key.starts_with("pooling_mode_") && **value == Value::Bool(true))
            .map(|(key, _)| key.trim_start_matches("pooling_mode_"))
            .collect();
        match modes[..] {
            [] | ["mean_tokens"] => Ok(Pooling::Mean),
            ["cls_token"] => Ok(Pooling::Cls),
            _ => Err(Fault::format(
                format!(
                    "{name} asks for {}, and only mean_tokens and cls_token are done here",
                    modes.join(" and ")
                ),
                "Export the model with its pooling, so that its output is one vector, or name one in dial.json: \"pooling\": \"mean\".",
            )),
        }
    }

    /// What is done with pictures; `sides` are those that the network fixes, `output` is the name of what it gives.
    pub fn for_pictures(
        &self,
        sides: [Option<usize>; 2],
        output: &str,
    ) -> Result<PictureSettings, Fault> {
        let name = "preprocessor_config.json";
        let config = self.json(name)?;
        let fixed = match sides {
            [Some(height), Some(width)] => Some([height, width]),
            _ => None,
        };
        let preset = self.own.preset.unwrap_or(if output == "image_embeds" {
            Preset::Clip
        } else {
            Preset::Imagenet
        });
        let declared = Declared::read(&config).map_err(|what| wrong(name, &what))?;
        let size = self
            .own
            .size
            .map(Size::sides)
            .or(declared.size)
            .or(fixed)
            .unwrap_or([224, 224]);
        if let Some(fixed) = fixed.filter(|fixed| *fixed != size) {
            let file = if self.own.size.is_some() {
                "dial.json"
            } else {
                name
            };
            return Err(wrong(
                file,
                &format!(
                    "it makes pictures of {} x {}, and the network takes {} x {}",
                    size[0], size[1], fixed[0], fixed[1]
                ),
            ));
        }
        let shorter = size[0].min(size[1]);
        let usual = match preset {
            // A square cut says nothing about other shapes.
            _ if size[0] != size[1] => Fit::Squeezed,
            Preset::Clip => Fit::ShorterSide(shorter),
            Preset::Imagenet => Fit::ShorterSide(shorter * 256 / 224),
        };
        let fit = self
            .own
            .resize
            .map(Fit::ShorterSide)
            .or(declared.fit.filter(|_| self.own.size.is_none()))
            .unwrap_or(usual);
        let (mean, std) = match preset {
            Preset::Imagenet => ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
            Preset::Clip => (
                [0.481_454_66, 0.457_827_5, 0.408_210_73],
                [0.268_629_54, 0.261_302_6, 0.275_777_1],
            ),
        };
        let made = PictureSettings {
            version: VERSION,
            pooling: self.own.pooling.unwrap_or(Pooling::Cls),
            fit,
            size,
            resample: self
                .own
                .resample
                .or(declared.resample)
                .unwrap_or(Filter::Bicubic),
            scale: declared.scale.unwrap_or(1.0 / 255.0),
            mean: self.own.mean.or(declared.mean).unwrap_or(mean),
            std: self.own.std.or(declared.std).unwrap_or(std),
        };
        made.check()
    }
}

impl PictureSettings {
    fn check(self) -> Result<PictureSettings, Fault> {
        let text = match (self.size, self.fit) {
            (size, _) if size.iter().any(|side| !(1..=MAX_SIDE).contains(side)) => {
                format!(
                    "pictures of {} x {}: a side may be 1 to {MAX_SIDE}",
                    size[0], size[1]
                )
            }
            (size, Fit::ShorterSide(side))
                if side < size[0].max(size[1]) || side > 4 * MAX_SIDE =>
            {
                format!(
                    "a shorter side of {side} cannot be cut to {} x {}",
                    size[0], size[1]
                )
            }
            _ if !self.std.iter().all(|std| std.is_finite() && *std > 0.0) => {
                "\"std\" must be positive".into()
            }
            _ if !self.mean.iter().all(|mean| mean.is_finite()) || !self.scale.is_finite() => {
                "\"mean\" must be finite".into()
            }
            _ => return Ok(self),
        };
        Err(wrong("dial.json or preprocessor_config.json", &text))
    }
}

/// What `preprocessor_config.json` says, in the words of the library transformers.
#[derive(Default)]
struct Declared {
    size: Option<[usize; 2]>,
    fit: Option<Fit>,
    resample: Option<Filter>,
    scale: Option<f32>,
    mean: Option<[f32; 3]>,
    std: Option<[f32; 3]>,
}

impl Declared {
    fn read(config: &Value) -> Result<Declared, String> {
        let Value::Object(_) = config else {
            return Ok(Declared::default());
        };
        let flag = |key: &str| config[key].as_bool();
        let side = |value: &Value| {
            value
                .as_u64()
                .filter(|side| *side < 1 << 20)
                .map(|side| side as usize)
        };
        let sides = |value: &Value| Some([side(&value["height"])?, side(&value["width"])?]);
        let square = |value: &Value| side(value).map(|side| [side, side]);
        let shorter = side(&config["size"]["shortest_edge"]);
        let whole = sides(&config["size"]).or(square(&config["size"]));
        let cuts = flag("do_center_crop").unwrap_or(!config["crop_size"].is_null());
        let cut = sides(&config["crop_size"])
            .or(square(&config["crop_size"]))
            .filter(|_| cuts);
        let size = cut.or(whole).or(shorter.map(|side| [side, side]));
        // ConvNeXt and ResNet: what is cut out is this share of what is resized.
        let share = config["crop_pct"]
            .as_f64()
            .filter(|share| (0.1..=1.0).contains(share));
        let fit = match (flag("do_resize"), size) {
            (Some(false), _) => {
                return Err("\"do_resize\" is false, and pictures have all sizes".into());
            }
            (_, None) => None,
            (_, Some(size)) => match (
                share,
                shorter.or(whole.map(|[height, width]| height.min(width))),
            ) {
                (Some(share), _) if size[0] < 384 => {
                    Some(Fit::ShorterSide((size[0] as f64 / share) as usize))
                }
                (None, Some(side)) if cuts || shorter.is_some() => Some(Fit::ShorterSide(side)),
                _ => Some(Fit::Squeezed),
            },
        };
        let resample = match config["resample"].as_u64() {
            None => None,
            Some(2) => Some(Filter::Bilinear),
            Some(3) => Some(Filter::Bicubic),
            Some(other) => {
                return Err(format!(
                    "\"resample\" is {other}, and only 2 (bilinear) and 3 (bicubic) are done here"
                ));
            }
        };
        let three = |key: &str| -> Result<Option<[f32; 3]>, String> {
            match &config[key] {
                Value::Null => Ok(None),
                value => serde_json::from_value(value.clone())
                    .map(Some)
                    .map_err(|_| format!("{key:?} is not three numbers")),
            }
        };
        let (mean, std) = match flag("do_normalize") {
            Some(false) => (Some([0.0; 3]), Some([1.0; 3])),
            _ => (three("image_mean")?, three("image_std")?),
        };
        let scale = match flag("do_rescale") {
            Some(false) => Some(1.0),
            _ => config["rescale_factor"].as_f64().map(|scale| scale as f32),
        };
        Ok(Declared {
            size,
            fit,
            resample,
            scale,
            mean,
            std,
        })
    }
}

fn wrong(file: &str, what: &str) -> Fault {
    Fault::format(
        format!("{file}: {what}"),
        "Correct that file, or say in dial.json what holds.",
    )
}
