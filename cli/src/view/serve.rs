//! The server.

use std::io::{SeekFrom, Write as _};
use std::net::Ipv4Addr;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderValue};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};
use tokio::net::TcpListener;
use tokio_util::io::ReaderStream;

use super::access::{Token, is_loopback};
use super::dump_list::{DumpFile, DumpList};
use super::{browser, page};

/// What to show and how.
#[derive(Debug)]
pub(crate) struct ViewOptions {
    /// What the page calls the job; empty where nothing stands for all of it.
    pub(crate) title: String,
    /// The dumps that the page loads.
    pub(crate) dumps: Vec<DumpFile>,
    /// The port to listen on; a free one if it is not given.
    pub(crate) port: Option<u16>,
    /// Whether to open the user's browser, where there is a screen.
    pub(crate) open_browser: bool,
}

/// Serves the page with the dumps until Ctrl-C. Prints the address on standard output.
pub(crate) fn serve(options: ViewOptions) -> Result<()> {
    // One thread: the work is copying files to one browser.
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("failed to start the viewer")?;
    runtime.block_on(async {
        let viewer = Viewer::new(options.title, options.dumps)?;
        let listener = listen(options.port).await?;
        let port = listener.local_addr().context("failed to learn the viewer's port")?.port();
        let url = format!("http://127.0.0.1:{port}/{}/", viewer.token);
        announce(viewer.dumps.len(), port, &url)?;
        if options.open_browser {
            browser::open(&url);
        }
        tokio::select! {
            result = run(listener, viewer) => result,
            () = stop_signal() => Ok(()),
        }
    })
}

fn announce(dump_count: usize, port: u16, url: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let files = if dump_count == 1 { "file" } else { "files" };
    writeln!(out, "Showing {dump_count} {files} at {url}")?;
    if browser::is_remote() {
        writeln!(out, "From your own machine: ssh -L {port}:127.0.0.1:{port} THIS-HOST, then open the address there")?;
    }
    writeln!(out, "The address works on this machine only, and for those only who know it. Ctrl-C ends it.")?;
    out.flush().context("failed to print the address")
}

pub(super) async fn listen(port: Option<u16>) -> Result<TcpListener> {
    let wanted = port.unwrap_or(0);
    TcpListener::bind((Ipv4Addr::LOCALHOST, wanted)).await.with_context(|| match port {
        Some(port) => format!("failed to listen on port {port} of 127.0.0.1; leave the port out to get a free one"),
        None => "failed to listen on 127.0.0.1".to_owned(),
    })
}

/// Answers whatever comes in, for ever.
pub(super) async fn run(listener: TcpListener, viewer: Viewer) -> Result<()> {
    let app = Router::new().fallback(answer).with_state(Arc::new(viewer));
    axum::serve(listener, app).await.context("the viewer failed")
}

