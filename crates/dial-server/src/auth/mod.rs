//! Who may talk: Host, Origin, cookie or token, at most so often.

pub(crate) mod guard;
pub(crate) mod tokens;
