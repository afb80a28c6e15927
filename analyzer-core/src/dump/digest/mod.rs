//! From decoded values to the columns of a dump: what the pickle reader and the JSON reader share.
//!
//! Both hand over the items of each container when it ends; the [`Sink`] finds out from the keys what it is, stores it, and answers
//! with a small [`super::value::Value`] that stands for it from then on. Version numbers play no part in it.

mod dicts;
mod entry;
mod finish;
mod lists;
mod numbers;
mod salvage;
mod share;
mod sink;

pub(super) use finish::Origin;
pub(super) use sink::Sink;
