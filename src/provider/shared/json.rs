//! Reading JSON that may hold anything: every look-up has an answer, a wrong type is an absent value.

use crate::model::timestamp;
use crate::text::redact;
use serde_json_borrow::Value;
use std::borrow::Cow;

/// A string that is there and not empty.
pub fn text<'v>(value: &'v Value<'v>, key: &str) -> Option<&'v str> {
    get(value, key).as_str().filter(|s| !s.is_empty())
}

pub fn get<'v>(value: &'v Value<'v>, key: &str) -> &'v Value<'v> {
    value.as_object().and_then(|o| o.get(key)).unwrap_or(&Value::Null)
}

/// A value several objects down.
pub fn at<'v>(value: &'v Value<'v>, path: &[&str]) -> &'v Value<'v> {
    path.iter().fold(value, |v, key| get(v, key))
}

pub fn flag<'v>(value: &'v Value<'v>, key: &str) -> bool {
    get(value, key).as_bool().unwrap_or(false)
}

pub fn items<'v>(value: &'v Value<'v>) -> &'v [Value<'v>] {
    value.as_array().unwrap_or(&[])
}

/// A time in any spelling, in milliseconds.
pub fn time<'v>(value: &'v Value<'v>, key: &str) -> Option<i64> {
    let v = get(value, key);
    match v.as_str() {
        Some(s) => timestamp::parse_text(s),
        None => timestamp::from_number(v.as_f64()?),
    }
}

/// All strings in a value, a line each: the searchable text of a tool's arguments.
pub fn strings<'v>(value: &'v Value<'v>) -> Cow<'v, str> {
    if let Some(s) = value.as_str() {
        return Cow::Borrowed(s);
    }
    let mut out = String::new();
    collect(value, &mut out);
    Cow::Owned(out)
}

/// The strings of a value that may itself be JSON in a string, as some wires carry a tool's arguments.
pub fn embedded<'v>(value: &'v Value<'v>) -> Cow<'v, str> {
    let Some(inner) = value.as_str() else { return strings(value) };
    match serde_json::from_str::<Value<'_>>(inner) {
        Ok(v) if v.is_object() || v.is_array() => Cow::Owned(strings(&v).into_owned()),
        _ => Cow::Borrowed(inner),
    }
}

fn collect(value: &Value<'_>, out: &mut String) {
    match value {
        Value::Str(s) => line(s, out),
        Value::Array(items) => items.iter().for_each(|v| collect(v, out)),
        Value::Object(map) => map.iter().for_each(|(k, v)| field(k, v, out)),
        Value::Number(_) | Value::Bool(_) => line(&value.to_string(), out),
        Value::Null => {}
    }
}

/// A name is left out, except where it is all that tells a secret from any other word.
fn field(name: &str, value: &Value<'_>, out: &mut String) {
    match value.as_str() {
        Some(s) if redact::is_secret_field(name, s) => line(&format!("{name}=\"{s}\""), out),
        _ => collect(value, out),
    }
}

fn line(s: &str, out: &mut String) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(s);
}

/// Content that is a string, or a list of blocks whose texts (of these types; all if none are named) are joined by a line feed.
pub fn content<'v>(value: &'v Value<'v>, types: &[&str]) -> Cow<'v, str> {
    if let Some(s) = value.as_str() {
        return Cow::Borrowed(s);
    }
    let wanted = |b: &Value<'_>| types.is_empty() || text(b, "type").is_none_or(|t| types.contains(&t));
    let mut texts =
        items(value).iter().filter(|b| wanted(b)).filter_map(|b| b.as_str().or_else(|| text(b, "text")));
    let Some(first) = texts.next() else { return Cow::Borrowed("") };
    texts.fold(Cow::Borrowed(first), |mut all, t| {
        let out = all.to_mut();
        out.push('\n');
        out.push_str(t);
        all
    })
}
