//! The kinds of questions, each with its right answers and what comes close to them.

use super::stores::Says::{Agent, Call, Harness, Output, User};
use super::words::{FOREIGN, HARD_WORDS, NOUNS, PROJECTS, SMALL_TALK, SOFT_WORDS, STORIES, VERBS};
use super::world::World;

/// The whole history.
pub fn make(seed: u64) -> World {
    let mut world = World::new(seed);
    identifiers(&mut world);
    paths(&mut world);
    numbers(&mut world);
    phrases(&mut world);
    typos(&mut world);
    foreign(&mut world);
    stories(&mut world);
    projects(&mut world);
    branches(&mut world);
    times(&mut world);
    places(&mut world);
    flood(&mut world);
    copies(&mut world);
    giants(&mut world);
    for _ in 0..40 {
        world.decoy(&[]);
    }
    world
}

fn identifiers(w: &mut World) {
    for i in 0..NOUNS.len() - 2 {
        let (verb, one, two) = (VERBS[i % VERBS.len()], NOUNS[i], NOUNS[(i + 7) % NOUNS.len()]);
        let (three, four) = (NOUNS[(i + 3) % NOUNS.len()], NOUNS[(i + 12) % NOUNS.len()]);
        let (a, b) = (one.to_lowercase(), two.to_lowercase());
        let style = |x: &str, y: &str| match i % 3 {
            0 => format!("{verb}{x}{y}"),
            1 => format!("{verb}_{}_{}", x.to_lowercase(), y.to_lowercase()),
            _ => format!("{verb}-{}-{}", x.to_lowercase(), y.to_lowercase()),
        };
        let name = style(one, two);
        w.next_target();
        let said = [
            (User, format!("Rename the helper to {name} everywhere.")),
            (Output, format!("src/lib.rs:14: fn call() {{ {name}(x) }}")),
            (Agent, format!("The slow part is {name}, it runs once per row.")),
        ];
        let (who, text) = &said[i % 3];
        let id = w.told(&[(*who, text)]);
        for other in [style(one, three), style(four, two)] {
            w.decoy(&[(Agent, &format!("I looked at {other} and left it as it is."))]);
        }
        w.decoy(&[
            (User, &format!("The {b} is wrong when we {verb} twice.")),
            (Agent, &format!("That is because the {a} comes first.")),
        ]);
        w.ask("identifier", &name, &id);
        w.ask("identifier half", &name[..name.len() - two.len() + 3], &id);
        let tail = &name[verb.len()..];
        w.ask("identifier half", tail.trim_start_matches(['_', '-']), &id);
        w.ask("identifier parts", format!("{a} {b}"), &id);
        if i % 2 == 0 {
            w.ask("identifier parts", format!("{verb} {a} {b}"), &id);
        }
    }
}

fn paths(w: &mut World) {
    for i in 0..12 {
        let (a, b) =
            (NOUNS[i].to_lowercase(), NOUNS[(i * 3 + 5) % NOUNS.len()].to_lowercase() + &i.to_string());
        let (dir, verb) =
            (["crates", "packages", "services", "apps"][i % 4], VERBS[(i * 5 + 1) % VERBS.len()]);
        let ext = ["rs", "ts", "py", "go"][i % 4];
        let path = format!("{dir}/{a}-core/src/{verb}/{b}_store.{ext}");
        w.next_target();
        let said = [
            (Call, format!("sed -n 1,80p {path}")),
            (Agent, format!("The bug is in {path}, near the end.")),
            (Output, format!("/work/repo/{path}:77: warning: unused variable")),
        ];
        let (who, text) = &said[i % 3];
        let id = w.told(&[(*who, text)]);
        w.decoy(&[(Call, &format!("cat {dir}/{a}-core/src/{verb}/{b}_cache.{ext}"))]);
        w.decoy(&[(Agent, &format!("See {dir}/{a}-core/src/mod.{ext} and {b}_index.{ext} for the rest."))]);
        w.decoy(&[(Output, &format!("{dir}/{a}-core/{verb}.{ext}: {b} store not found"))]);
        w.ask("path", &path, &id);
        w.ask("path", format!("{b}_store.{ext}"), &id);
        w.ask("path", format!("{verb}/{b}_store"), &id);
        if i % 3 == 0 {
            w.ask("path", format!("{a}-core {b}_store"), &id);
        }
    }
}

