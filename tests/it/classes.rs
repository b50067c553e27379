//! What other tools of this kind find or miss, class by class: each is planted once for Claude Code and once for Codex, and found.

use crate::agf::Agf;
use crate::agf::{claude_path, id, ids};
use serde_json::{Value, json};

#[derive(Clone, Copy, PartialEq)]
enum In {
    User,
    Agent,
    Thinking,
    Call,
    Output,
    Title,
    /// The conversation of a sub-agent.
    Child,
    /// Half in the prompt, half in the answer, cut at `|`.
    Both,
    /// In the middle of a transcript of 3 MB, at the end of 200 kB of tool output, of 300 kB of answer.
    Middle,
    OutputTail,
    AgentTail,
}

/// Class, where it stands, what is written, and what is asked for. `§` is another letter for each agent.
const CLASSES: &[(&str, In, &str, &str)] = &[
    ("user", In::User, "the §quxuser word", "§quxuser"),
    ("assistant", In::Agent, "the §quxassistant word", "§quxassistant"),
    ("tool output", In::Output, "the §quxoutput word", "§quxoutput"),
    ("tool input", In::Call, "rg §quxinput", "§quxinput"),
    ("thinking", In::Thinking, "the §quxthinking word", "§quxthinking"),
    ("title", In::Title, "About §quxtitle", "§quxtitle"),
    ("sub-agent", In::Child, "the §quxchild word", "§quxchild"),
    ("Chinese, a stretch", In::User, "§明天下午三点开项目评审会议", "项目评审会议"),
    ("Japanese, a stretch", In::Agent, "§検索結果の並び順がおかしい", "並び順がおかしい"),
    ("Korean, without its ending", In::User, "§ 검색 인덱스를 갱신했습니다", "인덱스"),
    ("Rust path", In::Agent, "use §quxmod::Blorptron;", "§quxmod::Blorptron"),
    ("Rust path, a part", In::Agent, "use abc::§Quxtron;", "§Quxtron"),
    ("snake case", In::Agent, "fn §frob_nicate_user()", "§frob_nicate_user"),
    ("snake case, a part", In::Agent, "fn abc_§frobnic_user()", "§frobnic"),
    ("camel case", In::Agent, "call §frobNicateUser()", "§frobNicateUser"),
    ("camel case, a part", In::Agent, "call get§FrobatorUser()", "§frobator"),
    ("file path", In::Call, "cat src/§quxdir/handler_x.rs", "src/§quxdir/handler_x.rs"),
    ("file path, a part", In::Call, "cat src/§quxpart/handler_y.rs", "§quxpart/handler_y.rs"),
    ("error code", In::Output, "failed: §EZX-40429 now", "§EZX-40429"),
    ("error code in brackets", In::Output, "error[§E40511]: no", "error[§E40511]"),
    ("version", In::User, "pinned §quxlib to 13.47.9-rc.2", "13.47.9-rc.2"),
    ("e-mail", In::User, "write to §jane.doe@quxmail.example", "§jane.doe@quxmail.example"),
    ("URL", In::User, "see https://§qux.example/a/b?c=1", "https://§qux.example/a/b?c=1"),
    ("hyphens", In::User, "the §foo-quxbar-baz job", "§foo-quxbar-baz"),
    ("hyphens, a part", In::User, "the abc-§quxbarpart-baz job", "§quxbarpart-baz"),
    ("punctuation", In::User, "in §quxC++17 mode", "§quxC++17"),
    ("beginning", In::User, "the §quxprefixation rule", "§quxprefix"),
    ("beginning with a star", In::User, "the §quxstarring rule", "§quxstar*"),
    ("a letter wrong", In::User, "the §quxorchestra plays", "§quxorchastra"),
    ("letters swapped", In::User, "the §quxsymphony plays", "§quxsymhpony"),
    ("middle of a word", In::User, "the abc§quxinfixdef word", "§quxinfix"),
    ("another case", In::User, "the §QUXUPPER word", "§quxupper"),
    ("without accents", In::User, "the §quxdéjàvu word", "§quxdejavu"),
    ("with accents", In::User, "the §quxcafé word", "§quxcafé"),
    ("another form", In::User, "the §quxwidgets moved", "§quxwidgeting"),
    ("words of two messages", In::Both, "the §quxfirst word|the §quxsecond word", "§quxfirst §quxsecond"),
    ("phrase", In::Agent, "a §quxphrase of four words", "\"§quxphrase of four\""),
    ("option", In::Call, "cargo run --§dry-quxrun", "--§dry-quxrun"),
    ("signs of a query language", In::User, "if (§quxa && b) || [c]", "(§quxa && b) ||"),
    ("slash command", In::User, "then run /§quxcommand now", "/§quxcommand"),
    ("beginning of a hash", In::Output, "commit §deadbe2f9c81aa37", "§deadbe2f"),
    ("emoji", In::User, "ship it 🦩🪁 §", "🦩"),
    ("middle of a large session", In::Middle, "the §quxmiddle word", "§quxmiddle"),
    ("end of a long output", In::OutputTail, "the §quxtooltail word", "§quxtooltail"),
    ("end of a long answer", In::AgentTail, "the §quxagenttail word", "§quxagenttail"),
];

fn long(bytes: usize) -> String {
    "some other text to fill it with\n".repeat(bytes / 32)
}

