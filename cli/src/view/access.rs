//! Who may read: whoever knows the token and asks this machine by its own name.

use std::fmt::{self, Display, Write as _};

use anyhow::Result;

/// The secret part of the viewer's address: 128 random bits.
#[derive(Clone)]
pub(super) struct Token(String);

impl Token {
    /// A new one from the system's randomness.
    pub(super) fn random() -> Result<Self> {
        let mut bytes = [0; 16];
        // The error type is no `std::error::Error` on every platform.
        getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("the system gives no random numbers: {error}"))?;
        let mut text = String::with_capacity(32);
        for byte in bytes {
            write!(text, "{byte:02x}")?;
        }
        Ok(Self(text))
    }

    /// What follows the token in a request's path, if the path starts with this token: `/TOKEN/rest`.
    pub(super) fn strip<'path>(&self, path: &'path str) -> Option<&'path str> {
        let (candidate, rest) = path.strip_prefix('/')?.split_once('/')?;
        self.matches(candidate).then_some(rest)
    }

    /// Takes the same time wherever the first difference is.
    fn matches(&self, candidate: &str) -> bool {
        candidate.len() == self.0.len()
            && candidate.bytes().zip(self.0.bytes()).fold(0, |different, (a, b)| different | (a ^ b)) == 0
    }
}

impl Display for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Without the secret, which must not end up in a log.
impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}

/// Whether a `Host` header names this machine itself, with any port.
pub(super) fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    name.eq_ignore_ascii_case("localhost") || name == "127.0.0.1" || name == "[::1]"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_and_are_long() {
        let (first, second) = (Token::random().unwrap().to_string(), Token::random().unwrap().to_string());
        assert_ne!(first, second);
        assert!(first.len() == 32 && first.bytes().all(|byte| byte.is_ascii_hexdigit()), "{first}");
    }

    #[test]
    fn strips_its_own_token_only() {
        let token = Token("0123456789abcdef".to_owned());
        assert_eq!(token.strip("/0123456789abcdef/"), Some(""));
        assert_eq!(token.strip("/0123456789abcdef/dumps/0"), Some("dumps/0"));
        for path in
            ["/", "//", "/dumps/0", "/0123456789abcdef", "/0123456789abcdee/", "/0123456789abcde/", "0123456789abcdef/"]
        {
            assert_eq!(token.strip(path), None, "{path}");
        }
    }

    #[test]
    fn knows_this_machine_by_name() {
        for host in ["127.0.0.1", "127.0.0.1:8080", "localhost", "LOCALHOST:1", "[::1]", "[::1]:80"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "",
            "example.org",
            "example.org:127",
            "127.0.0.1.example.org",
            "localhost.example.org:80",
            "10.0.0.1",
            "127.0.0.1:",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
