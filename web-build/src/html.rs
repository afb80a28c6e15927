//! The tags of `index.html` that name what has to be built, written as Trunk wants them.

use anyhow::{Context as _, Result, bail};

/// What a tag with `data-trunk` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asset<'html> {
    /// A style sheet, by its path from the repository's root.
    Css(&'html str),
    /// A module script, by its path from the repository's root.
    Script(&'html str),
    /// The page's crate.
    Rust,
    /// A folder that stands beside the page under its own name, by its path from the repository's root.
    Folder(&'html str),
}

/// Copies `html` and puts what `replacement` gives in the place of each tag with `data-trunk`.
pub(crate) fn replace_assets<'html>(
    html: &'html str,
    mut replacement: impl FnMut(Asset<'html>) -> Result<String>,
) -> Result<String> {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(marker) = rest.find(" data-trunk") {
        let (before, after) = rest.split_at(marker);
        let start = before.rfind('<').context("`data-trunk` in index.html stands outside of a tag")?;
        let end = after.find('>').context("a tag with `data-trunk` in index.html has no end")?;
        let tag = rest.get(start..marker + end).unwrap_or_default();
        let mut next = after.get(end + 1..).unwrap_or_default();
        let asset = if tag.starts_with("<script") {
            next = next.trim_start().strip_prefix("</script>").context("a script with `data-trunk` must be empty")?;
            Asset::Script(attribute(tag, "src").context("a script with `data-trunk` has no `src`")?)
        } else {
            match attribute(tag, "rel") {
                Some("css") => Asset::Css(attribute(tag, "href").context("a style sheet has no `href`")?),
                Some("rust") => Asset::Rust,
                Some("copy-dir") => Asset::Folder(attribute(tag, "href").context("a folder has no `href`")?),
                other => bail!("`rel` of a tag with `data-trunk` is {other:?}; known are css, rust and copy-dir"),
            }
        };
        out.push_str(before.get(..start).unwrap_or_default());
        out.push_str(&replacement(asset)?);
        rest = next;
    }
    out.push_str(rest);
    Ok(out)
}

fn attribute<'tag>(tag: &'tag str, name: &str) -> Option<&'tag str> {
    let (_, value) = tag.split_once(&format!(" {name}=\""))?;
    value.split_once('"').map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(html: &str) -> Result<String> {
        replace_assets(html, |asset| Ok(format!("[{asset:?}]")))
    }

    #[test]
    fn replaces_each_kind_and_keeps_the_rest() {
        let html = r#"<head><link rel="icon" href="i"><link data-trunk rel="css" href="a.css">
<link data-trunk rel="rust" href="web/Cargo.toml" data-type="worker"><link data-trunk rel="copy-dir" href="d/e"><script data-trunk type="module" src="b.js"></script></head>"#;
        assert_eq!(
            replaced(html).unwrap(),
            "<head><link rel=\"icon\" href=\"i\">[Css(\"a.css\")]\n[Rust][Folder(\"d/e\")][Script(\"b.js\")]</head>"
        );
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        for html in [
            r#"<link data-trunk rel="sass" href="a.scss">"#,
            r#"<link data-trunk rel="css">"#,
            r#"<link data-trunk rel="copy-dir">"#,
            r#"<script data-trunk src="a.js">let x</script>"#,
            r#"<link data-trunk rel="css" href="a.css""#,
        ] {
            assert!(replaced(html).is_err(), "{html}");
        }
    }
}
