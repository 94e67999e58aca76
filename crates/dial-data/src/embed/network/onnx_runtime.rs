//! Networks run by ONNX Runtime, whose library is on this machine and named by `ORT_DYLIB_PATH`.
//!
//! Each session runs on one thread, and as many sessions beside each other as there are threads and memory for their
//! weights: the bits of an embedding depend on its item alone. Memory is ONNX Runtime's own affair.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use ort::environment::Environment;
use ort::session::{Session, SessionInputValue};
use ort::value::Tensor;

use super::runtime::{Input, Numbers, Output, Runtime, guarded};

/// Weights that all sessions together may hold.
const GRANTED_BYTES: u64 = 4 << 30;

/// The library that the user named.
pub(super) fn library() -> Option<PathBuf> {
    std::env::var_os("ORT_DYLIB_PATH")
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
}

/// A process has one environment.
static ENVIRONMENT: OnceLock<Result<Environment, String>> = OnceLock::new();

pub(super) struct OnnxRuntime {
    /// One for each thread.
    sessions: Vec<Mutex<Session>>,
    output: String,
}

impl OnnxRuntime {
    /// Loads the library, and the network in a file; its weights take so many bytes, once for each thread.
    pub fn new(
        library: &Path,
        file: &Path,
        weights: u64,
        output: &str,
    ) -> Result<OnnxRuntime, String> {
        let made = ENVIRONMENT.get_or_init(|| {
            guarded(|| {
                let builder = ort::init_from(library).map_err(|error| error.to_string())?;
                builder.build().map_err(|error| error.to_string())
            })
        });
        let environment = made.as_ref().map_err(Clone::clone)?;
        let count = (GRANTED_BYTES / weights.max(1)).clamp(1, rayon::current_num_threads() as u64);
        let session = |_| guarded(|| session(environment, file).map(Mutex::new));
        Ok(OnnxRuntime {
            sessions: (0..count).map(session).collect::<Result<_, String>>()?,
            output: output.into(),
        })
    }
}

fn session(environment: &Environment, file: &Path) -> Result<Session, String> {
    let builder = Session::builder(environment).map_err(|error| error.to_string())?;
    let builder = builder
        .with_intra_threads(1)
        .map_err(|error| error.to_string())?;
    let mut builder = builder
        .with_inter_threads(1)
        .map_err(|error| error.to_string())?;
    builder
        .commit_from_file(file)
        .map_err(|error| error.to_string())
}

fn value(input: Input) -> ort::Result<(String, SessionInputValue<'static>)> {
    let Input {
        name,
        shape,
        numbers,
    } = input;
    let value = match numbers {
        Numbers::I64(values) => Tensor::from_array((shape, values))?.into(),
        Numbers::I32(values) => Tensor::from_array((shape, values))?.into(),
        Numbers::F32(values) => Tensor::from_array((shape, values))?.into(),
    };
    Ok((name, value))
}

impl OnnxRuntime {
    fn run_on(&self, session: &mut Session, inputs: Vec<Input>) -> ort::Result<Output> {
        let inputs = inputs
            .into_iter()
            .map(value)
            .collect::<ort::Result<Vec<_>>>()?;
        let outputs = session.run(inputs)?;
        let Some(made) = outputs.get(&self.output) else {
            return Err(ort::Error::new("the network did not make its output"));
        };
        let (shape, values) = made.try_extract_tensor::<f32>()?;
        let shape = shape
            .iter()
            .map(|side| usize::try_from(*side).unwrap_or(0))
            .collect();
        Ok(Output {
            shape,
            values: values.to_vec(),
        })
    }
}

impl Runtime for OnnxRuntime {
    fn run(&self, inputs: Vec<Input>) -> Result<Output, String> {
        // A session that is free, or else that of this thread.
        let own = rayon::current_thread_index().unwrap_or(0) % self.sessions.len();
        let free = self
            .sessions
            .iter()
            .find_map(|session| session.try_lock().ok());
        let mut session = free.unwrap_or_else(|| {
            self.sessions[own]
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        });
        guarded(|| {
            self.run_on(&mut session, inputs)
                .map_err(|error| error.to_string())
        })
    }

    fn at_once(&self) -> usize {
        self.sessions.len()
    }
}
