//! While files are read.

use leptos::prelude::*;

use crate::page::Page;
use crate::text;

#[component]
pub(crate) fn Reading() -> impl IntoView {
    let page = Page::of_context();
    let part = move || {
        let progress = page.progress.get();
        // Bytes tell better than files how much is left; they may not be known.
        let (done, all) = if progress.bytes > 0 {
            (progress.bytes_done as f64, progress.bytes as f64)
        } else {
            (progress.files_done as f64, progress.files as f64)
        };
        if all > 0.0 { (done / all).min(1.0) } else { 0.0 }
    };
    let is_read = move || page.progress.with(|progress| progress.files_done >= progress.files);
    view! {
        <main class="landing">
            <section class="drop reading" aria-busy="true">
                <h1>{move || if is_read() { "Lining up" } else { "Reading" }} " " {move || page.progress.with(|progress| progress.title.clone())}</h1>
                <progress max="1" value=part aria-label="Read so far"></progress>
                <dl class="counts">
                    <div>
                        <dt>"files"</dt>
                        <dd>{move || page.progress.with(|progress| format!("{} of {}", text::thousands(progress.files_done as u64), text::thousands(progress.files as u64)))}</dd>
                    </div>
                    <div><dt>"bytes"</dt><dd>{move || text::bytes(page.progress.with(|progress| progress.bytes_done))}</dd></div>
                    <div><dt>"entries"</dt><dd>{move || text::thousands(page.progress.with(|progress| progress.entries))}</dd></div>
                </dl>
                <div class="acts"><button on:click=move |_| page.cancel()>"Cancel"</button></div>
            </section>
        </main>
    }
}
