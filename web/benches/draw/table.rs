//! The parts of the page's table that need no browser, under the names that they have there.

#[path = "../../src/table/band_lines.rs"]
mod band_lines;
#[path = "../../src/table/cell_batch.rs"]
mod cell_batch;
#[path = "../../src/table/columns.rs"]
mod columns;
#[path = "../../src/table/draw_cells.rs"]
mod draw_cells;
#[path = "../../src/table/draw_command.rs"]
mod draw_command;
#[path = "../../src/table/draw_list.rs"]
pub(crate) mod draw_list;
#[path = "../../src/table/layout.rs"]
pub(crate) mod layout;
#[path = "../../src/table/minimap.rs"]
pub(crate) mod minimap;
#[path = "../../src/table/pixels.rs"]
mod pixels;
#[path = "../../src/table/scene.rs"]
pub(crate) mod scene;
#[path = "../../src/table/shown.rs"]
pub(crate) mod shown;
#[path = "../../src/table/strip.rs"]
mod strip;
#[path = "../../src/table/zoom.rs"]
pub(crate) mod zoom;
