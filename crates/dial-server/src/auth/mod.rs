//! Who may talk: Host, Origin, project, and a signature or the token; at most so often.

pub(crate) mod guard;
pub(crate) mod launch;
pub(crate) mod private;
pub(crate) mod session_list;
pub(crate) mod sessions;
pub(crate) mod signature;
