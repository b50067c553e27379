//! Other forms of an English word: `retries` for `retry`, `argued` for `arguing`. Only those that the index holds are asked for, so
//! that the rules may be generous.

const ENDINGS: &[&str] =
    &["", "s", "es", "ed", "d", "ing", "er", "ers", "ly", "e", "ion", "ions", "y", "ies", "ied", "ment"];
/// What is left of a word without one of these is its stem.
const STRIPPED: &[&str] =
    &["ies", "ied", "ions", "ion", "ing", "ment", "ers", "er", "ed", "es", "ly", "s", "e", "y"];

/// Candidates, without the word itself.
pub fn forms(word: &str) -> Vec<String> {
    if word.len() < 4 || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return Vec::new();
    }
    let mut stems = vec![word.to_owned()];
    for ending in STRIPPED {
        if let Some(stem) = word.strip_suffix(*ending).filter(|s| s.len() >= 3) {
            stems.push(stem.to_owned());
            stems.extend(undoubled(stem));
        }
    }
    let mut all: Vec<String> = stems
        .iter()
        .flat_map(|s| ENDINGS.iter().map(move |e| format!("{s}{e}")))
        .filter(|f| f != word)
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// `logg` → `log`
fn undoubled(stem: &str) -> Option<String> {
    let bytes = stem.as_bytes();
    let [.., a, b] = bytes else { return None };
    (a == b && stem.len() >= 4).then(|| stem[..stem.len() - 1].to_owned())
}

#[cfg(test)]
mod tests {
    use super::forms;

    #[test]
    fn the_usual_forms_are_among_them() {
        for (word, form) in [
            ("retries", "retry"),
            ("retry", "retried"),
            ("argued", "arguing"),
            ("leaking", "leaks"),
            ("randomly", "random"),
            ("logged", "log"),
            ("verify", "verified"),
            ("disconnecting", "disconnected"),
            ("migrations", "migrate"),
        ] {
            assert!(forms(word).iter().any(|f| f == form), "{word}: {form}");
        }
        assert!(
            forms("utf8").is_empty()
                && forms("its").is_empty()
                && !forms("retry").contains(&"retry".to_owned())
        );
    }
}
