//! Arithmetic in values: `+ - * / % ^` and parentheses, with units on the numbers.
//!
//! fio hands expressions over `$` keywords to `bc` and parses others itself when it was
//! built with a parser generator. Both are the same little language here. The caller
//! says what a single number is, so that `(2*1g)` and `(1m+30s)` each use their own units.

use crate::number::NumberError;

/// Deepest nesting of parentheses; more is refused instead of overflowing the stack.
const MAX_DEPTH: u32 = 64;

struct Parser<'a, F> {
    text: &'a str,
    rest: &'a str,
    depth: u32,
    number: F,
}

/// Evaluates an expression. `number` reads one number with its unit.
pub fn evaluate<F>(text: &str, number: F) -> Result<f64, NumberError>
where
    F: Fn(&str) -> Result<f64, NumberError>,
{
    let mut parser = Parser {
        text,
        rest: text,
        depth: 0,
        number,
    };
    let value = parser.sum()?;
    parser.skip();
    if parser.rest.is_empty() && value.is_finite() {
        Ok(value)
    } else {
        Err(parser.wrong())
    }
}

/// True when `text` is made of operators, parentheses and numbers only, with at least one
/// operator: what fio would hand to `bc`.
pub fn looks_like_expression(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_digit() || "+-*/%^(). \t".contains(c);
    text.starts_with(|c: char| c.is_ascii_digit() || c == '(')
        && text.chars().all(plain)
        && text.contains(['+', '-', '*', '/', '%', '^'])
}

impl<F: Fn(&str) -> Result<f64, NumberError>> Parser<'_, F> {
    fn wrong(&self) -> NumberError {
        NumberError::Expression(self.text.trim().to_string())
    }

    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, operators: &[char]) -> Option<char> {
        self.skip();
        let c = self.rest.chars().next().filter(|c| operators.contains(c))?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn sum(&mut self) -> Result<f64, NumberError> {
        let mut value = self.product()?;
        while let Some(operator) = self.take(&['+', '-']) {
            let right = self.product()?;
            value = if operator == '+' {
                value + right
            } else {
                value - right
            };
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<f64, NumberError> {
        let mut value = self.power()?;
        while let Some(operator) = self.take(&['*', '/', '%']) {
            let right = self.power()?;
            if operator != '*' && right == 0.0 {
                return Err(self.wrong());
            }
            value = match operator {
                '*' => value * right,
                '/' => value / right,
                _ => value % right,
            };
        }
        Ok(value)
    }

    fn power(&mut self) -> Result<f64, NumberError> {
        let base = self.atom()?;
        if self.take(&['^']).is_none() {
            return Ok(base);
        }
        self.nested(|parser| parser.power().map(|exponent| base.powf(exponent)))
    }

    fn nested(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<f64, NumberError>,
    ) -> Result<f64, NumberError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.wrong());
        }
        let value = inner(self);
        self.depth -= 1;
        value
    }

    fn atom(&mut self) -> Result<f64, NumberError> {
        if self.take(&['-']).is_some() {
            return self.nested(|parser| parser.atom().map(|value| -value));
        }
        if self.take(&['(']).is_some() {
            let value = self.nested(Self::sum)?;
            return self.take(&[')']).map(|_| value).ok_or_else(|| self.wrong());
        }
        self.skip();
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '.'))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.is_empty() {
            return Err(self.wrong());
        }
        self.rest = rest;
        (self.number)(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calc(text: &str) -> Option<f64> {
        evaluate(text, |word| {
            word.parse()
                .map_err(|_| NumberError::NotANumber(word.to_string()))
        })
        .ok()
    }

    #[test]
    fn operators_bind_as_in_arithmetic() {
        assert_eq!(calc("1+2*3"), Some(7.0));
        assert_eq!(calc("(1+2)*3"), Some(9.0));
        assert_eq!(calc("2^3^2"), Some(512.0));
        assert_eq!(calc("-(4 - 1) * 2"), Some(-6.0));
        assert_eq!(calc("7%4/2"), Some(1.5));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "1+", "(1", "1)", "1//2", "1/0", "5%0", "1 2", "x"] {
            assert_eq!(calc(text), None, "{text}");
        }
        assert_eq!(
            calc(&format!("{}1{}", "(".repeat(5000), ")".repeat(5000))),
            None
        );
        assert_eq!(calc(&format!("{}1", "-".repeat(5000))), None);
    }

    #[test]
    fn only_arithmetic_looks_like_an_expression() {
        assert!(looks_like_expression("8*1024"));
        assert!(looks_like_expression("(2+3)/4"));
        assert!(!looks_like_expression("64"));
        assert!(!looks_like_expression("/dev/sda"));
        assert!(!looks_like_expression("job-2.0"));
    }
}
