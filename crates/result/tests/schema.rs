//! The schema is what documents are.

use result::{Run, import};
use serde_json::Value;

/// What of `value` the schema does not allow, with its path. Knows the words that the generator
/// uses, and no others.
fn check(root: &Value, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.trim_start_matches("#/$defs/");
        return check(root, &root["$defs"][name], value, path, found);
    }
    for list in ["anyOf", "oneOf"] {
        if let Some(choices) = schema[list].as_array() {
            let fits = |choice: &Value| {
                let mut found = Vec::new();
                check(root, choice, value, path, &mut found);
                found.is_empty()
            };
            if !choices.iter().any(fits) {
                found.push(format!("{path}: fits none of {list}"));
            }
            return;
        }
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        // One of 128 bits is a float here, and whole as an integer has to be.
        Value::Number(number) if number.as_f64().is_some_and(|n| n.fract() != 0.0) => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let number = kind == "integer" && kinds.contains(&"number");
    if !kinds.is_empty() && !kinds.contains(&kind) && !number {
        found.push(format!("{path}: {kind} instead of {kinds:?}"));
    }
    let allowed = schema["enum"].as_array();
    if allowed.is_some_and(|allowed| !allowed.contains(value)) {
        found.push(format!("{path}: {value} is none of the words"));
    }
    if let Some(only) = schema.get("const").filter(|only| *only != value) {
        found.push(format!("{path}: {value} instead of {only}"));
    }
    if let Value::Object(fields) = value {
        for name in schema["required"].as_array().into_iter().flatten() {
            let name = name.as_str().expect("a name");
            if !fields.contains_key(name) {
                found.push(format!("{path}.{name} is missing"));
            }
        }
        for (name, value) in fields {
            let path = format!("{path}.{name}");
            match schema["properties"].get(name) {
                Some(schema) => check(root, schema, value, &path, found),
                None if schema.get("properties").is_some() => {
                    found.push(format!("{path} is not in the schema"));
                }
                None => {}
            }
        }
    }
    if let Value::Array(items) = value {
        let places = schema["prefixItems"].as_array();
        for (at, item) in items.iter().enumerate() {
            let schema = places.map_or(&schema["items"], |places| &places[at]);
            check(root, schema, item, &format!("{path}[{at}]"), found);
        }
    }
}

fn faults(document: &Value) -> Vec<String> {
    let schema: Value = serde_json::from_str(&result::schema()).expect("JSON");
    let mut found = Vec::new();
    check(&schema, &schema, document, "run", &mut found);
    found
}

/// A document as JSON. Integers of 128 bits become numbers, as in other languages.
fn tree(run: &Run) -> Value {
    serde_json::from_str(&serde_json::to_string(run).expect("a document")).expect("JSON")
}

#[test]
fn documents_of_every_kind_keep_to_the_schema() {
    let stored = serde_json::from_str(include_str!("documents/v1.json")).expect("JSON");
    assert_eq!(faults(&stored), [""; 0]);
    assert_eq!(faults(&tree(&Run::default())), [""; 0]);
    let mut runs = 0;
    for (name, text) in [
        ("striping", include_str!("seeds/striping.txt")),
        ("instance_store", include_str!("seeds/instance_store.txt")),
        ("tables", include_str!("seeds/tables.txt")),
        ("laptops", include_str!("seeds/laptops.txt")),
        ("cloud", include_str!("seeds/cloud.txt")),
    ] {
        for run in import::read(name, text).runs {
            assert_eq!(faults(&tree(&run)), [""; 0], "{name}");
            runs += 1;
        }
    }
    assert!(runs > 50, "{runs}");
}

#[test]
fn what_is_no_document_is_told() {
    let mut document = tree(&Run::default());
    document["schema"] = "1".into();
    document["speed"] = 1.into();
    document.as_object_mut().expect("an object").remove("jobs");
    let mut found = faults(&document);
    found.sort();
    assert_eq!(
        found,
        [
            "run.jobs is missing",
            "run.schema: string instead of [\"integer\"]",
            "run.speed is not in the schema",
        ]
    );
}
