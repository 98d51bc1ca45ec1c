//! `${VAR}`, `$ncpus`, `$pagesize`, `$mb_memory` and the arithmetic over them.

use crate::world::World;
use units::arith;

/// Replaces `${NAME}` by the environment's value, or by nothing.
fn environment(text: &str, world: &dyn World) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let Some((name, behind)) = after.split_once('}') else {
            out.push_str("${");
            rest = after;
            continue;
        };
        out.push_str(&world.env(name).unwrap_or_default());
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// The text with variables and keywords replaced. A value that used a keyword and is an
/// arithmetic expression becomes its whole-number result.
pub(crate) fn expand(text: &str, world: &dyn World) -> String {
    let text = environment(text, world);
    if !text.contains('$') {
        return text;
    }
    let mut replaced = text.clone();
    for (word, value) in [
        ("$pagesize", world.page_bytes()),
        ("$mb_memory", world.memory_mib()),
        ("$ncpus", world.cpus()),
    ] {
        replaced = replaced.replace(word, &value.to_string());
    }
    if replaced == text || !arith::looks_like_expression(replaced.trim()) {
        return replaced;
    }
    match arith::evaluate(&replaced, units::number::float) {
        Ok(value) => format!("{:.0}", value.trunc()),
        Err(_) => replaced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::FakeWorld;

    #[test]
    fn variables_and_keywords_are_replaced() {
        let world = FakeWorld::default().with_env("BS", "8k");
        let got = |text: &str| expand(text, &world);
        assert_eq!(got("${BS}"), "8k");
        assert_eq!(got("a${BS}b${NONE}c"), "a8kbc");
        assert_eq!(got("${BS"), "${BS");
        assert_eq!(got("8*$mb_memory"), "8192");
        assert_eq!(got("$ncpus*2+1"), "9");
        assert_eq!(got("($pagesize+$pagesize)/2"), "4096");
        assert_eq!(got("7/$ncpus"), "1");
        assert_eq!(got("/tmp/x-$ncpus"), "/tmp/x-4");
        assert_eq!(got("$unknown"), "$unknown");
        assert_eq!(got("7*8"), "7*8");
    }
}
