//! The active cell and its neighbours as real elements, for the keyboard, for screen readers and for tests: what stands
//! on the canvas cannot be seen by any of them.

use leptos::prelude::*;

use crate::dataset::CellPlace;
use crate::table::cursor::{Step, moved, nearest_cell};
use crate::table::describe;
use crate::table::layout::Line;
use crate::table::scene::{Rect, Scene};

/// A row of the window.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GridRow {
    /// Number of the line in the table, from 1.
    number: usize,
    name: String,
    cells: Vec<GridCell>,
}

/// A cell of the window.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GridCell {
    place: CellPlace,
    /// Which column of the table it is in, from 1; the heads of the rows are the first.
    column_number: u32,
    label: String,
    rect: Rect,
    is_active: bool,
}

impl GridCell {
    /// The element's id. The active cell is named by it.
    fn id(&self) -> String {
        cell_id(self.place)
    }
}

pub(crate) fn cell_id(place: CellPlace) -> String {
    format!("cell-{}-{}", place.row, place.column)
}

/// The active cell's row and the rows above and below, each with the cells beside the active one. A line that stands for
/// rows or groups is a row with one cell.
pub(crate) fn grid_window(scene: &Scene<'_>) -> Vec<GridRow> {
    let Some(active) = scene.active else { return Vec::new() };
    let (dataset, layout) = (scene.dataset, scene.layout);
    let Some(line) = layout.line_of(active.row) else { return Vec::new() };
    let above = line.checked_sub(1).and_then(|line| layout.stop_from(dataset, line, false));
    let below = layout.stop_from(dataset, line + 1, true);
    let cell = |place: CellPlace| {
        let rect = scene.cell_rect(place)?;
        let column_number = layout.columns.slot_of(place.column)? + 2;
        Some(GridCell {
            place,
            column_number,
            label: describe::place(dataset, layout, place),
            rect,
            is_active: place == active,
        })
    };
    [above.filter(|row| layout.line_of(*row) != Some(line)), Some(active.row), below]
        .into_iter()
        .flatten()
        .filter_map(|row| {
            let line = layout.line_of(row)?;
            let here = nearest_cell(dataset, layout, row, active.column)?;
            if !matches!(layout.line(line)?, Line::Row(_)) {
                let cell = cell(if row == active.row { active } else { here })?;
                return Some(GridRow { number: line + 1, name: cell.label.clone(), cells: vec![cell] });
            }
            let head = dataset.row(row)?;
            let beside = |step| moved(dataset, layout, CellPlace { row, column: active.column }, active.column, step);
            let here = if row == active.row { active } else { here };
            let mut places = vec![beside(Step::Left), Some(here), beside(Step::Right)];
            places.dedup();
            let cells = places.into_iter().flatten().filter_map(cell).collect();
            Some(GridRow { number: line + 1, name: format!("row {} {}", head.number, head.op), cells })
        })
        .collect()
}

/// The window as elements that lie over the canvas, unseen and untouched by the pointer.
#[component]
pub(crate) fn GridWindow(#[prop(into)] rows: Signal<Vec<GridRow>>) -> impl IntoView {
    let cell = |cell: GridCell| {
        let id = cell.id();
        let style = cell.rect.style();
        view! {
            <div
                role="gridcell"
                id=id
                class="gridcell"
                style=style
                aria-colindex=cell.column_number
                aria-selected=cell.is_active.to_string()
            >
                {cell.label}
            </div>
        }
    };
    move || {
        rows.get()
            .into_iter()
            .map(|row| {
                view! {
                    <div role="row" aria-rowindex=row.number>
                        <div role="rowheader" class="gridcell" aria-colindex="1">{row.name}</div>
                        {row.cells.into_iter().map(cell).collect_view()}
                    </div>
                }
            })
            .collect_view()
    }
}

#[cfg(test)]
mod tests {
    use hangscope_analyzer_core::tree_set::TreeSet;

    use super::*;
    use crate::example;
    use crate::table::layout::TableLayout;
    use crate::table::scene::View;
    use crate::table::shown::Shown;
    use crate::table::zoom::Zoom;

    static NOTHING: TreeSet<u32> = TreeSet::new();

    fn window(active: Option<CellPlace>, shown: &Shown) -> Vec<(usize, Vec<u32>)> {
        let dataset = example::dataset();
        let zoom = Zoom::default();
        let layout = TableLayout::new(&dataset, shown, zoom);
        let view = View { width: 800.0, height: 400.0, scroll_x: 0.0, scroll_y: 0.0 };
        let rows = grid_window(&Scene {
            dataset: &dataset,
            layout: &layout,
            zoom,
            view,
            active,
            layer: None,
            contradicted: &NOTHING,
        });
        rows.into_iter().map(|row| (row.number, row.cells.iter().map(|cell| cell.place.column).collect())).collect()
    }

    #[test]
    fn three_by_three() {
        let rows = window(Some(example::ORIGIN), &Shown::default());
        assert_eq!(rows, [(10, vec![4, 5, 6]), (11, vec![4, 5, 6]), (13, vec![4, 5, 6])]);
    }

    #[test]
    fn less_at_the_edges() {
        let rows = window(Some(CellPlace { row: 0, column: 4 }), &Shown::default());
        assert_eq!(rows, [(2, vec![4, 5]), (3, vec![4, 5])]);
        assert_eq!(window(None, &Shown::default()), []);
        let closed = Shown { closed: [0].into(), ..Shown::default() };
        let rows = window(Some(example::ORIGIN), &closed);
        assert_eq!(rows, [(1, vec![5]), (3, vec![4, 5, 6])], "the closed band is a row with one cell");
    }
}
