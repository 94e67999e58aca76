//! What runs a network: one item in, one output out. Everything before and after is the same for every runtime.

/// Numbers that go into a network.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Numbers {
    I64(Vec<i64>),
    I32(Vec<i32>),
    F32(Vec<f32>),
}

/// One input of a network, named as in its file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Input {
    pub name: String,
    pub shape: Vec<usize>,
    pub numbers: Numbers,
}

/// What comes out of a network.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Output {
    pub shape: Vec<usize>,
    pub values: Vec<f32>,
}

/// A network that is ready. It may be called from several threads at once, and one input always gives the same bits.
pub(super) trait Runtime: Send + Sync {
    /// Runs it on one item; the inputs come in the order of its file. The error is a reason for a person.
    fn run(&self, inputs: Vec<Input>) -> Result<Output, String>;

    /// How many items may be run at once within the memory that is granted.
    fn at_once(&self) -> usize;
}

/// Runs something of a library that may panic on a hostile network, and gives its panic as an error.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)) {
        Ok(result) => result,
        Err(panic) => Err(panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_string()))
            .unwrap_or_else(|| "the runtime broke down".into())),
    }
}
