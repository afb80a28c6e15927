//! Files that a browser may have no room for.

use leptos::prelude::*;

use crate::load::BUDGET_BYTES;
use crate::page::Page;
use crate::parts::open_buttons::OpenButtons;
use crate::text;

/// Says what reading will take, and what to do instead.
#[component]
pub(crate) fn TooLarge(title: String, bytes: u64, needed_bytes: u64) -> impl IntoView {
    let page = Page::of_context();
    let budget = text::bytes(BUDGET_BYTES);
    view! {
        <main class="landing">
            <section class="drop" role="alert">
                <h1>{format!("{title} may be too large for a browser")}</h1>
                <p class="lead">
                    {format!(
                        "{} of dumps take up to {} of memory, and a browser has about {budget} for this",
                        text::bytes(bytes),
                        text::bytes(needed_bytes),
                    )}
                </p>
                <p class="hintline">"The command has all of the machine's memory and gives the same verdict; a pack of a job opens here at a fraction of the size:"</p>
                <pre><code>{format!("hangscope analyze {title}\nhangscope pack {title} -o job.hangscope")}</code></pre>
                <div class="acts"><button on:click=move |_| page.read_all_the_same()>"Read it here all the same"</button></div>
                <OpenButtons />
            </section>
        </main>
    }
}