/// The turns of a session that holds `text` at a place.
fn turns(place: In, text: &str) -> Vec<(In, String)> {
    let mut turns = vec![(In::User, "Please begin.".to_owned())];
    match place {
        In::Both => {
            let (first, second) = text.split_once('|').unwrap();
            turns.extend([(In::User, first.to_owned()), (In::Agent, second.to_owned())]);
        }
        In::Middle => {
            turns.extend((0..15).map(|_| (In::Output, long(100_000))));
            turns.push((In::User, text.to_owned()));
            turns.extend((0..15).map(|_| (In::Output, long(100_000))));
        }
        In::OutputTail => turns.push((In::Output, long(200_000) + text)),
        In::AgentTail => turns.push((In::Agent, long(300_000) + text)),
        In::Title | In::Child => {}
        place => turns.push((place, text.to_owned())),
    }
    turns.push((In::Agent, "Done.".to_owned()));
    turns
}

fn lines(records: impl IntoIterator<Item = Value>) -> String {
    records.into_iter().map(|r| format!("{r}\n")).collect()
}

fn claude(id: &str, turns: &[(In, String)], side: bool) -> String {
    let record = |(n, (place, text)): (usize, &(In, String))| {
        let (role, content) = match place {
            In::Agent => ("assistant", json!([{ "type": "text", "text": text }])),
            In::Thinking => ("assistant", json!([{ "type": "thinking", "thinking": text }])),
            In::Call => (
                "assistant",
                json!([{ "type": "tool_use", "id": "t", "name": "Bash", "input": { "command": text } }]),
            ),
            In::Output => ("user", json!([{ "type": "tool_result", "tool_use_id": "t", "content": text }])),
            _ => ("user", json!(text)),
        };
        json!({ "type": role, "uuid": format!("{id}-{n}"), "isSidechain": side, "cwd": "/w/app", "sessionId": id,
            "timestamp": format!("2026-03-01T10:00:{n:02}.000Z"), "message": { "id": format!("m{n}"), "role": role, "content": content } })
    };
    lines(turns.iter().enumerate().map(record))
}

fn codex(id: &str, turns: &[(In, String)], source: Value) -> String {
    let at = |n: usize| format!("2026-03-01T10:00:{n:02}.000Z");
    let record = |(n, (place, text)): (usize, &(In, String))| {
        let said = |role: &str, kind: &str| json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] });
        let payload = match place {
            In::Agent => said("assistant", "output_text"),
            In::Thinking => {
                json!({ "type": "reasoning", "summary": [{ "type": "summary_text", "text": text }] })
            }
            In::Call => {
                json!({ "type": "function_call", "name": "shell_command", "call_id": "c", "arguments": json!({ "command": text }).to_string() })
            }
            In::Output => json!({ "type": "function_call_output", "call_id": "c", "output": text }),
            _ => said("user", "input_text"),
        };
        json!({ "timestamp": at(n + 1), "type": "response_item", "payload": payload })
    };
    let meta = json!({ "timestamp": at(0), "type": "session_meta", "payload": {
        "id": id, "timestamp": at(0), "cwd": "/w/app", "originator": "codex-tui", "source": source,
    } });
    lines(std::iter::once(meta).chain(turns.iter().enumerate().map(record)))
}

/// Plants one class for both agents. Returns the ids to find.
fn plant(agf: &Agf, n: u32, place: In, text: &str) -> [String; 2] {
    let [own, twin] = [id(n), id(1000 + n)];
    let (for_claude, for_codex) = (text.replace('§', "k"), text.replace('§', "v"));
    let turns_of = |text: &str| turns(place, text);
    agf.write(&claude_path("/w/app", &own), claude(&own, &turns_of(&for_claude), false));
    let rollout = |id: &str| format!(".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-{id}.jsonl");
    let child = place == In::Child;
    let said = if child {
        vec![(In::User, for_codex.clone()), (In::Agent, "Done.".to_owned())]
    } else {
        turns_of(&for_codex)
    };
    let source = if child { json!({ "subagent": "review" }) } else { json!("cli") };
    agf.write(&rollout(&twin), codex(&twin, &said, source));
    match place {
        In::Title => {
            let title = json!({ "type": "ai-title", "aiTitle": for_claude, "sessionId": own });
            let lines = claude(&own, &turns_of(""), false) + &format!("{title}\n");
            agf.write(&claude_path("/w/app", &own), lines);
            agf.write(".codex/session_index.jsonl", lines_of_names(&twin, &for_codex));
        }
        In::Child => {
            let side = [(In::User, for_claude), (In::Agent, "Done.".to_owned())];
            let path = claude_path("/w/app", &own).replace(".jsonl", "/subagents/agent-a1.jsonl");
            agf.write(&path, claude(&own, &side, true));
        }
        _ => {}
    }
    [own, twin]
}

fn lines_of_names(id: &str, name: &str) -> String {
    lines([json!({ "id": id, "thread_name": name, "updated_at": "2026-03-01T10:00:00Z" })])
}

#[test]
fn every_class_is_found_for_both_agents() {
    let agf = Agf::new();
    let planted: Vec<[String; 2]> =
        (0..).zip(CLASSES).map(|(n, (_, place, text, _))| plant(&agf, n, *place, text)).collect();
    let mut missing = Vec::new();
    for ((class, _, _, query), planted) in CLASSES.iter().zip(planted) {
        for (letter, wanted) in ["k", "v"].into_iter().zip(planted) {
            let query = query.replace('§', letter);
            let args =
                ["search", "--include-content", "--include-non-interactive", "--limit", "20", "--", &query];
            let found = ids(&agf.data(&args));
            if !found.contains(&wanted) {
                missing.push(format!("{class}: {query}"));
            }
        }
    }
    assert!(CLASSES.len() >= 44 && missing.is_empty(), "{missing:#?}");
}