fn numbers(w: &mut World) {
    const PACKAGES: [&str; 10] =
        ["tokio", "react", "django", "pydantic", "vite", "esbuild", "serde", "numpy", "kafka", "redis"];
    for (i, package) in PACKAGES.into_iter().enumerate() {
        let (minor, patch) = (11 + 3 * i, 2 + i);
        let version = format!("4.{minor}.{patch}");
        let shown = if i % 3 == 0 { version.clone() } else { format!("v{version}") };
        w.next_target();
        let id = w.told(&[(
            [User, Agent, Output][i % 3],
            &format!("We pin {package} to {shown} because of the regression."),
        )]);
        for near in
            [format!("4.{minor}.{patch}7"), format!("14.{minor}.{patch}"), format!("4.{patch}.{minor}")]
        {
            w.decoy(&[(Agent, &format!("{package} {near} is what the lock file has."))]);
        }
        w.ask("version", if i % 4 < 2 { version.clone() } else { format!("v{version}") }, &id);
        w.ask("version", format!("{package} {version}"), &id);
    }
    for i in 0..12 {
        let n = 2300 + 37 * i;
        let code = |n: usize| match i % 6 {
            0 => format!("error[E{n}]"),
            1 => format!("TS{n}"),
            2 => format!("ORA-0{n}"),
            3 => format!("0x8007{n}"),
            4 => format!("SQLSTATE 2{n}"),
            _ => format!("ERR_QUIC_{n}"),
        };
        w.next_target();
        let id = w.told(&[(Output, &format!("build failed: {}: see the log for details", code(n)))]);
        for near in [n + 1, n * 10 + 3, n - 10] {
            w.decoy(&[(Output, &format!("build failed: {}: see the log", code(near)))]);
        }
        w.decoy(&[(Agent, &format!("Line {n} of the log has an error, the build goes on."))]);
        let asked = code(n);
        w.ask("error code", asked.trim_start_matches("error[").trim_end_matches(']'), &id);
        if i % 3 == 0 {
            w.ask("error code", &asked, &id);
        }
    }
}

fn phrases(w: &mut World) {
    for i in 0..10 {
        let (a, b, c) = (SOFT_WORDS[i], NOUNS[i + 4].to_lowercase(), HARD_WORDS[i + 18]);
        let phrase = format!("{a} before {b} {c}");
        w.next_target();
        let id = w.told(&[([Agent, User][i % 2], &format!("The rule is {phrase}, with no exception."))]);
        w.decoy(&[(Agent, &format!("{c} comes before {a}; the {b} stays."))]);
        w.decoy(&[(User, &format!("First {b}, then {a}. Before that: {c}."))]);
        w.decoy(&[(User, &format!("What of {a} before {b}?")), (Agent, &format!("{b} {c} is off."))]);
        w.ask("phrase", format!("\"{phrase}\""), &id);
        w.ask("phrase", phrase, &id);
    }
}

/// A word with one letter wrong, in one of four ways.
fn misspelt(word: &str, how: usize, at: usize) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    match how % 4 {
        0 => drop(letters.remove(at)),
        1 => letters.swap(at, at + 1),
        2 => letters.insert(at, letters[at]),
        _ => letters[at] = if letters[at] == 'e' { 'a' } else { 'e' },
    }
    letters.into_iter().collect()
}

fn typos(w: &mut World) {
    for i in 0..16 {
        let (hard, soft) = (HARD_WORDS[i], SOFT_WORDS[i % SOFT_WORDS.len()]);
        w.next_target();
        let id =
            w.told(&[([User, Agent][i % 2], &format!("We need {hard} for the {soft} part, nothing else."))]);
        w.decoy(&[(Agent, &format!("{hard} of the {} is done.", SOFT_WORDS[(i + 5) % SOFT_WORDS.len()]))]);
        w.decoy(&[(Agent, &format!("The {soft} has another problem."))]);
        let at = 2 + i % (hard.len() - 4);
        let wrong = misspelt(hard, i, at);
        if i % 5 == 1 {
            w.decoy(&[(User, &format!("what about {wrong} here"))]);
        }
        w.ask("typo", format!("{wrong} {soft}"), &id);
        if i % 3 == 0 {
            w.ask("typo", format!("{} {hard}", misspelt(soft, i / 2, 2)), &id);
        }
        if hard.len() >= 10 {
            w.ask(
                "two typos",
                format!("{} {soft}", misspelt(&wrong, i + 1, if at > 4 { 1 } else { at + 3 })),
                &id,
            );
        }
    }
}

