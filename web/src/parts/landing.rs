//! What the page shows before there is a verdict: the way in, and what went wrong.

use leptos::prelude::*;

use crate::page::Page;
use crate::parts::dialogs::NotesList;
use crate::parts::open_buttons::OpenButtons;

/// A variable of the job's environment: name, the older name, value, and what it is for.
const VARIABLES: [(&str, &str, &str, &str); 5] = [
    (
        "TORCH_FR_BUFFER_SIZE",
        "TORCH_NCCL_TRACE_BUFFER_SIZE",
        "2000",
        "how many operations each rank remembers; 0 is off",
    ),
    ("TORCH_FR_DUMP_ON_TIMEOUT", "TORCH_NCCL_DUMP_ON_TIMEOUT", "1", "write the dump when the watchdog sees a hang"),
    (
        "TORCH_FR_DUMP_TEMP_FILE",
        "TORCH_NCCL_DEBUG_INFO_TEMP_FILE",
        "/shared/job/nccl_trace_rank_",
        "where to: the rank is appended",
    ),
    ("TORCH_NCCL_ENABLE_TIMING", "", "1", "tells operations that run from those that only wait; costs a little"),
    ("TORCH_INCLUDE_STACK_TRACE", "", "1", "call stacks in the dump"),
];

#[component]
pub(crate) fn Landing() -> impl IntoView {
    view! {
        <main class="landing">
            <section class="drop">
                <h1>"Find out why a distributed training job hung"</h1>
                <p class="lead">"Drop a folder of Flight Recorder dumps"</p>
                <p class="hintline">
                    "One file per rank, as PyTorch writes them: " <code>"nccl_trace_rank_0"</code> ", " <code>"nccl_trace_rank_1"</code>
                    " … Pickle or JSON, also gzipped."
                </p>
                <OpenButtons />
                <p class="promise">
                    <span class="dot ok" aria-hidden="true"></span>
                    "Nothing leaves this browser. The files are read here, and the page may not talk to any other host."
                </p>
            </section>
            <section class="howto">
                <h2>"How to get dumps"</h2>
                <p>"Set this in the job, on every rank. The names in the second column are those of older PyTorch releases."</p>
                <div class="tablescroll" tabindex="0" role="region" aria-label="Environment variables">
                    <table>
                        <thead><tr><th>"Variable"</th><th>"Older name"</th><th>"Value"</th><th>"What for"</th></tr></thead>
                        <tbody>
                            {VARIABLES
                                .map(|(name, older, value, about)| {
                                    view! {
                                        <tr>
                                            <td><code>{name}</code></td>
                                            <td>{if older.is_empty() { view! { <span class="muted">"the same"</span> }.into_any() } else { view! { <code>{older}</code> }.into_any() }}</td>
                                            <td><code>{value}</code></td>
                                            <td>{about}</td>
                                        </tr>
                                    }
                                })
                                .collect_view()}
                        </tbody>
                    </table>
                </div>
                <p>
                    "Recorder and dump on timeout are on by default since the names with " <code>"TORCH_FR_"</code>
                    ". Collect the files of all ranks, and drop the folder that holds them."
                </p>
            </section>
        </main>
    }
}

/// Files were opened, and none was a dump.
#[component]
pub(crate) fn NothingReadable() -> impl IntoView {
    let page = Page::of_context();
    view! {
        <main class="landing">
            <section class="drop" role="alert">
                <h1>"No dump could be read"</h1>
                <p class="lead">
                    {move || page.dataset().map(|dataset| dataset.title.clone())}
                    " holds no Flight Recorder dump that hangscope understands"
                </p>
                <p class="hintline">
                    "A dump is a file per rank in Python pickle or JSON. Logs, checkpoints and profiler traces are something else."
                </p>
                <OpenButtons />
            </section>
            <section class="howto">
                <h2>"Why not"</h2>
                <NotesList />
            </section>
        </main>
    }
}

/// Something else failed. `in_worker` tells that the command may get further.
#[component]
pub(crate) fn Failed(title: String, reason: String, in_worker: bool) -> impl IntoView {
    let folder = if title.is_empty() { "FOLDER".to_owned() } else { title.clone() };
    let heading =
        if title.is_empty() { "That could not be opened".to_owned() } else { format!("{title} could not be opened") };
    view! {
        <main class="landing">
            <section class="drop" role="alert">
                <h1>{heading}</h1>
                <p class="lead">{crate::text::sentence(&reason)}</p>
                {in_worker
                    .then(|| {
                        view! {
                            <p class="hintline">
                                "A browser has four gigabytes at most for this. The command has all of the machine's memory and gives the same verdict:"
                            </p>
                            <pre><code>{format!("hangscope analyze {folder}")}</code></pre>
                        }
                    })}
                <OpenButtons />
            </section>
        </main>
    }
}
