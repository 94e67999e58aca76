//! Requests and answers: routes, the wire, problems, and the document of the interface.

pub(crate) mod problem;
pub mod wire;
pub(crate) mod input;
pub(crate) mod page;
pub(crate) mod events;
pub mod openapi;
pub(crate) mod router;
pub(crate) mod routes;
pub(crate) mod exchange;
pub(crate) mod sign_in;
pub(crate) mod lists;
pub(crate) mod history;
pub(crate) mod views;
pub(crate) mod scene;
pub(crate) mod streamed;
pub(crate) mod thumbnails;