fn foreign(w: &mut World) {
    for (i, f) in FOREIGN.iter().enumerate() {
        w.next_target();
        let id = w.told(&[([User, Agent, Output][i % 3], f.said)]);
        w.decoy(&[(Agent, f.near)]);
        w.decoy(&[(User, f.near)]);
        w.ask(f.kind, f.asked, &id);
    }
}

fn stories(w: &mut World) {
    for (i, s) in STORIES.iter().enumerate() {
        w.next_target();
        let id = w.told_in(s.project, s.days, &[(User, s.prompt), (Agent, s.answer)]);
        // Half of its words in another project, its words in a dump, and the question itself where somebody searched for it.
        let other = PROJECTS[(i + 5) % PROJECTS.len()];
        let half = s.prompt.split(' ').step_by(2).collect::<Vec<_>>().join(" ");
        w.told_in(other, s.days + 1, &[(Agent, &half)]);
        let mut words: Vec<&str> = s.prompt.split(' ').chain(s.answer.split(' ')).collect();
        words.sort_unstable();
        w.told_in(other, 2, &[(Output, &words.join("\n"))]);
        for question in s.questions {
            w.ask("question", *question, &id);
        }
    }
}

fn projects(w: &mut World) {
    for i in 0..14 {
        let (project, topic) = (PROJECTS[i % PROJECTS.len()], HARD_WORDS[(i * 7 + 3) % HARD_WORDS.len()]);
        let soft = SOFT_WORDS[(i * 5) % SOFT_WORDS.len()];
        w.next_target();
        let said = format!("Let us talk about {topic} of the {soft} today.");
        let days = 20 + 3 * i as i64;
        let id = w.told_in(project, days, &[(User, &said)]);
        let other = PROJECTS[(i + 4) % PROJECTS.len()];
        w.told_in(other, 4, &[(User, &said)]);
        w.told_in(
            other,
            3,
            &[(Agent, &format!("In {project} they did {topic} differently, see the {soft}."))],
        );
        w.ask("project and topic", format!("{project} {topic} {soft}"), &id);
    }
}

fn branches(w: &mut World) {
    let names: Vec<String> = (0..10)
        .map(|i| {
            let (verb, noun) =
                (VERBS[(i * 3 + 2) % VERBS.len()], NOUNS[(i * 7 + 1) % NOUNS.len()].to_lowercase());
            if i % 2 == 0 {
                format!("fix/{verb}-{noun}-rounding")
            } else {
                format!("PROJ-{}-{noun}", 4100 + 13 * i)
            }
        })
        .collect();
    for (i, branch) in names.iter().enumerate() {
        w.next_target();
        let id = w.told(&[]);
        w.last().branch.clone_from(branch);
        w.decoy(&[(Output, &names.join("\n"))]);
        w.decoy(&[(Agent, &format!("I will not touch {branch}, it belongs to somebody else."))]);
        w.ask("branch", branch, &id);
        w.ask("branch", if i % 2 == 0 { &branch[4..] } else { &branch[..9] }, &id);
        if i % 3 == 0 {
            w.ask("branch", format!("branch:{branch}"), &id);
        }
    }
}

fn times(w: &mut World) {
    const TOPICS: [(&str, &str, &str); 8] = [
        ("billing", "retries", "I would argue against more retries here."),
        ("gateway", "timeouts", "We argued enough about timeouts, keep them short."),
        ("infra", "alerts", "The alerts are too loud at night."),
        ("etl", "backfills", "Should the backfills run in parallel?"),
        ("sdk", "deprecations", "The deprecations need a date."),
        ("mobile-app", "permissions", "Asking for permissions at the start is bad."),
        ("storefront", "discounts", "The discounts do not add up in the basket."),
        ("notifier", "digests", "The digests go out too early."),
    ];
    const AGES: [(&str, i64, [i64; 2]); 4] = [
        ("last week", 7, [24, 60]),
        ("yesterday", 1, [5, 12]),
        ("last month", 18, [0, 100]),
        ("3 weeks ago", 21, [2, 80]),
    ];
    for (i, (project, topic, said)) in TOPICS.into_iter().enumerate() {
        let (when, days, others) = AGES[i % AGES.len()];
        w.next_target();
        let id = w.told_in(project, days, &[(User, said)]);
        for other in others {
            w.told_in(project, other, &[(User, said)]);
        }
        w.told_in("docs-site", days, &[(Agent, said)]);
        w.ask("time", format!("{when} in the {project} repo where we talked about {topic}"), &id);
        let operator = match when {
            "yesterday" => "on:yesterday".to_owned(),
            _ => format!("since:{}d until:{}d", days + 2, days - 2),
        };
        w.ask("time", format!("{topic} {operator} project:{project}"), &id);
    }
}

