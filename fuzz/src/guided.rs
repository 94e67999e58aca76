//! The readers under libFuzzer, which keeps an input if it reaches new code. `fuzz/guided` builds and runs this.
//!
//! An input is two bytes of options, a byte that chooses a form (the name of the file and what is put around it), and the
//! bytes to mutate. Before libFuzzer reads its corpus, the seeds of the target are written there in this encoding.

#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;
use std::{env, fs, process};

use dial_fuzz::check::{check, listen};
use dial_fuzz::counting::Counting;
use dial_fuzz::seeds::seeds;
use dial_fuzz::targets::{Input, Target, Wrap};
use libfuzzer_sys::fuzz_target;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The target of this process, chosen by `DIAL_FUZZ_TARGET`.
struct Guided {
    target: Target,
    forms: Vec<(String, Wrap)>,
    /// Where the reader finds its file.
    folder: PathBuf,
}

static GUIDED: LazyLock<Guided> = LazyLock::new(Guided::new);

impl Guided {
    /// Writes the seeds into the folder that `DIAL_FUZZ_CORPUS` names.
    fn new() -> Guided {
        // libFuzzer ends the process at every panic, also at those that a reader catches; `check` knows which are faults.
        listen();
        let word = env::var("DIAL_FUZZ_TARGET").expect("DIAL_FUZZ_TARGET names a target");
        let target = Target::all().into_iter().find(|one| one.word() == word);
        let target = target.expect("DIAL_FUZZ_TARGET is a target");
        let folder = env::temp_dir().join(format!("dial-guided-{}", process::id()));
        fs::create_dir_all(&folder).expect("a folder for the inputs");
        let seeds = seeds(target, &folder);
        let mut forms: Vec<(String, Wrap)> = Vec::new();
        let corpus =
            PathBuf::from(env::var("DIAL_FUZZ_CORPUS").expect("DIAL_FUZZ_CORPUS names a folder"));
        fs::create_dir_all(&corpus).expect("a folder for the corpus");
        for (number, seed) in seeds.into_iter().enumerate() {
            let form = (seed.name, seed.wrap);
            let place = forms.iter().position(|one| *one == form);
            let place = place.unwrap_or_else(|| {
                forms.push(form);
                forms.len() - 1
            });
            let [low, high] = seed.options.to_le_bytes();
            let bytes = [&[low, high, place as u8], &seed.bytes[..]].concat();
            fs::write(corpus.join(format!("seed-{number}")), bytes).expect("a seed");
        }
        Guided {
            target,
            forms,
            folder,
        }
    }

    fn input(&self, bytes: &[u8]) -> Option<Input> {
        let [low, high, form, bytes @ ..] = bytes else {
            return None;
        };
        let (name, wrap) = self.forms[usize::from(*form) % self.forms.len()].clone();
        Some(Input {
            name,
            bytes: bytes.to_vec(),
            wrap,
            options: u16::from_le_bytes([*low, *high]),
        })
    }
}

fuzz_target!(init: { LazyLock::force(&GUIDED); }, |bytes: &[u8]| {
    let Some(input) = GUIDED.input(bytes) else { return };
    if let Err(failure) = check(GUIDED.target, &input, &GUIDED.folder) {
        eprintln!("{failure:?}, {input:?}");
        // libFuzzer writes the input out when the process aborts.
        process::abort();
    }
});
