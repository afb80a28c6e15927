//! Where rank 0 is found: what it tells the others through the library itself.

use std::fs::File;
use std::io::{self, Read as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, ToSocketAddrs as _};

use crate::dump::host_name;

/// Host, port and token, as one line of text: `HOST:PORT TOKEN`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// `HOST:PORT`.
    pub at: String,
    /// What members show each other.
    pub token: String,
}

impl Address {
    pub(super) fn to_text(&self) -> String {
        format!("{} {}", self.at, self.token)
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let (at, token) = text.trim_end_matches('\0').trim().split_once(' ')?;
        at.rsplit_once(':').filter(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())?;
        Some(Self { at: at.to_owned(), token: token.to_owned() })
    }

    /// Where to try: a server on this machine is reached without asking for its name.
    pub(super) fn places(&self) -> Vec<String> {
        match self.at.rsplit_once(':') {
            Some((host, port)) if host == host_name() => vec![format!("127.0.0.1:{port}"), self.at.clone()],
            _ => vec![self.at.clone()],
        }
    }
}

/// Listens at `HOST:PORT`, on all of the machine's addresses unless the host is the machine itself.
pub(super) fn listen(at: &str) -> io::Result<TcpListener> {
    let loopback = at.to_socket_addrs().is_ok_and(|mut found| found.all(|address| address.ip().is_loopback()));
    let port = at.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or(0_u16);
    listen_on(port, loopback)
}

/// Listens on any port, for ranks on any machine.
pub(super) fn listen_anywhere() -> io::Result<TcpListener> {
    listen_on(0, false)
}

fn listen_on(port: u16, loopback: bool) -> io::Result<TcpListener> {
    let both: [IpAddr; 2] = if loopback {
        [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]
    } else {
        // The second is for machines without the newer protocol.
        [Ipv6Addr::UNSPECIFIED.into(), Ipv4Addr::UNSPECIFIED.into()]
    };
    let listener = TcpListener::bind((both[0], port)).or_else(|_| TcpListener::bind((both[1], port)))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// A token that nobody guesses.
pub(super) fn new_token() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_goes_through_text() {
        let address = Address { at: "node-3:4321".to_owned(), token: new_token().unwrap() };
        assert_eq!(Address::parse(&address.to_text()), Some(address.clone()));
        assert_eq!(Address::parse(&format!("{}\0\0\0", address.to_text())), Some(address));
        for text in ["", "node-3:4321", ":1 x", "node: x", "node:99999 x"] {
            assert_eq!(Address::parse(text), None, "{text}");
        }
    }

    #[test]
    fn tokens_differ() {
        assert_ne!(new_token().unwrap(), new_token().unwrap());
        assert_eq!(new_token().unwrap().len(), 32);
    }
}