fn places(w: &mut World) {
    for i in 0..10 {
        let word = |n: usize| HARD_WORDS[(i * 3 + n) % HARD_WORDS.len()];
        let (a, b) = (NOUNS[i].to_lowercase(), SOFT_WORDS[(i + 2) % SOFT_WORDS.len()]);
        for (kind, who, n) in [
            ("title only", Harness, 5),
            ("prompt only", User, 11),
            ("answer only", Agent, 17),
            ("tool only", Output, 23),
        ] {
            let words = format!("{} {a} {b}", word(n));
            w.next_target();
            let id = if who == Harness {
                w.told(&[])
            } else {
                w.told(&[(who, &format!("about the {b} here, for {a} and its {}", word(n)))])
            };
            if who == Harness {
                w.last().title = Some(format!("Plan {a} {} for the {b}", word(n)));
            }
            w.decoy(&[(Output, &format!("{a} {b}")), (Output, word(n))]);
            w.decoy(&[(Agent, &format!("{a} and {}", word(n + 1))), (Output, b)]);
            w.ask(kind, words, &id);
        }
    }
}

const FLOOD_WORDS: [&str; 6] = ["quasar", "nebula", "pulsar", "magnetar", "perihelion", "syzygy"];

/// Words that stand in ten thousand tool outputs, and each in one title.
fn flood(w: &mut World) {
    for n in 0..40 {
        let line = format!("INFO {} tick {n} ok", FLOOD_WORDS.join(" "));
        let said: Vec<_> = (0..250).map(|_| (Output, line.as_str())).collect();
        w.told(&said);
        w.last().turns.retain(|(who, _)| *who != Call);
    }
    for word in FLOOD_WORDS {
        w.next_target();
        let id = w.told_in("infra", 70, &[]);
        w.last().title = Some(format!("Tidy up the {word} exporter"));
        w.ask("flood", word, &id);
        w.ask("flood", format!("{word} exporter"), &id);
    }
}

/// Sessions that were forked or copied again and again.
fn copies(w: &mut World) {
    for i in 0..5 {
        let topic = format!("{} {} allocator", VERBS[i], NOUNS[i + 9].to_lowercase());
        let base = w.told(&[
            (User, &format!("Design the {topic} with care.")),
            (Agent, &format!("The {topic} needs two lists.")),
        ]);
        let original = w.sessions[w.sessions.len() - 1].clone();
        let mut family = vec![(base, 1)];
        w.next_target();
        for n in 0..6 {
            let id = w.told(&[]);
            let extra = ["bitmap", "arena", "slab", "buddy", "bump", "pool"][n];
            let copy = w.last();
            copy.agent = original.agent;
            copy.project.clone_from(&original.project);
            copy.turns = original.turns.clone();
            copy.turns.push((User, format!("Now take the {extra} variant instead.")));
            if n == i {
                w.ask("copies", format!("{topic} {extra} variant"), &id);
            }
            family.push((id, 1));
        }
        let reviewed = w.told(&[(Agent, &format!("Reviewed the {topic} once more."))]);
        w.last().title = Some(format!("Review of the {topic}"));
        family.push((reviewed, 2));
        w.ask_for("copies", topic, family);
    }
}

/// Long sessions in which nearly every word occurs somewhere.
fn giants(w: &mut World) {
    let texts =
        STORIES.iter().flat_map(|s| [s.prompt, s.answer].into_iter().chain(s.questions.iter().copied()));
    let mut words: Vec<&str> = texts.flat_map(|t| t.split(' ')).chain(PROJECTS.iter().copied()).collect();
    words.extend(SMALL_TALK.iter().flat_map(|t| t.split(' ')));
    for (n, project) in PROJECTS.iter().take(6).enumerate() {
        for i in (1..words.len()).rev() {
            words.swap(i, w.random.below(i as u64 + 1) as usize);
        }
        let outputs: Vec<String> = words.chunks(25).map(|c| c.join("\n")).collect();
        let said: Vec<_> = outputs.iter().map(|o| (Output, o.as_str())).collect();
        w.told_in(project, n as i64, &said);
    }
}
