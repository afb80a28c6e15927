//! The viewer as a client on the network sees it: bytes over a socket, so that no client library tidies a path up.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use tempfile::TempDir;
use tokio::net::TcpListener;

use super::DumpFile;
use super::serve::{Viewer, run};

struct Running {
    address: SocketAddr,
    token: String,
    folder: TempDir,
    // Dropped, it stops the server.
    _runtime: tokio::runtime::Runtime,
}

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

fn start(dumps: &[(&str, &[u8])]) -> Running {
    let folder = tempfile::tempdir().unwrap();
    let file = |(name, content): &(&str, &[u8])| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        DumpFile { path, name: (*name).to_owned() }
    };
    let viewer = Viewer::new("job".to_owned(), dumps.iter().map(file).collect()).unwrap();
    let token = viewer.token.to_string();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    runtime.spawn(run(listener, viewer));
    Running { address, token, folder, _runtime: runtime }
}

impl Running {
    fn send(&self, method: &str, path: &str, host: &str) -> Answer {
        self.send_with(method, path, &format!("Host: {host}\r\n"))
    }

    fn send_with(&self, method: &str, path: &str, headers: &str) -> Answer {
        let mut stream = TcpStream::connect(self.address).unwrap();
        write!(stream, "{method} {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n").unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head, body: bytes[end + 4..].to_vec() }
    }

    /// `name` is what follows the token.
    fn get(&self, name: &str) -> Answer {
        self.send("GET", &format!("/{}/{name}", self.token), "127.0.0.1")
    }
}

