//! Transfers from cache to cache.

/// Where the memory behind the lines lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Homed {
    /// On the node of the writer.
    Writer,
    /// On the node of the reader.
    Reader,
}

/// Head of the section. `large_pages` is what the kernel gave, not what was asked for.
pub fn transfer_start(large_pages: bool) -> String {
    let pages = if large_pages {
        ""
    } else {
        "Using small pages for allocating buffers\n"
    };
    format!("Measuring cache-to-cache transfer latency (in ns)...\n{pages}")
}

/// The two lines of one socket; either may be left out.
pub fn transfer_lines(clean_ns: Option<f64>, modified_ns: Option<f64>) -> String {
    let line = |name, ns: Option<f64>| {
        ns.map(|ns| format!("Local Socket L2->L2 {name} latency\t{ns:.1}\n"))
            .unwrap_or_default()
    };
    line("HIT ", clean_ns) + &line("HITM", modified_ns)
}

/// The matrix between nodes: a row a writer, a column a reader, nothing on the diagonal.
pub fn transfer_matrix(homed: Homed, nodes: &[u32], ns: &[Vec<Option<f64>>]) -> String {
    let home = match homed {
        Homed::Writer => "writer",
        Homed::Reader => "reader",
    };
    let mut text = format!(
        "Remote Socket L2->L2 HITM latency (data address homed in {home} socket)\n\
         \t\t\tReader Numa Node\nWriter Numa Node{}\n",
        super::columns(nodes)
    );
    for (writer, row) in nodes.iter().zip(ns) {
        let cell = |ns: &Option<f64>| match ns {
            Some(ns) => format!("{ns:6.1}\t"),
            None => format!("{:>6}\t", "-"),
        };
        let cells: Vec<String> = row.iter().map(cell).collect();
        text += &format!("{writer:13}\t{}\n", cells.concat());
    }
    text
}
