//! The report as one page: a file that works from disk, without network and without script. The
//! pages of `assay serve` are made of the same pieces.
//!
//! The template escapes by default; what is put in unescaped is made here or by `chart`, never
//! from outside. The policy in the head forbids the page to load or send anything, and lets no
//! script run but the page's own, named by its hash.

mod parts;
pub mod site;

use crate::report::{Report, markdown, one_line};
use flate2::Compression;
use flate2::write::GzEncoder;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use parts::part;
use sha2::{Digest, Sha256};
use std::io::Write;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page.
pub fn html(report: &Report) -> String {
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
         form-action 'none'; script-src {}",
        hash(SCRIPT)
    );
    let head = html! { meta http-equiv="Content-Security-Policy" content=(policy); };
    let body = whole(report, html! {});
    document(&report.title, head, &[STYLE], &[SCRIPT], body)
}

/// A document around a body; the scripts stand at its end.
fn document(title: &str, head: Markup, styles: &[&str], scripts: &[&str], body: Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                (head)
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (one_line(title)) " - Assay" }
                link rel="icon" href="data:,";
                style { @for style in styles { (PreEscaped(style)) } }
            }
            body {
                (body)
                @for script in scripts { script { (PreEscaped(script)) } }
            }
        }
    };
    page.into_string()
}

/// A report with its buttons, its Markdown and its raw result; `form` stands below the heading.
fn whole(report: &Report, form: Markup) -> Markup {
    let mut charts = 0;
    html! {
        header {
            h1 { (one_line(&report.title)) }
            p.sub { (one_line(&report.subtitle)) }
            p.tools hidden {
                button type="button" #copy { "Copy as Markdown" }
                button type="button" #save { "Save raw result" }
                span #said role="status" {}
            }
        }
        (form)
        nav aria-label="Sections" {
            @for (index, section) in report.sections.iter().enumerate() {
                a href={ "#s" (index) } { (one_line(&section.heading)) }
            }
        }
        main {
            @for (index, section) in report.sections.iter().enumerate() {
                (part(&format!("s{index}"), section, &mut charts))
            }
            section #raw {
                h2 { "To go on with" }
                details {
                    summary { "This report as Markdown" }
                    pre #markdown tabindex="0" { (markdown(report)) }
                }
                p.sub {
                    "The raw result is in the source of this page, in the element "
                    code { "raw-result" } " (JSON, packed with gzip where it is large)."
                }
            }
        }
        (PreEscaped(raw(report)))
    }
}

/// A script as policies name it.
fn hash(script: &str) -> String {
    format!("'sha256-{}'", base64(&Sha256::digest(script)))
}

/// Longer documents are packed: 13 runs of an hour each would be 4 MB of digits.
const MOST_PLAIN: usize = 400_000;

/// What stands in a page whose raw result is packed.
pub const PACKED: &str = "<script type=\"application/gzip+base64\" id=\"raw-result\">";

/// The documents as an element of the page: JSON that no end tag can break out of, or the same
/// packed.
fn raw(report: &Report) -> String {
    let documents = match report.raw.as_slice() {
        [only] => only.clone(),
        several => format!("[{}]", several.join(",")),
    };
    if documents.len() > MOST_PLAIN {
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        let packed = packer
            .write_all(documents.as_bytes())
            .and_then(|()| packer.finish());
        // Writing to memory does not fail; if it did, the plain form is still right.
        if let Ok(bytes) = packed {
            return format!("{PACKED}{}</script>", base64(&bytes));
        }
    }
    // Inside JSON a `<` can only stand in a string, where the escape means the same.
    let mut plain = documents.replace('<', "\\u003c");
    for turn in ('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}') {
        if plain.contains(turn) {
            plain = plain.replace(turn, &format!("\\u{:04x}", u32::from(turn)));
        }
    }
    format!("<script type=\"application/json\" id=\"raw-result\">{plain}</script>")
}

/// Base64 with padding, as policies want hashes.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |three: u32, at: u32| char::from(DIGITS[(three >> (18 - 6 * at)) as usize & 63]);
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let three = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            out.push(if at as usize <= chunk.len() {
                digit(three, at)
            } else {
                '='
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_of_the_standard() {
        let pairs = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
        ];
        for (text, encoded) in pairs {
            assert_eq!(base64(text.as_bytes()), encoded);
        }
    }
}
