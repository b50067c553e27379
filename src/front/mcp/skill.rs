//! The skill that teaches an agent to use this server, served by the server itself (skills extension).

use rmcp::model::{Resource, ResourceContents, Skill, SkillFrontmatter, SkillResource, SkillResources};

/// Its text; the same file that can be copied into an agent's skills directory.
const TEXT: &str = include_str!("../../../skills/agf/SKILL.md");
pub const URI: &str = "skill://agf/SKILL.md";

/// The manifest.
pub fn manifest() -> Skill {
    let front = SkillFrontmatter::new(field("name"), field("description"));
    Skill::new(URI, front, SkillResources::Files(vec![SkillResource::from_bytes(URI, TEXT.as_bytes())]))
}

/// The skill among the resources.
pub fn resource() -> Resource {
    Resource::new(URI, "agf")
        .with_title("How to find and resume past sessions")
        .with_mime_type("text/markdown")
        .with_size(TEXT.len() as u64)
}

pub fn contents() -> ResourceContents {
    ResourceContents::text(TEXT, URI).with_mime_type("text/markdown")
}

/// A field of the front matter, which has one line for each.
fn field(name: &str) -> &'static str {
    let front = TEXT.strip_prefix("---\n").and_then(|t| t.split("\n---").next()).unwrap_or("");
    front.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(':').map(str::trim)).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_skill_is_valid_and_short() {
        manifest().validate().unwrap();
        assert!(!field("description").is_empty());
        assert!(TEXT.lines().count() <= 120);
    }
}
