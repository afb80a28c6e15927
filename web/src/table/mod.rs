//! The aligned table: what of it the user chose to see ([`shown`]), which lines and columns it then has ([`layout`], [`columns`]), what of it
//! is in view ([`scene`]), the codes of the cells there ([`pixels`]), the draw commands for that ([`draw_list`]), the whole of it small
//! ([`minimap`]), and the thin parts that need a browser: the painter and the components.

mod band_lines;
mod cell_batch;
mod columns;
mod component;
mod contradictions;
mod controller;
mod cursor;
mod describe;
mod draw_cells;
mod draw_command;
mod draw_list;
mod filter_bar;
mod grid;
mod layer_legend;
mod layout;
mod map_view;
mod minimap;
mod painter;
mod pixels;
mod rank_strip;
mod scene;
mod shown;
mod strip;
mod toolbar;
mod uncover;
mod zoom;

pub(crate) use component::{Table, on_cleanup_local};
pub(crate) use layout::Stats;
pub(crate) use rank_strip::open_rank;
pub(crate) use shown::{FrameRows, Order, Shown};
pub(crate) use toolbar::Toolbar;
pub(crate) use zoom::Zoom;
