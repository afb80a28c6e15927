//! What the colours of the cells mean, where they are not those of their states.

use leptos::prelude::*;

use crate::page::Page;
use crate::text;

#[component]
pub(crate) fn LayerLegend() -> impl IntoView {
    let page = Page::of_context();
    let keys = move || {
        let layer = page.layer()?;
        let items = layer.legend.iter().map(|item| {
            let (label, cells) = (item.label.clone(), text::counted(item.cells, "cell"));
            let colour = format!("background:var(--hue{})", item.code.clamp(1, 12));
            let title = format!("{label}: {cells}");
            view! {
                <li class="key" title=title>
                    <i style=colour aria-hidden="true"></i>
                    <span>{label}</span>
                    <b>{cells}</b>
                </li>
            }
        });
        Some(items.collect_view())
    };
    view! {
        <Show when=move || page.colour.get().is_some()>
            <ul class="layerlegend" aria-label="Colours of the cells" tabindex="0">{keys}</ul>
        </Show>
    }
}
