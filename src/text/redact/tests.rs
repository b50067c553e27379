use super::*;
use proptest::prelude::*;

#[test]
fn a_stretch_of_a_secret_is_masked_too() {
    let body = "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1bC3dE5gH7j";
    let text =
        format!("before\n-----BEGIN PRIVATE KEY-----\n{body}\n{body}\n-----END PRIVATE KEY-----\nafter");
    let inside = text.find(body).unwrap() + 7;
    assert_eq!(passage(&text, inside..text.len()), "[redacted:private-key]\nafter");
    assert_eq!(passage(&text, 0..inside), "before\n[redacted:private-key]");
    assert_eq!(passage(&text, inside..inside + 5), "[redacted:private-key]");
    assert_eq!(passage(&text, 0..4), "befo");
}

#[test]
fn credentials_are_masked() {
    let body = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5";
    for (text, secret) in [
        (format!("ghp_{body}"), body),
        (format!("key sk-ant-api03-{body} end"), body),
        ("AKIAIOSFODNN7EXAMPLE".into(), "AKIAIOSFODNN7EXAMPLE"),
        (format!("Authorization: Bearer {body}"), body),
        ("postgres://u:pw@h/db".into(), ":pw@"),
        (format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"), body),
        (format!("AWS_SECRET_ACCESS_KEY={body}"), body),
    ] {
        let (masked, n) = redact(&text);
        assert!(n >= 1 && !masked.contains(secret) && masked.contains("[redacted:"), "{text} -> {masked}");
    }
}

#[test]
fn plain_text_is_left_alone() {
    for text in [
        "rotate token",
        "token_count: 12345678",
        "9c1f5038-4775-4aa9-bb82-2aa43d5774be",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "sk-learn-contrib-and-other-long-package-names",
        "https://example.com/a:b@c",
        "the password: see the vault",
        "git@github.com:acme/app.git",
    ] {
        assert_eq!(redact(text).1, 0, "{text} -> {}", redact(text).0);
    }
}

/// What the rules look for, in any order and cut anywhere.
fn fragments() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "password",
        "API_KEY",
        "=",
        ":",
        " ",
        "\n",
        "\"",
        "'",
        "\\",
        "…",
        "é",
        "👩‍👩‍👧",
        "://",
        "@",
        "/",
        "user",
        "Q~",
        "3xT8",
        "--",
        "-----BEGIN ",
        "-----END ",
        "RSA PRIVATE KEY",
        "-----",
        "Private-Lines: 2",
        "ghp_",
        "sk-",
        "AKIA",
        "eyJ",
        ".eyJ",
        "bot",
        "7012345678",
        "1/1204567890123456",
        "Bearer ",
        "Cookie",
        ";",
        "%3D",
        "\\u003d",
        "[31m",
        "<",
        ">",
        "(",
        "pat",
        "xoxb-",
        "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1bC3dE5gH7j",
        "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
        "-us1",
        "=>",
        "curl -u ",
        "mysql -p",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|p| p.concat())
}

/// Two lines that share their dashes.
#[test]
fn lines_of_blocks_may_overlap() {
    let mark = |word: &str| format!("-----{word} RSA PRIVATE {}", "KEY");
    redact(&format!("{}{}", mark("BEGIN"), mark("END")));
}

proptest! {
    #[test]
    fn any_text_is_survived(text in prop_oneof![any::<String>(), fragments()], a in 0usize..400, b in 0usize..400) {
        redact(&redact(&text).0);
        let (from, to) = (floor_boundary(&text, a.min(b)), floor_boundary(&text, a.max(b)));
        let near = surroundings(&text, &(from..to));
        prop_assert!(near.start <= from && near.end >= to);
        passage(&text[near.clone()], from - near.start..to - near.start);
    }

    #[test]
    fn nothing_around_it_saves_a_key(before in fragments(), after in fragments()) {
        let body = "Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2Rr1Qq0Pp9Oo8";
        let masked = redact(&format!("{before} ghp_{body} {after}")).0.into_owned();
        let leaks = (0..body.len() - 8).any(|i| masked.contains(&body[i..i + 8]));
        prop_assert!(!leaks, "{masked}");
    }
}
