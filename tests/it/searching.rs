//! How words are read, and what is said about it.

use crate::agf::{Agf, id, ids};

fn find(agf: &Agf, query: &str) -> (Vec<String>, String, Option<String>) {
    let data = agf.data(&["search", "-c", "--limit", "50", "--", query]);
    let text = |key: &str| data[key].as_str().map(str::to_owned);
    (ids(&data), text("tier").unwrap_or_default(), text("did_you_mean"))
}

#[test]
fn a_mistyped_word_is_corrected_and_said_so() {
    let agf = Agf::new();
    agf.claude("/w/app", &id(1), "the idempotency of invoices");
    agf.codex("/w/app", &id(2), "nothing of the kind");
    let (found, tier, read) = find(&agf, "idempotncy invoices");
    assert_eq!((found, tier.as_str(), read.as_deref()), (vec![id(1)], "typo", Some("idempotency invoices")));
    let ran = agf.run(&["find", "idempotncy"]);
    assert!(ran.err.contains("did you mean: idempotency\n"), "{}", ran.err);
    for query in ["idempotency", "idempo", "zqabsent", "is:interactive"] {
        assert_eq!(find(&agf, query).2, None, "{query}");
    }
}

/// What somebody mistyped stands in the history too: it comes first, and does not hide the rest.
#[test]
fn a_rare_word_does_not_hide_a_likelier_one() {
    let agf = Agf::new();
    for n in 0..6 {
        agf.claude("/w/app", &id(n), &format!("the scheduler again, number {n}"));
    }
    agf.claude("/w/app", &id(9), "the schedular, as I spell it");
    let (found, tier, read) = find(&agf, "schedular");
    assert_eq!((found.len(), found[0].as_str(), tier.as_str()), (7, id(9).as_str(), "exact"));
    assert_eq!(read.as_deref(), Some("scheduler"));
    assert_eq!(find(&agf, "\"schedular\"").0, [id(9)], "quoted words are meant");
    assert_eq!(find(&agf, "scheduler").2, None);
}

#[test]
fn a_sentence_is_answered_by_sessions_with_most_of_its_words() {
    let agf = Agf::new();
    agf.claude("/w/billing", &id(1), "The retry test is flaky.");
    agf.claude("/w/billing", &id(2), "A session about invoices.");
    let (found, tier, _) = find(&agf, "how did we fix the flaky retry in billing last week?");
    assert_eq!((found[0].as_str(), tier.as_str()), (id(1).as_str(), "most"));
    assert_eq!(find(&agf, "the flaky zqabsent").1, "most");
    assert_eq!(find(&agf, "the flaky retry").1, "exact", "common words need not occur");
    assert_eq!(find(&agf, "\"how did\" flaky").1, "most", "what is quoted is no common word");
}

#[test]
fn other_forms_of_a_word_are_found_before_other_words() {
    let agf = Agf::new();
    agf.claude("/w/app", &id(1), "it was retried twice");
    agf.claude("/w/app", &id(2), "two retrees");
    let (found, tier, read) = find(&agf, "retries");
    assert_eq!((found, tier.as_str(), read), (vec![id(1)], "form", None));
}

#[test]
fn sessions_in_which_a_tool_failed() {
    let agf = Agf::new();
    let said = |n: u32, output: &str| {
        let line = serde_json::json!({ "type": "user", "cwd": "/w/app", "sessionId": id(n), "uuid": format!("o{n}"), "timestamp": "2026-03-01T10:00:09.000Z",
            "message": { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t", "content": output }] } });
        let path = agf.claude("/w/app", &id(n), "build it");
        let before = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, format!("{before}{line}\n")).unwrap();
    };
    said(1, "Exit code 101\nerror: no");
    said(2, "Process exited with code 0\nerror handling is fine");
    said(3, "{\"output\":\"no\",\"metadata\":{\"exit_code\":2}}");
    said(4, "thread 'main' panicked at src/main.rs:3:5");
    let mut failed = find(&agf, "has:error").0;
    failed.sort();
    assert_eq!(failed, [id(1), id(3), id(4)]);
    assert_eq!(find(&agf, "build -has:error").0, [id(2)]);
    assert_eq!(ids(&agf.data(&["search", "has:error"])).len(), 3, "without the text of conversations too");
}

/// Words that all occur, but not side by side, are no phrase: half of its last word is looked for.
#[test]
fn half_a_path_whose_words_stand_elsewhere() {
    let agf = Agf::new();
    agf.claude("/w/app", &id(1), "see src/query/tenants.rs");
    agf.claude("/w/app", &id(2), "ten of them, about the query in src");
    assert_eq!(find(&agf, "src/query/ten").0, [id(1)]);
    assert_eq!(find(&agf, "abc_src/query/zqten").0, Vec::<String>::new());
}
