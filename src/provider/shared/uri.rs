//! Paths written as URIs.

/// A text without its percent escapes; what is none stays.
pub fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let digits = tail.get(..2).filter(|_| *first == b'%');
        let byte = digits.and_then(|d| u8::from_str_radix(std::str::from_utf8(d).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { tail.get(2..).unwrap_or(&[]) } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The path in a `file:` URI.
pub fn file_path(uri: &str) -> Option<String> {
    let path = unescaped(uri.strip_prefix("file://")?);
    // `/C:/w` is a path of the other system.
    let drive = path.get(2..3) == Some(":") && path.as_bytes().get(1).is_some_and(u8::is_ascii_alphabetic);
    let path = if drive { path.get(1..).unwrap_or_default().to_owned() } else { path };
    (!path.is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workspaces_are_paths_of_either_system() {
        assert_eq!(file_path("file:///w/my%20app%zz%").as_deref(), Some("/w/my app%zz%"));
        assert_eq!(file_path("file:///C:/w").as_deref(), Some("C:/w"));
        assert_eq!(file_path("vscode-remote://x"), None);
        assert_eq!(unescaped("%2Fw%2F%E5%A4%89%"), "/w/変%");
    }
}