/// Ctrl-C, or what a service manager sends. Open connections are cut: a browser keeps its own for minutes.
async fn stop_signal() {
    let interrupt = async {
        if tokio::signal::ctrl_c().await.is_err() {
            // No handler can be set: the signal then ends the process by itself.
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let terminate = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminate = std::future::pending::<()>();
    tokio::select! {
        () = interrupt => {}
        () = terminate => {}
    }
}

/// What every answer is made from.
#[derive(Debug)]
pub(super) struct Viewer {
    pub(super) token: Token,
    title: String,
    dumps: Vec<DumpFile>,
    index: String,
}

impl Viewer {
    pub(super) fn new(title: String, dumps: Vec<DumpFile>) -> Result<Self> {
        Ok(Self { token: Token::random()?, title, dumps, index: page::index()? })
    }
}

async fn answer(State(viewer): State<Arc<Viewer>>, request: Request) -> Response {
    let mut response = route(&viewer, &request.into_parts().0).await;
    let headers = response.headers_mut();
    for (name, value) in SECURITY_HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The page brings its own content policy; this adds what only a header can say.
const SECURITY_HEADERS: [(HeaderName, &str); 7] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::CONTENT_SECURITY_POLICY, "frame-ancestors 'none'"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

async fn route(viewer: &Viewer, request: &Parts) -> Response {
    let host = request.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    if !host.is_some_and(is_loopback) {
        return (StatusCode::FORBIDDEN, "hangscope answers to 127.0.0.1 and localhost only\n").into_response();
    }
    let Some(name) = viewer.token.strip(request.uri.path()) else {
        return not_found();
    };
    // axum leaves the body out for HEAD.
    if request.method != Method::GET && request.method != Method::HEAD {
        return (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, HEAD")]).into_response();
    }
    match name {
        "" | "index.html" => typed("text/html; charset=utf-8", viewer.index.clone().into()),
        "dumps.json" => dump_list(viewer),
        _ => match name.strip_prefix("dumps/") {
            Some(index) => dump(viewer, index, Span::asked(&request.headers)).await,
            None => page::find(name).map_or_else(not_found, |file| typed(file.content_type(), file.content.into())),
        },
    }
}

fn dump_list(viewer: &Viewer) -> Response {
    match serde_json::to_vec(&DumpList::new(&viewer.title, &viewer.dumps)) {
        Ok(json) => typed("application/json", json.into()),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// A part of a file that a client asks for, first and last byte: the page reads a pack one section after the other.
#[derive(Debug, Clone, Copy)]
struct Span {
    first: u64,
    last: u64,
}

impl Span {
    /// The part that a request names as `bytes=FIRST-LAST`. Other forms are answered with the whole file, as HTTP allows (RFC 9110, 14.2).
    fn asked(headers: &HeaderMap) -> Option<Span> {
        let (first, last) = headers.get(header::RANGE)?.to_str().ok()?.strip_prefix("bytes=")?.split_once('-')?;
        let span = Span { first: first.parse().ok()?, last: last.parse().ok()? };
        (span.first <= span.last).then_some(span)
    }

    /// What there is of it in a file of this size.
    fn within(self, size_bytes: u64) -> Option<Span> {
        let last = self.last.min(size_bytes.checked_sub(1)?);
        (self.first <= last).then_some(Span { first: self.first, last })
    }

    fn len(self) -> u64 {
        self.last - self.first + 1
    }
}

async fn dump(viewer: &Viewer, index: &str, asked: Option<Span>) -> Response {
    let Some(dump) = index.parse().ok().and_then(|index: usize| viewer.dumps.get(index)) else {
        return not_found();
    };
    let opened = async {
        let mut file = tokio::fs::File::open(&dump.path).await?;
        let size_bytes = file.metadata().await?.len();
        let span = asked.map(|asked| asked.within(size_bytes));
        if let Some(Some(span)) = span {
            file.seek(SeekFrom::Start(span.first)).await?;
        }
        std::io::Result::Ok((file, size_bytes, span))
    };
    match opened.await {
        Ok((_, size_bytes, Some(None))) => {
            let all = format!("bytes */{size_bytes}");
            (StatusCode::RANGE_NOT_SATISFIABLE, [(header::CONTENT_RANGE, all)]).into_response()
        }
        Ok((file, size_bytes, span)) => {
            let span = span.flatten();
            let length = span.map_or(size_bytes, Span::len);
            // A job that still writes may make the file longer meanwhile; the length was promised.
            let body = Body::from_stream(ReaderStream::with_capacity(file.take(length), 1 << 16));
            let mut response = typed("application/octet-stream", body);
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_LENGTH, length.into());
            headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
            let part = span.map(|span| format!("bytes {}-{}/{size_bytes}", span.first, span.last));
            if let Some(part) = part.and_then(|part| HeaderValue::try_from(part).ok()) {
                headers.insert(header::CONTENT_RANGE, part);
                *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            }
            response
        }
        Err(error) => (StatusCode::NOT_FOUND, format!("{}: {error}\n", dump.path.display())).into_response(),
    }
}

fn typed(content_type: &'static str, body: Body) -> Response {
    ([(header::CONTENT_TYPE, content_type)], body).into_response()
}

fn not_found() -> Response {
    StatusCode::NOT_FOUND.into_response()
}
