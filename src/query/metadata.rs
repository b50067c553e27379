//! Matching words against what is known of a session without its text.

use super::parse::{Place, Term};
use super::view::Session;
use crate::text::fold;

/// The last component of a path, in either system's spelling.
pub fn project_name(path: &str) -> &str {
    path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or(path)
}

/// A session's metadata, folded once per query.
pub struct Folded {
    title: String,
    name: String,
    path: String,
    branch: String,
    id: String,
    rest: String,
}

impl Folded {
    /// `texts` is more text that counts like a title but less: summaries and recap.
    pub fn new(session: &Session<'_>, texts: &str) -> Self {
        let f = &session.facts;
        Self {
            title: fold::fold(f.title.as_deref().unwrap_or("")),
            name: fold::fold(project_name(&f.project)),
            path: fold::fold(&f.project),
            branch: fold::fold(f.branch.as_deref().unwrap_or("")),
            id: f.id.to_ascii_lowercase(),
            rest: format!(
                "{} {} {}",
                session.agent(),
                fold::fold(f.worktree.as_deref().unwrap_or("")),
                fold::fold(texts)
            ),
        }
    }

    /// The same, for a question that may not see titles.
    pub fn without_title(self) -> Self {
        Self { title: String::new(), ..self }
    }

    /// How well a term matches, 0 if it does not. On the scale of message scores, above most of them.
    pub fn score(&self, term: &Term, place: Place) -> f32 {
        let wanted = fold::fold(term.text.trim());
        if wanted.is_empty() {
            return 0.0;
        }
        let title = 14.0 * quality(&self.title, &wanted);
        if place == Place::Title {
            return title;
        }
        if place != Place::Any {
            return 0.0;
        }
        let id = if self.id == wanted {
            60.0
        } else {
            f32::from(wanted.len() >= 6 && self.id.starts_with(&wanted)) * 30.0
        };
        [
            title,
            16.0 * quality(&self.name, &wanted),
            4.0 * quality(&self.path, &wanted),
            branch(&self.branch, &wanted),
            5.0 * quality(&self.rest, &wanted),
            id,
        ]
        .into_iter()
        .fold(0.0, f32::max)
    }

    /// How much more a title counts that holds the words of a query side by side.
    pub fn phrase(&self, words: &str) -> f32 {
        30.0 * quality(&self.title, words)
    }

    /// Whether a term is the project's name or a whole word of it.
    pub fn is_named(&self, term: &Term) -> bool {
        let wanted = fold::fold(term.text.trim());
        wanted.len() >= 3 && quality(&self.name, &wanted) >= 1.0
    }

    /// The last resort: the letters in their order, from the beginning of one word of the title or of the project's name.
    pub fn subsequence(&self, term: &Term) -> f32 {
        let wanted = fold::fold(&term.text);
        let words = self.title.split_whitespace().chain([self.name.as_str()]);
        f32::from(wanted.chars().count() >= 3 && words.into_iter().any(|w| is_subsequence(&wanted, w)))
    }
}

/// The metadata of all sessions in one folded text, to see at once which ones can match at all.
#[derive(Clone, Default)]
pub struct Haystack {
    text: String,
    /// Where each session ends.
    ends: Vec<usize>,
}

impl Haystack {
    pub fn new(sessions: &[Session<'_>]) -> Self {
        let mut hay = Self::default();
        for session in sessions {
            let f = &session.facts;
            let (title, branch) = (f.title.as_deref().unwrap_or(""), f.branch.as_deref().unwrap_or(""));
            let worktree = f.worktree.as_deref().unwrap_or("");
            for part in [title, &f.project, branch, &f.id, session.agent(), worktree] {
                fold::fold_into(part, &mut hay.text);
                hay.text.push('\n');
            }
            hay.ends.push(hay.text.len());
        }
        hay
    }

    /// The number of sessions in it.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Marks the sessions in which any of these terms occurs.
    pub fn mark<'t>(&self, terms: impl Iterator<Item = &'t Term>, marked: &mut [bool]) {
        for term in terms {
            let needle = fold::fold(term.text.trim());
            if needle.is_empty() {
                continue;
            }
            let finder = memchr::memmem::Finder::new(&needle);
            let mut at = 0;
            while let Some(i) = finder.find(&self.text.as_bytes()[at..]) {
                let session = self.ends.partition_point(|end| *end <= at + i);
                if let Some(mark) = marked.get_mut(session) {
                    *mark = true;
                }
                // One place a session is enough.
                at = self.ends.get(session).copied().unwrap_or(self.text.len());
            }
        }
    }
}

/// Whether any of some words occurs in more text of a session.
pub fn occurs<'t>(mut terms: impl Iterator<Item = &'t Term>, texts: &str) -> bool {
    let folded = fold::fold(texts);
    !folded.is_empty()
        && terms.any(|t| {
            Some(fold::fold(t.text.trim())).filter(|n| !n.is_empty()).is_some_and(|n| folded.contains(&n))
        })
}

/// A branch asked for by its name is meant; a single word of it may be a coincidence.
fn branch(name: &str, wanted: &str) -> f32 {
    let compound = wanted.contains(|c: char| !c.is_alphanumeric());
    let weight = if compound || name == wanted { 30.0 } else { 6.0 };
    weight * quality(name, wanted)
}

/// 1 for a whole word, less for its beginning, less for its middle. One or two letters must begin a word.
fn quality(text: &str, wanted: &str) -> f32 {
    let short = wanted.len() < 3;
    let mut best: f32 = 0.0;
    for (i, _) in text.match_indices(wanted) {
        let before = text[..i].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
        let after = text[i + wanted.len()..].chars().next().is_none_or(|c| !c.is_alphanumeric());
        best = best.max(match (before, after) {
            (true, true) => return 1.0,
            (true, false) => 0.7,
            _ if short => 0.0,
            _ => 0.45,
        });
    }
    best
}

fn is_subsequence(wanted: &str, text: &str) -> bool {
    if wanted.chars().next() != text.chars().next() {
        return false;
    }
    let mut text = text.chars();
    wanted.chars().all(|w| text.any(|t| t == w))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_both_spellings() {
        assert_eq!(project_name("/w/my_proj/.v2/api-server"), "api-server");
        assert_eq!(project_name("\\\\wsl.localhost\\Ubuntu\\home\\u\\app"), "app");
        assert_eq!(project_name("/w/app/"), "app");
    }

    #[test]
    fn whole_words_beat_beginnings_beat_middles() {
        assert_eq!(quality("fix parser", "parser"), 1.0);
        assert!(
            quality("fix parsers", "parser") > quality("reparser", "parser")
                && quality("reparser", "parser") > 0.0
        );
        assert_eq!(quality("plasma-reader", "parser"), 0.0);
        assert!(is_subsequence("blgapi", "billing-api") && !is_subsequence("lgapi", "billing-api"));
    }
}
