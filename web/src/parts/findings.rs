//! The list of findings, where there are several.

use leptos::prelude::*;

use crate::page::Page;
use crate::parts::side::finding_title;

#[component]
pub(crate) fn Findings() -> impl IntoView {
    let page = Page::of_context();
    move || {
        let dataset = page.dataset()?;
        let findings = &dataset.report.findings;
        (findings.len() > 1).then(|| {
            let items = findings.iter().enumerate().map(|(index, finding)| {
                let is_shown = move || page.finding.get() == index;
                view! {
                    <li>
                        <button class:on=is_shown aria-current=move || is_shown().then_some("true") on:click=move |_| page.show_finding(index)>
                            <b>{finding.id.clone()}</b>
                            {finding_title(finding)}
                        </button>
                    </li>
                }
            });
            view! { <nav class="findings" aria-label="Findings"><ol>{items.collect_view()}</ol></nav> }
        })
    }
}
