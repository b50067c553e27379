//! Credentials do not leave, and what only looks like one is left alone.

use crate::agf::{Agf, claude_line, claude_path, id};
use crate::shapes::{Shape, data, shapes};
use agf_catalog::text::Clean;
use agf_catalog::text::redact::redact;
use serde_json::{Value, json};

/// Draws of every shape.
const DRAWS: u64 = 3;

fn drawn() -> impl Iterator<Item = Shape> {
    (0..DRAWS).flat_map(shapes)
}

/// What of a secret is in a text, for the message of a failed test.
fn fail(wrong: Vec<String>) {
    let mut shown = wrong.clone();
    shown.dedup_by_key(|w| w.split(':').next().unwrap_or("").to_owned());
    assert!(wrong.is_empty(), "{} fail: {shown:#?}", wrong.len());
}

#[test]
fn there_are_many_shapes_and_lookalikes() {
    assert!(shapes(0).len() >= 60);
    assert!(data("lookalikes.txt").lines().count() >= 200);
}

#[test]
fn every_shape_is_masked_wherever_it_stands() {
    let mut wrong = Vec::new();
    for shape in drawn() {
        for (before, after) in
            [("", ""), ("use this: ", " and go on"), ("see\n", "\nthen go on\n"), ("`", "`")]
        {
            let text = format!("{before}{}{after}", shape.text);
            let (masked, count) = redact(&text);
            if let Some(part) = shape.leak(&masked) {
                wrong.push(format!("{}: {part:?} of {text:?} in {masked:?}", shape.name));
            }
            if count == 0 || redact(&masked).0 != masked {
                wrong.push(format!("{}: {masked:?} is masked again", shape.name));
            }
        }
    }
    fail(wrong);
}

#[test]
fn lookalikes_are_left_alone() {
    let (lines, blocks) = (data("lookalikes.txt"), data("blocks.txt"));
    let mut wrong = Vec::new();
    for text in lines.lines().chain(blocks.split("\n%%\n")) {
        for text in [text.to_owned(), format!("{text}\nand more"), format!("it says {text} and more")] {
            let masked = redact(&text).0;
            if masked != text {
                wrong.push(format!("{text:?} -> {masked:?}"));
            }
        }
    }
    fail(wrong);
}

/// Whoever wrote a text may have cut it anywhere: what begins like a credential is one.
#[test]
fn a_cut_credential_is_masked() {
    /// Their beginning says nothing: it is made of letters and digits, or it is the end that tells.
    const LIKE_WORDS: &[&str] = &[
        "crates.io",
        "vault old",
        "twilio key",
        "mailgun new",
        "mailchimp",
        "url with a token",
        "pem without beginning",
        "pem in json without beginning",
    ];
    let mut wrong = Vec::new();
    for shape in shapes(1).into_iter().filter(|s| !LIKE_WORDS.contains(&s.name.as_str())) {
        for end in (0..shape.text.len()).filter(|i| shape.text.is_char_boundary(*i)).step_by(7) {
            let tail = ["", "…", "...", "\n[truncated]"][end % 4];
            let text = format!("x {}{tail}", &shape.text[..end]);
            let masked = redact(&text).0;
            if let Some(part) = shape.leak(&masked) {
                wrong.push(format!("{}: {part:?} of {text:?} in {masked:?}", shape.name));
            }
        }
    }
    fail(wrong);
}

/// A mask is shorter than what it hides: what stands behind a long one moves up.
#[test]
fn nothing_leaks_at_the_edge_of_what_is_kept() {
    const MAX: usize = 64;
    // As much as is looked at for so short a line.
    const SEEN: usize = 4 * MAX;
    let long = shapes(2).iter().find(|s| s.name == "jwt").map(|s| s.text.repeat(4)).unwrap();
    let mut wrong = Vec::new();
    for shape in shapes(3) {
        let width = shape.text.len();
        for at in (0..width + 8).step_by(11) {
            let head = &long[..SEEN + 8 - at.min(SEEN)];
            let text = format!("{head} {} {}", shape.text, "and more of it ".repeat(50));
            let shown = if at % 2 == 0 { Clean::line(&text, MAX) } else { Clean::block(&text, MAX) };
            if let Some(part) = shape.leak(shown.as_str()) {
                wrong.push(format!("{}: {part:?} in {:?}", shape.name, shown.as_str()));
            }
        }
    }
    fail(wrong);
}

