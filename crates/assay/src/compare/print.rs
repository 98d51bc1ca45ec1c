//! A comparison as text and as Markdown.

use super::{Answer, Line};
use crate::history;
use judge::compare::{Comparison, Verdict};

pub(super) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "B is better",
        Verdict::Worse => "B is worse",
        Verdict::Same => "no difference that matters",
        Verdict::Unclear => "unclear",
        Verdict::Untested => "not tested",
    }
}

pub(super) fn interval(c: &Comparison) -> String {
    c.interval
        .map_or_else(String::new, |[low, high]| format!(" [{low:.3}, {high:.3}]"))
}

fn p_value(c: &Comparison) -> String {
    c.p.map_or_else(String::new, |p| format!(", p = {p:.3}"))
}

pub(super) fn runs(n: usize) -> String {
    match n {
        1 => "1 run".to_owned(),
        n => format!("{n} runs"),
    }
}

/// A paragraph a figure, then the words that hold for all of them.
pub fn text(answer: &Answer) -> String {
    let mut out = format!(
        "A: {} ({})\nB: {} ({})\n",
        answer.a,
        runs(answer.runs[0]),
        answer.b,
        runs(answer.runs[1])
    );
    if !answer.comparable {
        out.push_str("Not comparable, so the figures are informative only:\n");
    }
    for difference in &answer.alike.differences {
        out.push_str(&format!("  {difference}\n"));
    }
    if !answer.alike.remarks.is_empty() {
        out.push_str("Not the same either:\n");
    }
    for remark in &answer.alike.remarks {
        out.push_str(&format!("  {remark}\n"));
    }
    for line in &answer.lines {
        let c = &line.comparison;
        let spread = |at: usize| match c.n[at] {
            0 | 1 => String::new(),
            _ => format!(" +/- {:.1} %", 100.0 * c.cv[at]),
        };
        out.push_str(&format!(
            "\n{}\n  A {}{}\n  B {}{}\n  B is {:.3} x A{}{}, n = {}/{}: {}\n",
            line.name(),
            history::value(&line.metric, c.median[0]),
            spread(0),
            history::value(&line.metric, c.median[1]),
            spread(1),
            c.ratio,
            interval(c),
            p_value(c),
            c.n[0],
            c.n[1],
            verdict(c.verdict),
        ));
    }
    out.push_str(&summary(answer));
    for remark in remarks(answer) {
        out.push_str(&format!("{remark}\n"));
    }
    out
}

/// One line that counts the verdicts and names the greatest effect.
pub(super) fn summary(answer: &Answer) -> String {
    let words = [
        (Verdict::Better, "better"),
        (Verdict::Worse, "worse"),
        (Verdict::Same, "the same"),
        (Verdict::Unclear, "unclear"),
        (Verdict::Untested, "not tested"),
    ];
    let count = |verdict| {
        let of = |line: &&Line| line.comparison.verdict == verdict;
        answer.lines.iter().filter(of).count()
    };
    let parts: Vec<String> = words
        .into_iter()
        .map(|(verdict, word)| (count(verdict), word))
        .filter(|(n, _)| *n > 0)
        .map(|(n, word)| format!("{n} {word}"))
        .collect();
    let told = |line: &&Line| matches!(line.comparison.verdict, Verdict::Better | Verdict::Worse);
    let effect = |line: &&Line| line.comparison.ratio.ln().abs();
    let greatest = answer
        .lines
        .iter()
        .filter(told)
        .max_by(|a, b| effect(a).total_cmp(&effect(b)));
    let greatest = greatest.map_or_else(String::new, |line| {
        let change = 100.0 * (line.comparison.ratio - 1.0);
        format!("; most: {} {change:+.1} %", line.name())
    });
    let n = answer.lines.len();
    let figures = if n == 1 { "figure" } else { "figures" };
    format!("\nOf {n} {figures} of B: {}{greatest}\n", parts.join(", "))
}

/// Each remark once.
pub(super) fn remarks(answer: &Answer) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    let of_lines = answer.lines.iter();
    for remark in of_lines.filter_map(|line| line.comparison.remark.as_deref()) {
        if !all.contains(&remark) {
            all.push(remark);
        }
    }
    all
}

/// A table, then the same words.
pub fn markdown(answer: &Answer) -> String {
    let mut out = format!(
        "A: {} ({}), B: {} ({})\n\n",
        answer.a,
        runs(answer.runs[0]),
        answer.b,
        runs(answer.runs[1])
    );
    out.push_str(
        "| job | figure | A | B | B / A | 95 % | p | n | verdict |\n\
         |---|---|---:|---:|---:|---|---:|---|---|\n",
    );
    for line in &answer.lines {
        let c = &line.comparison;
        out.push_str(&format!(
            "| {} | {} {} | {} | {} | {:.3} |{} | {} | {}/{} | {} |\n",
            line.job.replace('|', "\\|"),
            line.direction,
            line.metric,
            history::value(&line.metric, c.median[0]),
            history::value(&line.metric, c.median[1]),
            c.ratio,
            interval(c),
            c.p.map_or_else(String::new, |p| format!("{p:.3}")),
            c.n[0],
            c.n[1],
            verdict(c.verdict),
        ));
    }
    let mut list = |head: &str, lines: &[String]| {
        if !lines.is_empty() {
            out.push_str(&format!("\n{head}:\n\n"));
        }
        for line in lines {
            out.push_str(&format!("- {line}\n"));
        }
    };
    list("Informative only", &answer.alike.differences);
    list("Not the same either", &answer.alike.remarks);
    for remark in remarks(answer) {
        out.push_str(&format!("\n{remark}\n"));
    }
    out
}
