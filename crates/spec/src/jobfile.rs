//! Job files: sections, comments, includes. What the options mean is decided elsewhere.

use crate::place::{Diagnostic, Place};
use crate::world::World;

/// An option line of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) name: String,
    /// The text behind `=`, with the blanks in front of it, which matter to notes.
    pub(crate) value: Option<String>,
    pub(crate) place: Place,
}

/// A `[name]` and the lines below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) name: String,
    pub(crate) lines: Vec<Line>,
    pub(crate) place: Place,
}

impl Section {
    /// True for sections that edit the defaults of those below them.
    pub(crate) fn is_global(&self) -> bool {
        self.name.starts_with("global")
    }
}

/// Includes nest at most this deep; a file that includes itself ends here.
const MAX_INCLUDES: usize = 16;

/// Reads a job file and what it includes.
pub(crate) fn read(path: &str, world: &dyn World) -> Result<Vec<Section>, Diagnostic> {
    let text = load(path, None, world)?;
    let mut sections: Vec<Section> = Vec::new();
    for (at, raw) in text.lines().enumerate() {
        let line = strip_comment(raw);
        if line.trim().is_empty() {
            continue;
        }
        let place = place(path, at, line);
        let body = line.trim();
        if let Some(header) = body.strip_prefix('[') {
            let Some((name, _)) = header.split_once(']') else {
                return Err(Diagnostic::error(
                    Some(place),
                    format!("`{body}`: missing `]`"),
                ));
            };
            sections.push(Section {
                name: name.to_string(),
                lines: Vec::new(),
                place,
            });
        } else if let Some(section) = sections.last_mut() {
            add(&mut section.lines, body, place, path, world, 0)?;
        } else {
            let text = format!("`{body}` stands before the first [section]");
            return Err(Diagnostic::error(Some(place), text));
        }
    }
    Ok(sections)
}

fn load(path: &str, from: Option<&Place>, world: &dyn World) -> Result<String, Diagnostic> {
    let bytes = world.read(path).map_err(|error| {
        Diagnostic::error(
            from.cloned(),
            format!("cannot read job file `{path}`: {error}"),
        )
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// `;` and `#` begin a comment wherever they stand.
fn strip_comment(line: &str) -> &str {
    let end = line.find([';', '#']).unwrap_or(line.len());
    line[..end].trim_end()
}

fn place(path: &str, index: usize, line: &str) -> Place {
    let blanks = line.chars().take_while(|c| c.is_whitespace()).count();
    Place::File {
        path: path.to_string(),
        line: index + 1,
        column: blanks + 1,
    }
}

/// Adds an option line, or the lines of an included file.
fn add(
    lines: &mut Vec<Line>,
    body: &str,
    place: Place,
    path: &str,
    world: &dyn World,
    depth: usize,
) -> Result<(), Diagnostic> {
    let included = body
        .strip_prefix("include")
        .filter(|rest| rest.starts_with(|c: char| c.is_whitespace() || c == '='));
    if let Some(rest) = included {
        let name = rest.trim_start().trim_start_matches('=').trim();
        return include(lines, name, &place, path, world, depth + 1);
    }
    let (name, value) = match body.split_once('=') {
        Some((name, value)) => (name, Some(value.to_string())),
        None => (body, None),
    };
    lines.push(Line {
        name: name.trim_end().to_string(),
        value,
        place,
    });
    Ok(())
}

fn include(
    lines: &mut Vec<Line>,
    name: &str,
    from: &Place,
    path: &str,
    world: &dyn World,
    depth: usize,
) -> Result<(), Diagnostic> {
    let fail = |text: String| Err(Diagnostic::error(Some(from.clone()), text));
    if depth > MAX_INCLUDES {
        return fail(format!("`{name}`: includes nest too deeply"));
    }
    let beside = path
        .rsplit_once('/')
        .map(|(folder, _)| format!("{folder}/{name}"));
    let found = match beside {
        Some(beside) if !world.exists(name) => beside,
        _ => name.to_string(),
    };
    let text = load(&found, Some(from), world)?;
    for (at, raw) in text.lines().enumerate() {
        let line = strip_comment(raw);
        let body = line.trim();
        if body.is_empty() {
            continue;
        }
        let place = place(&found, at, line);
        if body.starts_with('[') {
            let text = "an included file must not begin a section";
            return Err(Diagnostic::error(Some(place), text));
        }
        add(lines, body, place, &found, world, depth)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::FakeWorld;

    fn lines(section: &Section) -> Vec<(&str, Option<&str>)> {
        section
            .lines
            .iter()
            .map(|l| (l.name.as_str(), l.value.as_deref()))
            .collect()
    }

    #[test]
    fn sections_comments_and_blanks() {
        let text = "# top\n[global]   \n bs = 8k ; eight\nthread\n\n[job one]tail\nrw=randread#x\n";
        let world = FakeWorld::default().with_file("j.fio", text);
        let sections = read("j.fio", &world).unwrap();
        assert_eq!(sections.len(), 2);
        assert!(sections[0].is_global());
        assert_eq!(lines(&sections[0]), [("bs", Some(" 8k")), ("thread", None)]);
        assert_eq!(sections[1].name, "job one");
        assert_eq!(lines(&sections[1]), [("rw", Some("randread"))]);
        let at = |line, column| Place::File {
            path: "j.fio".into(),
            line,
            column,
        };
        assert_eq!(sections[0].lines[0].place, at(3, 2));
        assert_eq!(sections[1].place, at(6, 1));
    }

    #[test]
    fn includes_are_relative_to_the_including_file() {
        let world = FakeWorld::default()
            .with_file("d/a.fio", "[x]\ninclude b.inc\nbs=1k\n")
            .with_file("d/b.inc", "rw=write\ninclude c.inc\n")
            .with_file("d/c.inc", "direct=1\n");
        let sections = read("d/a.fio", &world).unwrap();
        let want = [
            ("rw", Some("write")),
            ("direct", Some("1")),
            ("bs", Some("1k")),
        ];
        assert_eq!(lines(&sections[0]), want);
    }

    #[test]
    fn mistakes_name_their_place() {
        let message = |text: &str| {
            let world = FakeWorld::default()
                .with_file("j", text)
                .with_file("self", "include self")
                .with_file("sect", "[no]");
            read("j", &world).unwrap_err().to_string()
        };
        assert_eq!(
            message("\n rw=read\n"),
            "j:2:2: `rw=read` stands before the first [section]"
        );
        assert_eq!(message("[oops\n"), "j:1:1: `[oops`: missing `]`");
        assert!(message("[a]\ninclude none\n").starts_with("j:2:1: cannot read job file `none`"));
        assert_eq!(
            message("[a]\ninclude self\n"),
            "self:1:1: `self`: includes nest too deeply"
        );
        assert!(message("[a]\ninclude sect\n").starts_with("sect:1:1: an included file"));
    }
}