#[test]
fn nothing_leaks_at_the_edge_of_a_window() {
    let mut wrong = Vec::new();
    for shape in shapes(4) {
        let text = format!("{}\n{}\n{}", "before it ".repeat(500), shape.text, "behind it ".repeat(300));
        let (first, last) = (5000, 5002 + shape.text.len());
        for start in (first..last).step_by(29).filter(|i| text.is_char_boundary(*i)) {
            for range in [
                start..text.len(),
                start.saturating_sub(200)..start,
                start..text.floor_char_boundary(start + 40),
            ] {
                let excerpt = Clean::excerpt(&text, range, 300);
                if let Some(part) = shape.leak(excerpt.as_str()) {
                    wrong.push(format!("{} from {start}: {part:?} in {:?}", shape.name, excerpt.as_str()));
                }
            }
        }
    }
    fail(wrong);
}

/// A matching tool colours what it found; what shows nothing may stand between any two characters.
#[test]
fn colours_and_invisible_characters_hide_nothing() {
    let mut wrong = Vec::new();
    for shape in shapes(5) {
        let coloured =
            shape.text.replace("sk", "\u{1b}[01;31ms\u{1b}[mk").replace('_', "\u{1b}[31m_\u{1b}[0m");
        let spread: String = shape.text.chars().flat_map(|c| [c, '\u{200b}']).collect();
        for text in [coloured, spread] {
            let text = format!("before {text} behind {}", "words ".repeat(100));
            let middle = text.floor_char_boundary(60);
            for shown in [
                Clean::line(&text, 256),
                Clean::block(&text, 4096),
                Clean::excerpt(&text, middle..text.floor_char_boundary(middle + 8), 300),
            ] {
                if let Some(part) = shape.leak(shown.as_str()) {
                    wrong.push(format!("{}: {part:?} in {:?}", shape.name, shown.as_str()));
                }
            }
        }
    }
    fail(wrong);
}

#[test]
fn a_key_longer_than_all_windows_is_masked() {
    let line = shapes(6)
        .iter()
        .find(|s| s.name == "pem rsa")
        .map(|s| s.text.lines().nth(1).unwrap().to_owned())
        .unwrap();
    let mark = |word: &str| format!("-----{word} RSA PRIVATE {}-----", "KEY");
    let text = format!("{}\n{}{}\nbehind", mark("BEGIN"), format!("{line}\n").repeat(400), mark("END"));
    for at in [100, 9_000, 20_000] {
        assert_eq!(Clean::excerpt(&text, at..at + 100, 300).as_str(), "…[redacted:private-key]…", "{at}");
    }
}

/// A Claude Code session that holds a secret in every role, its title and its recap.
fn session(agf: &Agf, n: u32, shape: &Shape) {
    let said = |role: &str| format!("zqall zq{role}{n}\n{}\nzq{role}{n}end and more", shape.text);
    let record = |k: usize, kind: &str, content: Value| {
        let message = json!({ "id": format!("m{k}"), "role": kind, "model": "claude-x", "content": content });
        json!({
            "parentUuid": null, "isSidechain": false, "userType": "external", "cwd": "/w/app", "sessionId": id(n), "version": "2.1.332",
            "gitBranch": "main", "type": kind, "uuid": format!("{n}-{k}"), "timestamp": format!("2026-03-01T10:00:0{k}.000Z"),
            "message": message,
        })
    };
    let call =
        json!([{ "type": "tool_use", "id": "t", "name": "Bash", "input": { "command": said("input") } }]);
    let result = json!([{ "type": "tool_result", "tool_use_id": "t", "content": [{ "type": "text", "text": said("output") }] }]);
    let mut recap = record(5, "system", json!(""));
    recap["subtype"] = json!("away_summary");
    recap["content"] = json!(said("recap"));
    let lines = [
        record(1, "user", json!(said("prompt"))),
        record(2, "assistant", json!([{ "type": "text", "text": said("answer") }])),
        record(3, "assistant", call),
        record(4, "user", result),
        recap,
        json!({ "type": "custom-title", "customTitle": said("title"), "sessionId": id(n) }),
    ];
    agf.write(&claude_path("/w/app", &id(n)), lines.map(|l| format!("{l}\n")).concat());
}

fn told(shape: &Shape, out: &str) -> Option<String> {
    shape.leak(out).map(|part| format!("{}: {part}", shape.name))
}

