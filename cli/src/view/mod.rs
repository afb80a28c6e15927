//! The local viewer: a small web server for the page and the named dumps, for this machine's user alone.
//!
//! It listens on 127.0.0.1 only. That keeps other machines out, but neither other users of this machine nor web pages
//! open in the same browser; so every address has a random token in it, and a request that names another host than this
//! machine (as a page does that had its own name resolved to 127.0.0.1) is refused.
//!
//! The addresses below `http://127.0.0.1:PORT/TOKEN/`:
//!
//! | address | content |
//! |---|---|
//! | `` and the names of the page's files | the page, with a `<meta name="hangscope-dumps" content="dumps.json">` put into its head |
//! | `dumps.json` | `{"version": 1, "title": …, "dumps": [{"name": …, "size_bytes": …, "url": "dumps/0"}, …]}` |
//! | `dumps/N` | the bytes of the file at place N of that list |

mod access;
mod browser;
mod dump_list;
mod page;
mod serve;

#[cfg(test)]
mod tests;

pub(crate) use dump_list::DumpFile;
pub(crate) use serve::{ViewOptions, serve};