#[test]
fn serves_the_page_with_the_marker_and_every_file_that_it_names() {
    let viewer = start(&[]);
    let index = viewer.get("");
    assert_eq!((index.status, index.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(index.text().contains(r#"<meta name="hangscope-dumps" content="dumps.json">"#), "{}", index.text());
    assert_eq!(viewer.get("index.html").body, index.body);

    let named = index.text().split('"').filter_map(|text| text.strip_prefix("./")).collect::<Vec<_>>();
    assert!(named.len() >= 2, "{}", index.text());
    for name in named {
        let file = viewer.get(name);
        assert_eq!(file.status, 200, "{name}");
        assert!(!file.body.is_empty() && file.header("content-type") != Some("application/octet-stream"), "{name}");
    }
}

#[test]
fn lists_the_dumps_and_serves_their_bytes() {
    let large = (0..300_000_u32).flat_map(u32::to_le_bytes).collect::<Vec<_>>();
    let viewer = start(&[("rank_0", b"zero"), ("deep/rank 1", &large), ("empty", b"")]);
    assert_eq!(
        viewer.get("dumps.json").text(),
        concat!(
            r#"{"version":1,"title":"job","dumps":[{"name":"rank_0","size_bytes":4,"url":"dumps/0"},"#,
            r#"{"name":"deep/rank 1","size_bytes":1200000,"url":"dumps/1"},{"name":"empty","size_bytes":0,"url":"dumps/2"}]}"#
        )
    );
    assert_eq!(viewer.get("dumps/0").body, b"zero");
    let answer = viewer.get("dumps/1");
    assert_eq!(answer.header("content-length"), Some("1200000"));
    assert!(answer.body == large, "the bytes differ");
    assert_eq!((viewer.get("dumps/2").status, viewer.get("dumps/2").body.len()), (200, 0));

    let head = viewer.send("HEAD", &format!("/{}/dumps/1", viewer.token), "localhost");
    assert_eq!((head.status, head.header("content-length"), head.body.len()), (200, Some("1200000"), 0));
}

#[test]
fn a_part_of_a_file_is_served_where_a_client_asks_for_one() {
    let viewer = start(&[("job.hangscope", b"0123456789"), ("empty", b"")]);
    let ask = |file: u32, range: &str| {
        let path = format!("/{}/dumps/{file}", viewer.token);
        viewer.send_with("GET", &path, &format!("Host: 127.0.0.1\r\nRange: {range}\r\n"))
    };
    for (range, text, part) in [
        ("bytes=2-4", "234", "bytes 2-4/10"),
        ("bytes=0-0", "0", "bytes 0-0/10"),
        ("bytes=7-1000", "789", "bytes 7-9/10"),
    ] {
        let answer = ask(0, range);
        assert_eq!((answer.status, answer.text(), answer.header("content-range")), (206, text, Some(part)), "{range}");
        assert_eq!(answer.header("content-length"), Some(text.len().to_string().as_str()));
    }
    for range in ["bytes=10-12", "bytes=999-1000"] {
        let answer = ask(0, range);
        assert_eq!((answer.status, answer.header("content-range")), (416, Some("bytes */10")), "{range}");
    }
    assert_eq!(ask(1, "bytes=0-5").status, 416);
    // What is not understood is answered with everything.
    for range in ["bytes=4-2", "bytes=-3", "bytes=3-", "bytes=0-1,3-4", "lines=1-2", "bytes=a-b"] {
        let answer = ask(0, range);
        assert_eq!(
            (answer.status, answer.text(), answer.header("content-range")),
            (200, "0123456789", None),
            "{range}"
        );
        assert_eq!(answer.header("accept-ranges"), Some("bytes"));
    }
}

#[test]
fn without_the_token_there_is_nothing() {
    let viewer = start(&[("rank_0", b"secret")]);
    let wrong = "0".repeat(32);
    let upper = viewer.token.to_uppercase();
    let short = &viewer.token[..31];
    let paths = ["/".to_owned(), "/index.html".to_owned(), "/dumps.json".to_owned(), "/dumps/0".to_owned()];
    let tokens = [wrong.as_str(), upper.as_str(), short, ""].map(|token| format!("/{token}/dumps/0"));
    let glued = [format!("/{}", viewer.token), format!("//{}/", viewer.token), format!("/x/{}/dumps/0", viewer.token)];
    for path in paths.into_iter().chain(tokens).chain(glued) {
        let answer = viewer.send("GET", &path, "127.0.0.1");
        assert_eq!((answer.status, answer.body.len()), (404, 0), "{path}");
    }
}

#[test]
fn another_host_is_refused_though_it_has_the_token() {
    let viewer = start(&[("rank_0", b"secret")]);
    let path = format!("/{}/dumps/0", viewer.token);
    for host in ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""] {
        let answer = viewer.send("GET", &path, host);
        assert_eq!(answer.status, 403, "{host}");
        assert!(!answer.text().contains("secret"), "{host}");
    }
    let port = viewer.address.port();
    for host in [format!("127.0.0.1:{port}"), format!("localhost:{port}")] {
        assert_eq!(viewer.send("GET", &path, &host).status, 200, "{host}");
    }
}

#[test]
fn no_path_leads_out_of_the_list() {
    let viewer = start(&[("run/rank_0", b"zero")]);
    std::fs::write(viewer.folder.path().join("private"), "private").unwrap();
    let outside = viewer.folder.path().join("private");
    let absolute = outside.to_str().unwrap();
    for name in [
        "dumps/1",
        "dumps/-1",
        "dumps/18446744073709551616",
        "dumps/",
        "dumps/0/",
        "dumps/0/../../private",
        "dumps/../private",
        "dumps/%2e%2e/private",
        "dumps/..%2fprivate",
        "../private",
        "..%2f..%2fetc/passwd",
        "%2e%2e/dumps/0",
        "private",
        absolute,
    ] {
        let answer = viewer.get(name);
        assert_eq!(answer.status, 404, "{name}");
        assert!(!answer.text().contains("private"), "{name}");
    }
}

#[test]
fn nothing_is_cached_framed_or_changed() {
    let viewer = start(&[("rank_0", b"zero")]);
    let missing = viewer.send("GET", "/", "127.0.0.1");
    for answer in [viewer.get(""), viewer.get("dumps.json"), viewer.get("dumps/0"), missing] {
        for (name, value) in [
            ("cache-control", "no-store"),
            ("content-security-policy", "frame-ancestors 'none'"),
            ("cross-origin-resource-policy", "same-origin"),
            ("referrer-policy", "no-referrer"),
            ("x-content-type-options", "nosniff"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{}", answer.head);
        }
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        assert_eq!(viewer.send(method, &format!("/{}/dumps/0", viewer.token), "127.0.0.1").status, 405, "{method}");
    }
}

#[test]
fn a_file_that_is_gone_is_told_and_the_rest_still_served() {
    let viewer = start(&[("rank_0", b"zero"), ("rank_1", b"one")]);
    std::fs::remove_file(viewer.folder.path().join("rank_0")).unwrap();
    assert!(viewer.get("dumps.json").text().contains(r#""name":"rank_0","size_bytes":0"#));
    let gone = viewer.get("dumps/0");
    assert_eq!(gone.status, 404);
    assert!(gone.text().contains("rank_0"), "{}", gone.text());
    assert_eq!(viewer.get("dumps/1").body, b"one");
}

#[test]
fn listens_on_the_loopback_address_only() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let listener = runtime.block_on(super::serve::listen(None)).unwrap();
    let address = listener.local_addr().unwrap();
    assert!(address.ip().is_loopback() && address.port() != 0, "{address}");

    let error = runtime.block_on(super::serve::listen(Some(address.port()))).unwrap_err();
    assert!(error.to_string().contains(&address.port().to_string()), "{error}");
}
