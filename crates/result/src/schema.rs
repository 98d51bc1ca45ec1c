//! The JSON Schema of the document, from its types.

use crate::Run;

/// The schema as text, draft 2020-12.
pub fn schema() -> String {
    let schema = schemars::schema_for!(Run);
    serde_json::to_string_pretty(&schema).expect("names and words") + "\n"
}
