//! Validated names.

use crate::limits;

/// Whether a string can name a session on a command line and in a request: not empty, bounded, no option, no control character.
pub fn valid_session_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= limits::ID_MAX && !id.starts_with('-') && !id.chars().any(char::is_control)
}

/// An agent name as users type it, reduced to the form of the registry: `Claude Code` and `claude_code` are `claude-code`.
pub fn normalize_agent(name: &str) -> String {
    name.trim().chars().map(|c| if matches!(c, ' ' | '_') { '-' } else { c.to_ascii_lowercase() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_could_be_options_or_escape_are_refused() {
        assert!(valid_session_id("9c1f5038-4775-4aa9-bb82-2aa43d5774be"));
        assert!(valid_session_id("id;rm -rf $HOME'\"x"));
        for bad in ["", "-p", "a\tb", "a\u{1b}b", &"x".repeat(limits::ID_MAX + 1)] {
            assert!(!valid_session_id(bad), "{bad:?}");
        }
    }

    #[test]
    fn agent_names_are_folded() {
        assert_eq!(normalize_agent(" Claude_Code "), "claude-code");
    }
}
