//! From a line to what is to be done with it. Pure: the transport does it.

use super::scan::Scanner;
use crate::limits::MCP_BATCH_MAX;
use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId, ServerJsonRpcMessage};
use serde_json::{Map, Value};

/// What a line asks for.
#[derive(Debug)]
pub enum Incoming {
    Message(Box<ClientJsonRpcMessage>),
    /// It cannot be served; this is the answer.
    Answer(Box<ServerJsonRpcMessage>),
    /// Nothing waits for an answer.
    Nothing,
}

/// Reads a line. A batch, which revision 2025-03-26 has, becomes its messages.
pub fn read(line: &[u8]) -> Vec<Incoming> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Vec::new();
    }
    match serde_json::from_slice(line) {
        Ok(Value::Array(batch)) => many(batch),
        Ok(message) => vec![one(message)],
        Err(e) => vec![answer(
            Scanner::of(line).id(),
            ErrorData::parse_error(format!("message is not valid JSON: {}", place(&e)), None),
        )],
    }
}

/// Where the syntax breaks; never what stands there.
fn place(e: &serde_json::Error) -> String {
    if e.is_eof() { "it ends early".to_owned() } else { format!("see column {}", e.column()) }
}

/// The answer to a line over the limit.
pub fn oversized(bytes: u64, limit: usize, id: Option<RequestId>) -> ServerJsonRpcMessage {
    let text = format!(
        "message of {bytes} bytes is larger than the limit of {limit} bytes; it was discarded and the session continues"
    );
    ServerJsonRpcMessage::error(ErrorData::invalid_request(text, None), id)
}

fn answer(id: Option<RequestId>, error: ErrorData) -> Incoming {
    Incoming::Answer(Box::new(ServerJsonRpcMessage::error(error, id)))
}

fn refuse(id: Option<RequestId>, why: &'static str) -> Incoming {
    answer(id, ErrorData::invalid_request(why, None))
}

fn many(batch: Vec<Value>) -> Vec<Incoming> {
    match batch.len() {
        0 => vec![refuse(None, "a batch holds at least one message")],
        n if n > MCP_BATCH_MAX => {
            vec![answer(
                None,
                ErrorData::invalid_request(format!("a batch holds at most {MCP_BATCH_MAX} messages"), None),
            )]
        }
        _ => batch.into_iter().map(one).collect(),
    }
}

fn one(message: Value) -> Incoming {
    let Value::Object(message) = message else { return refuse(None, "message is not an object") };
    let id = match message.get("id") {
        None => None,
        Some(id) => match serde_json::from_value::<RequestId>(id.clone()) {
            Ok(id) => Some(id),
            Err(_) => return refuse(None, "id is neither a string nor an integer"),
        },
    };
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return refuse(id, "jsonrpc is not \"2.0\"");
    }
    match message.get("method") {
        Some(Value::String(_)) => call(message, id),
        Some(_) => refuse(id, "method is not a string"),
        // This server asks nothing, so an answer is a stray.
        None if message.contains_key("result") || message.contains_key("error") => Incoming::Nothing,
        None => refuse(id, "method is missing"),
    }
}

fn call(message: Map<String, Value>, id: Option<RequestId>) -> Incoming {
    if message.get("params").is_some_and(|p| !p.is_object()) {
        return match id {
            Some(_) => answer(id, ErrorData::invalid_params("params is not an object", None)),
            None => Incoming::Nothing,
        };
    }
    match (serde_json::from_value(Value::Object(message)), id) {
        (Ok(message), _) => Incoming::Message(Box::new(message)),
        (Err(_), None) => Incoming::Nothing,
        (Err(_), id) => refuse(id, "message does not have the shape of a request"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> String {
        let show = |i: &Incoming| match i {
            Incoming::Message(m) => format!("message {}", serde_json::to_string(m).unwrap()),
            Incoming::Answer(m) => serde_json::to_string(m).unwrap(),
            Incoming::Nothing => "nothing".to_owned(),
        };
        read(line.as_bytes()).iter().map(show).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn what_cannot_be_served_is_answered_with_its_id() {
        let broken = told(r#"{"jsonrpc":"2.0","id":1,"method":"#);
        assert!(broken.contains("-32700") && broken.contains("\"id\":1"), "{broken}");
        let old = told(r#"{"jsonrpc":"1.0","id":"w","method":"tools/list"}"#);
        assert!(old.contains("-32600") && old.contains("\"id\":\"w\""), "{old}");
        let params = told(r#"{"jsonrpc":"2.0","id":"p","method":"tools/list","params":"x"}"#);
        assert!(params.contains("-32602") && params.contains("\"id\":\"p\""), "{params}");
        assert!(told(r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#).contains("-32600"));
        assert!(told("5").contains("-32600") && told("[]").contains("-32600"));
    }

    #[test]
    fn strays_are_silent() {
        assert_eq!(told(r#"{"jsonrpc":"2.0","id":99,"result":{}}"#), "nothing");
        assert_eq!(told(r#"{"jsonrpc":"2.0","method":"x","params":5}"#), "nothing");
        assert_eq!(told(" \r"), "");
    }

    #[test]
    fn a_batch_becomes_its_messages() {
        let line =
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"}]"#;
        assert_eq!(told(line).matches("message ").count(), 2);
        let large = format!("[{}5]", "5,".repeat(100));
        assert_eq!(told(&large).lines().count(), 1);
    }
}
