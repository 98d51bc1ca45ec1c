//! NUMA nodes and memory policies.

use option::{Ctx, IdList, Kind, Scanned, Value, ValueError};

/// Nodes, or all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeList {
    /// Every node with memory.
    All,
    /// These.
    Nodes(IdList),
}

impl Default for NodeList {
    fn default() -> Self {
        NodeList::Nodes(IdList::default())
    }
}

impl Value for NodeList {
    const KIND: Kind = Kind::Text;

    fn parse(text: &str, ctx: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        if text.trim() == "all" {
            return Ok(Scanned {
                value: NodeList::All,
                note: None,
            });
        }
        Ok(IdList::parse(text, ctx)?.map(NodeList::Nodes))
    }

    fn show(&self) -> String {
        match self {
            NodeList::All => "all".to_string(),
            NodeList::Nodes(nodes) => nodes.show(),
        }
    }
}

/// Where the kernel takes a worker's memory from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MemPolicy {
    /// The system's default.
    #[default]
    Default,
    /// The node of the CPU that touches it first.
    Local,
    /// This node while it has memory.
    Prefer(u32),
    /// These nodes only.
    Bind(NodeList),
    /// These nodes in turn.
    Interleave(NodeList),
}

impl Value for MemPolicy {
    const KIND: Kind = Kind::Text;

    fn parse(text: &str, ctx: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        let trimmed = text.trim();
        let (mode, nodes) = match trimmed.split_once(':') {
            Some((mode, nodes)) => (mode, Some(nodes)),
            None => (trimmed, None),
        };
        let wrong = |why: &str| ValueError::syntax(text, why);
        let value = match (mode, nodes) {
            ("default", None) => MemPolicy::Default,
            ("local", None) => MemPolicy::Local,
            ("default" | "local", Some(_)) => return Err(wrong("this policy takes no nodes")),
            ("prefer", Some(node)) => MemPolicy::Prefer(
                node.trim()
                    .parse()
                    .map_err(|_| wrong("prefer takes exactly one node"))?,
            ),
            ("prefer", None) => return Err(wrong("prefer takes exactly one node")),
            ("bind", Some(nodes)) => MemPolicy::Bind(NodeList::parse(nodes, ctx)?.value),
            ("bind", None) => return Err(wrong("bind needs nodes, as in bind:0-1")),
            ("interleave", nodes) => {
                MemPolicy::Interleave(NodeList::parse(nodes.unwrap_or("all"), ctx)?.value)
            }
            _ => {
                let expected = "expected default, local, prefer:node, bind:nodes or interleave";
                return Err(wrong(expected));
            }
        };
        Ok(Scanned { value, note: None })
    }

    fn show(&self) -> String {
        match self {
            MemPolicy::Default => "default".to_string(),
            MemPolicy::Local => "local".to_string(),
            MemPolicy::Prefer(node) => format!("prefer:{node}"),
            MemPolicy::Bind(nodes) => format!("bind:{}", nodes.show()),
            MemPolicy::Interleave(nodes) => format!("interleave:{}", nodes.show()),
        }
    }
}
