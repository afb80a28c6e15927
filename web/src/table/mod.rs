//! The aligned table: which lines it has ([`layout`]), what of it is in view ([`scene`]), the draw commands for that
//! ([`draw_list`]), and the thin parts that need a browser: the painter and the component.

mod cell_batch;
mod component;
mod controller;
mod cursor;
mod draw_command;
mod draw_list;
mod grid;
mod layout;
mod painter;
mod rank_strip;
mod scene;
mod strip;
mod toolbar;
mod zoom;

pub(crate) use component::Table;
pub(crate) use layout::Shown;
pub(crate) use rank_strip::open_rank;
pub(crate) use toolbar::Toolbar;
pub(crate) use zoom::Zoom;
