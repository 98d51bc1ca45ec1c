//! JSON text exactly as fio writes it: `"key" : value`, two spaces a level, floats with six
//! decimals, an empty object or array with an empty line inside.

use std::borrow::Cow;

/// A JSON value with ordered keys.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Int(u64),
    Signed(i64),
    Float(f64),
    Text(String),
    Object(Object),
    Array(Vec<Value>),
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Value::Int(value)
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Value::Int(value.into())
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Self {
        Value::Signed(value.into())
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value::Float(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Value::Text(value.to_owned())
    }
}

impl From<Object> for Value {
    fn from(value: Object) -> Self {
        Value::Object(value)
    }
}

impl From<Vec<Value>> for Value {
    fn from(value: Vec<Value>) -> Self {
        Value::Array(value)
    }
}

/// Pairs in the order they were added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object(Vec<(Cow<'static, str>, Value)>);

impl Object {
    pub(crate) fn put(&mut self, key: impl Into<Cow<'static, str>>, value: impl Into<Value>) {
        self.0.push((key.into(), value.into()));
    }

    /// Keys with values, in order.
    pub(crate) fn of<V: Into<Value>>(
        pairs: impl IntoIterator<Item = (impl Into<Cow<'static, str>>, V)>,
    ) -> Self {
        Object(
            pairs
                .into_iter()
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
        )
    }

    /// The text of a whole document, ended by a line end.
    pub(crate) fn document(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, 0);
        out.push('\n');
        out
    }

    fn write(&self, out: &mut String, level: usize) {
        out.push_str("{\n");
        for (i, (key, value)) in self.0.iter().enumerate() {
            separate(out, i);
            indent(out, level + 1);
            quote(out, key);
            out.push_str(" : ");
            value.write(out, level + 1);
        }
        out.push('\n');
        indent(out, level);
        out.push('}');
    }
}

impl Value {
    fn write(&self, out: &mut String, level: usize) {
        match self {
            Value::Int(value) => out.push_str(&value.to_string()),
            Value::Signed(value) => out.push_str(&value.to_string()),
            // JSON has no infinities; nothing measured is one.
            Value::Float(value) if !value.is_finite() => out.push_str("0.000000"),
            Value::Float(value) => out.push_str(&format!("{value:.6}")),
            Value::Text(text) => quote(out, text),
            Value::Object(object) => object.write(out, level),
            Value::Array(values) => {
                out.push_str("[\n");
                for (i, value) in values.iter().enumerate() {
                    separate(out, i);
                    indent(out, level + 1);
                    value.write(out, level + 1);
                }
                out.push('\n');
                indent(out, level);
                out.push(']');
            }
        }
    }
}

fn separate(out: &mut String, position: usize) {
    if position > 0 {
        out.push_str(",\n");
    }
}

fn indent(out: &mut String, level: usize) {
    (0..level).for_each(|_| out.push_str("  "));
}

/// Escapes what fio escapes, and control characters, which fio lets through unreadably.
fn quote(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\0'..' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spacing_and_nesting() {
        let mut inner = Object::default();
        inner.put("f", 1.5);
        let mut root = Object::default();
        root.put("a \"b\"", "c\\d\n");
        root.put("list", vec![Value::from(inner), Value::from(7u64)]);
        root.put("none", Object::default());
        let text = "{\n  \"a \\\"b\\\"\" : \"c\\\\d\\u000a\",\n  \"list\" : [\n    {\n      \
                    \"f\" : 1.500000\n    },\n    7\n  ],\n  \"none\" : {\n\n  }\n}\n";
        assert_eq!(root.document(), text);
    }
}
