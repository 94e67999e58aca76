//! Texts as networks see them: the numbers of their tokens, and what else is asked for beside them.

use tokenizers::{PaddingParams, PaddingStrategy, Tokenizer, TruncationParams};

use super::graph::{Dim, Graph, NumberKind, Slot};
use super::runtime::Input;
use super::settings::{MOST_TOKENS, Sidecars, TextSettings};
use super::tract::Side;
use super::{NEXT, filled, inputs_in_words, one_at_a_time};
use crate::embed::word_vectors::beginning;
use crate::error::{Fault, Result};

/// Words that pad texts, as tokenizers call them.
const PADDING_WORDS: [&str; 3] = ["[PAD]", "<pad>", "<|endoftext|>"];

/// How texts go into a network.
pub(super) struct TextInput {
    tokenizer: Tokenizer,
    /// tokenizer.json, for the fingerprint.
    pub file: Vec<u8>,
    slots: Vec<(Slot, Role)>,
    /// The number of tokens that the network takes, if it takes no other.
    fixed: Option<usize>,
    pub settings: TextSettings,
}

/// What an input is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Tokens,
    Mask,
    Types,
    Positions,
}

impl Role {
    fn of(name: &str) -> Option<Role> {
        match name {
            "input_ids" => Some(Role::Tokens),
            "attention_mask" => Some(Role::Mask),
            "token_type_ids" => Some(Role::Types),
            "position_ids" => Some(Role::Positions),
            _ => None,
        }
    }
}

impl TextInput {
    /// For the inputs of a network, with the sides that each is run with.
    pub fn new(graph: &Graph, sidecars: &Sidecars) -> Result<(TextInput, Vec<Vec<Side>>), Fault> {
        let strange = || {
            let what = format!(
                "the network takes neither texts nor pictures alone: its inputs are {}",
                inputs_in_words(graph)
            );
            Fault::format(what, NEXT)
        };
        let slots = graph
            .inputs
            .iter()
            .map(|slot| {
                // One list of integers can only be the tokens.
                let role =
                    Role::of(&slot.name).or((graph.inputs.len() == 1).then_some(Role::Tokens));
                let whole = matches!(slot.kind, NumberKind::I64 | NumberKind::I32)
                    && slot.dims.as_ref().is_none_or(|dims| dims.len() == 2);
                role.filter(|_| whole)
                    .map(|role| (slot.clone(), role))
                    .ok_or_else(strange)
            })
            .collect::<Result<Vec<_>, Fault>>()?;
        if !slots.iter().any(|(_, role)| *role == Role::Tokens) {
            return Err(strange());
        }
        let mut fixed = None;
        for (slot, _) in &slots {
            let dims = slot.dims.as_deref().unwrap_or(&[Dim::Free; 2]);
            one_at_a_time(slot, dims.first())?;
            if let Some(Dim::Fixed(count)) = dims.get(1) {
                if *count > MOST_TOKENS {
                    let what = format!("the network takes {count} tokens, more than {MOST_TOKENS}");
                    return Err(Fault::format(what, NEXT));
                }
                fixed = Some(*count);
            }
        }
        let settings = sidecars.for_texts(fixed)?;
        let file = sidecars.file("tokenizer.json")?.ok_or_else(|| {
            Fault::format(
                "there is no tokenizer.json beside the network",
                "Save the tokenizer into the folder of the network.",
            )
        })?;
        let tokenizer = tokenizer(&file, &settings, fixed).map_err(|error| {
            Fault::format(
                format!("tokenizer.json cannot be used: {error}"),
                "Save the tokenizer of the model again.",
            )
        })?;
        let side = fixed.map_or(Side::Tokens(settings.max_tokens), Side::Is);
        let sides = vec![vec![Side::Is(1), side]; slots.len()];
        Ok((
            TextInput {
                tokenizer,
                file,
                slots,
                fixed,
                settings,
            },
            sides,
        ))
    }

    /// The inputs for a text, and how many tokens of it count.
    pub fn of(&self, text: &str) -> Result<(Vec<Input>, usize), Fault> {
        let text = format!("{}{}", self.settings.prefix, beginning(text));
        let encoding = self.tokenizer.encode_fast(text, true).map_err(|error| {
            Fault::format(
                format!("a text cannot be split into tokens: {error}"),
                "Save the tokenizer of the model again.",
            )
        })?;
        let tokens: Vec<i64> = encoding
            .get_ids()
            .iter()
            .map(|token| i64::from(*token))
            .collect();
        let mask: Vec<i64> = encoding
            .get_attention_mask()
            .iter()
            .map(|bit| i64::from(*bit))
            .collect();
        let types: Vec<i64> = encoding
            .get_type_ids()
            .iter()
            .map(|kind| i64::from(*kind))
            .collect();
        // A tokenizer without marks of beginning and end has nothing to say about an empty text.
        match tokens.is_empty() {
            true => Ok(self.inputs(vec![0], vec![1], vec![0])),
            false => Ok(self.inputs(tokens, mask, types)),
        }
    }

    /// The inputs for the longest text.
    pub fn longest(&self) -> (Vec<Input>, usize) {
        let count = self.fixed.unwrap_or(self.settings.max_tokens);
        self.inputs(vec![0; count], vec![1; count], vec![0; count])
    }

    fn inputs(&self, tokens: Vec<i64>, mask: Vec<i64>, types: Vec<i64>) -> (Vec<Input>, usize) {
        let count = tokens.len();
        let known = mask.iter().filter(|bit| **bit != 0).count().max(1);
        let input = |(slot, role): &(Slot, Role)| {
            let numbers = match role {
                Role::Tokens => tokens.clone(),
                Role::Mask => mask.clone(),
                Role::Types => types.clone(),
                Role::Positions => (0..count as i64).collect(),
            };
            filled(slot, vec![1, count], numbers)
        };
        (self.slots.iter().map(input).collect(), known)
    }
}

/// The tokenizer, told how much of a text counts and whether to fill up what is shorter.
fn tokenizer(
    file: &[u8],
    settings: &TextSettings,
    fixed: Option<usize>,
) -> Result<Tokenizer, String> {
    let mut tokenizer = Tokenizer::from_bytes(file).map_err(|error| error.to_string())?;
    let padding = fixed.map(|count| {
        let usual = || {
            let known = PADDING_WORDS
                .iter()
                .find_map(|word| Some((*word, tokenizer.token_to_id(word)?)));
            let (pad_token, pad_id) = known.unwrap_or(("", 0));
            PaddingParams {
                pad_id,
                pad_token: pad_token.into(),
                ..PaddingParams::default()
            }
        };
        // What counts must come first.
        PaddingParams {
            strategy: PaddingStrategy::Fixed(count),
            direction: tokenizers::PaddingDirection::Right,
            pad_to_multiple_of: None,
            ..tokenizer.get_padding().cloned().unwrap_or_else(usual)
        }
    });
    let truncation = TruncationParams {
        max_length: settings.max_tokens,
        ..TruncationParams::default()
    };
    tokenizer
        .with_truncation(Some(truncation))
        .map_err(|error| error.to_string())?;
    tokenizer.with_padding(padding);
    Ok(tokenizer)
}