fn home() -> (Agf, Vec<Shape>) {
    let agf = Agf::new();
    let shapes = shapes(7);
    for (n, shape) in shapes.iter().enumerate() {
        session(&agf, n as u32, shape);
    }
    (agf, shapes)
}

#[test]
fn the_command_line_prints_no_secret() {
    let (agf, shapes) = home();
    let runs = [
        vec!["search", "zqall", "-c", "--include-summaries", "--limit", "200"],
        vec!["find", "zqall", "-n", "200"],
        vec!["search", "--include-summaries", "--limit", "200"],
    ]
    .map(|args| agf.run(&args).out);
    assert!(runs.iter().all(|out| out.contains("[redacted:")) && runs[0].contains("zqall"));
    let mut wrong: Vec<String> =
        shapes.iter().flat_map(|s| runs.iter().find_map(|out| told(s, out))).collect();
    // The server is asked about all of them; here a few show that it is the same.
    for (n, shape) in shapes.iter().enumerate().step_by(9) {
        let read = agf.run(&["read", &id(n as u32), "-a", "claude"]).out;
        let show = agf.run(&["show", &id(n as u32), "-a", "claude", "--include-summaries"]).out;
        assert!(
            read.contains(&format!("zqoutput{n}end")) && show.contains(&format!("zqprompt{n}")),
            "{read}{show}"
        );
        wrong.extend([read, show].iter().find_map(|out| told(shape, out)));
    }
    fail(wrong);
}

/// Of a tool's arguments the values are kept: a name that says secret stays with its value.
#[test]
fn a_field_of_a_tools_arguments_is_masked_by_its_name() {
    let agf = Agf::new();
    let secret = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
    let input = json!({ "url": "https://h/zqfield", "headers": { "X-Api-Key": secret }, "password": "Zq7!pass", "token": 5, "path": secret });
    for (input, left) in
        [(input.clone(), true), (json!({ "headers": input["headers"], "zq": "zqfield" }), false)]
    {
        let call = json!([{ "type": "tool_use", "id": "t", "name": "Fetch", "input": input }]);
        let mut line: Value =
            serde_json::from_str(&claude_line("/w/app", &id(1), 1, "assistant", "x")).unwrap();
        line["message"]["content"] = call;
        agf.write(
            &claude_path("/w/app", &id(1)),
            format!("{}{line}\n", claude_line("/w/app", &id(1), 0, "user", "fetch it")),
        );
        for args in [vec!["search", "zqfield", "-c"], vec!["read", &id(1), "-a", "claude"]] {
            let out = agf.run(&args).out;
            assert!(out.contains("zqfield") && !out.contains("Zq7!pass"), "{out}");
            assert_eq!(out.matches(secret).count(), usize::from(left), "{out}");
        }
    }
}

#[cfg(feature = "mcp")]
#[test]
fn the_server_answers_with_no_secret() {
    use crate::mcp::{ALL, Server};
    let (agf, shapes) = home();
    let mut server = Server::start(agf.home.path(), &["--allow", ALL]);
    let mut wrong = Vec::new();
    for (n, shape) in shapes.iter().enumerate() {
        let one = json!({ "agent": "claude", "session_id": id(n as u32) });
        let mut answers = vec![
            server.call("agf_read_session", one.clone()),
            server.call(
                "agf_get_session",
                json!({ "agent": "claude", "session_id": id(n as u32), "include_summaries": true }),
            ),
            server
                .modern("resources/read", json!({ "uri": format!("agf://session/claude/{}", id(n as u32)) })),
        ];
        let body = &shape.bodies[0];
        let mut queries =
            ["prompt", "answer", "input", "output", "recap"].map(|r| format!("zq{r}{n}")).to_vec();
        queries.extend([
            body.clone(),
            body[..body.len().min(8)].to_owned(),
            body[body.len() / 2..].to_owned(),
        ]);
        for query in queries {
            let arguments = json!({ "query": query, "include_content": true, "include_summaries": true });
            answers.push(server.call("agf_search_sessions", arguments));
        }
        assert!(answers[3].to_string().contains(&format!("zqprompt{n}")), "{}", answers[3]);
        wrong.extend(answers.iter().find_map(|a| told(shape, &a.to_string())));
    }
    server.end_well();
    fail(wrong);
}
