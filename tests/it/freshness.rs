//! A question asked after a change is answered with it.

use crate::agf::{Agf, claude_line, claude_lines, claude_path, id};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

fn append(path: &Path, text: &str) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

fn one() -> (Agf, std::path::PathBuf) {
    let agf = Agf::new();
    let path = agf.claude("/w/app", &id(1), "first zqone");
    assert_eq!(agf.ids("zqone"), [id(1)]);
    (agf, path)
}

#[test]
fn appended_lines_are_found_and_counted_once() {
    let (agf, path) = one();
    for n in 10..14 {
        append(&path, &claude_line("/w/app", &id(1), n, "user", &format!("more zqadd{n}")));
        assert_eq!(agf.ids(&format!("zqadd{n}")), [id(1)]);
    }
    assert_eq!(agf.listed()[0]["message_count"], 6);
    assert_eq!(agf.ids("zqone"), [id(1)]);
}

#[test]
fn new_and_deleted_and_renamed_files() {
    let (agf, path) = one();
    let other = agf.claude("/w/other", &id(2), "second zqtwo");
    let codex = agf.codex("/w/app", &id(3), "third zqthree");
    assert_eq!((agf.ids("zqtwo"), agf.ids("zqthree")), (vec![id(2)], vec![id(3)]));
    fs::remove_file(&other).unwrap();
    fs::remove_file(codex).unwrap();
    assert_eq!((agf.ids("zqtwo"), agf.ids("zqthree")), (vec![], vec![]));
    fs::rename(&path, agf.path(&claude_path("/w/app", &id(9)))).unwrap();
    assert_eq!(agf.ids("zqone"), [id(9)]);
    fs::remove_dir_all(agf.path(".claude")).unwrap();
    assert_eq!(agf.listed().len(), 0);
}

#[test]
fn truncated_and_regrown() {
    let (agf, path) = one();
    fs::write(
        &path,
        claude_lines(
            "/w/app",
            &id(1),
            &[("user", "quite another zqnew, and much longer than it was before"), ("assistant", "yes")],
        ),
    )
    .unwrap();
    assert_eq!((agf.ids("zqone"), agf.ids("zqnew")), (vec![], vec![id(1)]));
}

#[test]
fn rewritten_at_the_same_size_with_the_old_time() {
    let (agf, path) = one();
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    let text = fs::read_to_string(&path).unwrap().replace("zqone", "zqtwo");
    fs::write(&path, text).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    assert_eq!((agf.ids("zqone"), agf.ids("zqtwo")), (vec![], vec![id(1)]));
}

#[test]
fn replaced_by_rename_with_an_older_time() {
    let (agf, path) = one();
    let aside = agf
        .write("aside", claude_lines("/w/app", &id(1), &[("user", "restored zqold"), ("assistant", "yes")]));
    filetime::set_file_mtime(&aside, filetime::FileTime::from_unix_time(1_500_000_000, 0)).unwrap();
    fs::rename(aside, path).unwrap();
    assert_eq!((agf.ids("zqone"), agf.ids("zqold")), (vec![], vec![id(1)]));
}

#[test]
fn a_torn_last_line_counts_when_it_is_whole() {
    let (agf, path) = one();
    let line = claude_line("/w/app", &id(1), 20, "user", "torn zqtorn…");
    let cut = line.find('…').unwrap() + 1;
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(&line.as_bytes()[..cut]).unwrap();
    assert_eq!((agf.ids("zqtorn"), agf.ids("zqone")), (vec![], vec![id(1)]));
    file.write_all(&line.as_bytes()[cut..]).unwrap();
    assert_eq!(agf.ids("zqtorn"), [id(1)]);
    append(&path, claude_line("/w/app", &id(1), 21, "user", "last zqlast").trim_end());
    assert_eq!(agf.ids("zqlast"), [id(1)]);
    append(&path, &format!("\n{}", claude_line("/w/app", &id(1), 22, "user", "after zqafter")));
    assert_eq!((agf.ids("zqlast"), agf.ids("zqafter")), (vec![id(1)], vec![id(1)]));
    assert_eq!(agf.listed()[0]["message_count"], 5);
}

#[test]
fn a_copied_stretch_in_the_tail_is_not_counted_again() {
    let (agf, path) = one();
    append(&path, &claude_line("/w/app", &id(1), 30, "user", "own zqown"));
    agf.ids("zqown");
    let all = fs::read_to_string(&path).unwrap();
    append(&path, &all);
    append(&path, &claude_line("/w/app", &id(1), 31, "user", "end zqend"));
    assert_eq!(agf.ids("zqend"), [id(1)]);
    assert_eq!(agf.listed()[0]["message_count"], 4);
}

#[test]
fn many_changes_are_published_in_few_segments() {
    let (agf, path) = one();
    let big = "filler ".repeat(30_000);
    for n in 0..40 {
        append(&path, &claude_line("/w/app", &id(1), 40 + n, "user", &format!("{big} zqbig{n}")));
        assert_eq!(agf.ids(&format!("zqbig{n}")), [id(1)]);
    }
    let status = agf.run(&["index", "status"]).out;
    let segments: usize = status.split(" in ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(segments <= 12, "{status}");
}

#[test]
fn many_processes_at_once_on_no_index() {
    let agf = Agf::new();
    for n in 0..40 {
        agf.claude(&format!("/w/p{}", n % 5), &id(n), &format!("all zqall and zqonly{n}"));
    }
    let start = |_| {
        agf.command(&["search", "zqall", "-c", "--limit", "200"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..8).map(start).collect();
    let mut rows = std::collections::BTreeSet::new();
    for child in children {
        let out = child.wait_with_output().unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!((out.status.code(), &answer["data"]["total"]), (Some(0), &serde_json::json!(40)));
        assert_eq!(answer["data"]["warnings"], serde_json::json!([]));
        rows.insert(answer["data"]["sessions"].to_string());
    }
    assert_eq!(rows.len(), 1, "all answers are equal");
}

#[test]
fn a_process_that_is_killed_leaves_nothing_in_the_way() {
    let agf = Agf::new();
    for n in 0..60 {
        agf.claude("/w/app", &id(n), &format!("kill zqkill{n} {}", "word ".repeat(2000)));
    }
    for pause in [1, 5, 10, 20, 40, 80] {
        let mut child =
            agf.command(&["search", "x", "-c"]).stdout(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(pause));
        let _ = child.kill();
        child.wait().unwrap();
        assert_eq!(agf.ids("zqkill7"), [id(7)]);
        agf.claude("/w/app", &id(1000 + pause as u32), "one more");
    }
    assert_eq!(agf.listed().len(), 66);
}

#[test]
fn a_damaged_index_heals() {
    let cache = |agf: &Agf| agf.path(".cache/agf-catalog");
    let (agf, _) = one();
    let names: Vec<_> =
        walk(&cache(&agf)).into_iter().filter(|p| fs::metadata(p).unwrap().len() > 0).collect();
    assert!(names.len() > 5);
    for damage in ["truncate", "remove", "zero", "flip", "grow"] {
        for n in 0..names.len() {
            let (agf, _) = one();
            let files: Vec<_> =
                walk(&cache(&agf)).into_iter().filter(|p| fs::metadata(p).unwrap().len() > 0).collect();
            let Some(file) = files.get(n) else { continue };
            let len = fs::metadata(file).unwrap().len();
            match damage {
                "truncate" => fs::write(file, &fs::read(file).unwrap()[..len as usize / 2]).unwrap(),
                "remove" => fs::remove_file(file).unwrap(),
                "flip" => {
                    let mut bytes = fs::read(file).unwrap();
                    bytes[len as usize / 2] ^= 0x55;
                    fs::write(file, bytes).unwrap();
                }
                "grow" => append(file, "more than was written"),
                _ => fs::write(file, vec![0; len as usize]).unwrap(),
            }
            assert_eq!(agf.ids("zqone"), [id(1)], "{damage} {}", file.display());
        }
    }
}

fn walk(dir: &Path) -> Vec<std::path::PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { all.extend(walk(&path)) } else { all.push(path) }
    }
    all.sort();
    all
}

#[test]
fn without_a_place_to_write_the_answer_comes_from_memory() {
    let agf = Agf::new();
    let below_a_file = agf.write("file", "not a directory").join("cache");
    let agf = agf.var("AGF_CACHE_DIR", below_a_file);
    agf.claude("/w/app", &id(1), "memory zqmem");
    let data = agf.data(&["search", "zqmem", "-c"]);
    assert_eq!(
        (&data["total"], &data["warnings"][0]["code"]),
        (&serde_json::json!(1), &serde_json::json!("index_not_writable"))
    );
}

#[test]
fn the_cache_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let (agf, _) = one();
    let cache = agf.path(".cache/agf-catalog");
    assert_eq!(fs::metadata(&cache).unwrap().permissions().mode() & 0o777, 0o700);
    for file in walk(&cache).iter().filter(|f| !f.ends_with(".lock")) {
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o077, 0, "{}", file.display());
    }
}

#[test]
fn a_directory_whose_time_was_set_back_is_listed_again() {
    let (agf, path) = one();
    let dir = path.parent().unwrap();
    let time = filetime::FileTime::from_last_modification_time(&fs::metadata(dir).unwrap());
    agf.claude("/w/app", &id(2), "second zqtwo");
    filetime::set_file_mtime(dir, time).unwrap();
    assert_eq!(agf.ids("zqtwo"), [id(2)]);
    let time = filetime::FileTime::from_unix_time(1_500_000_000, 0);
    filetime::set_file_mtime(&path, time).unwrap();
    append(&path, &claude_line("/w/app", &id(1), 9, "user", "appended zqadd"));
    filetime::set_file_mtime(&path, time).unwrap();
    assert_eq!(agf.ids("zqadd"), [id(1)]);
}

#[test]
fn times_in_the_future_and_before_the_epoch() {
    let (agf, path) = one();
    for (n, seconds) in [(7, 4_102_444_800), (8, -86_400), (9, 0)] {
        append(
            &path,
            &claude_line(
                "/w/app",
                &id(1),
                n,
                "user",
                &format!("appended zqadd{seconds}").replace('-', "minus"),
            ),
        );
        filetime::set_file_mtime(&path, filetime::FileTime::from_unix_time(seconds, 0)).unwrap();
        let word = format!("zqadd{seconds}").replace('-', "minus");
        for _ in 0..2 {
            assert_eq!(agf.ids(&word), [id(1)], "{seconds}");
        }
    }
    assert_eq!(agf.listed()[0]["timestamp_ms"], 1_772_359_209_000i64);
}

#[cfg(unix)]
#[test]
fn a_place_that_becomes_another_kind_of_thing_and_back() {
    let (agf, path) = one();
    let text = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(agf.data(&["search", "--agent", "codex"])["total"] == 0);
    assert_eq!(agf.error(&["search"])["code"], "scan_failed");
    fs::remove_dir(&path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    assert_eq!(agf.error(&["search"])["code"], "scan_failed");
    fs::remove_file(&path).unwrap();
    let elsewhere = agf.write("elsewhere", &text);
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    assert_eq!(agf.ids("zqone"), [id(1)]);
    append(&elsewhere, &claude_line("/w/app", &id(1), 9, "user", "through the link zqthrough"));
    assert_eq!(agf.ids("zqthrough"), [id(1)]);
    fs::remove_file(&path).unwrap();
    assert_eq!(agf.listed().len(), 0);
    fs::write(&path, &text).unwrap();
    assert_eq!(agf.ids("zqone"), [id(1)]);
}

/// The store as a whole goes and comes back, and moves under another name.
#[test]
fn stores_come_and_go() {
    let (agf, _) = one();
    fs::rename(agf.path(".claude"), agf.path("aside")).unwrap();
    assert_eq!(agf.data(&["search"])["total"], 0);
    fs::rename(agf.path("aside"), agf.path(".claude")).unwrap();
    assert_eq!(agf.ids("zqone"), [id(1)]);
    let other = agf.path("other");
    fs::rename(agf.path(".claude"), &other).unwrap();
    let agf = agf.var("CLAUDE_CONFIG_DIR", &other);
    assert_eq!(agf.ids("zqone"), [id(1)]);
    assert_eq!(
        agf.data(&["resume-plan", &id(1), "-a", "claude"])["plan"]["env"]["CLAUDE_CONFIG_DIR"],
        other.to_str().unwrap()
    );
}

/// A file that grows while it is asked about: no answer is wrong, and the last one has everything.
#[test]
fn a_file_that_is_being_written() {
    let (agf, path) = one();
    let writer = std::thread::spawn(move || {
        for n in 100..400 {
            let line = claude_line("/w/app", &id(1), n, "user", &format!("live zqlive zqn{n}"));
            let (head, tail) = line.split_at(line.len() / 2);
            append(&path, head);
            append(&path, tail);
        }
    });
    let mut last = 0;
    while !writer.is_finished() {
        let data = agf.data(&["search", "zqone", "-c"]);
        assert_eq!((&data["total"], &data["warnings"]), (&serde_json::json!(1), &serde_json::json!([])));
        let count = data["sessions"][0]["message_count"].as_u64().unwrap();
        assert!(count >= last, "{count} after {last}");
        last = count;
    }
    writer.join().unwrap();
    assert_eq!(agf.listed()[0]["message_count"], 302);
    assert_eq!(agf.ids("zqn399"), [id(1)]);
}

/// What is answered from memory, what is published piece by piece, and what is built anew say the same.
#[test]
fn all_ways_to_an_answer_agree() {
    let agf = Agf::new();
    let rows = |agf: &Agf| {
        let data =
            agf.data(&["search", "--limit", "200", "--include-summaries", "--include-non-interactive"]);
        let found = agf.data(&["search", "zqagree", "-c", "--limit", "200", "--sort", "time"]);
        (data["sessions"].clone(), found["sessions"].clone())
    };
    let mut random = 7u32;
    let mut next = |n: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        random / 65_536 % n
    };
    for step in 0..40 {
        let n = next(12);
        let path = agf.path(&claude_path("/w/app", &id(n)));
        match next(6) {
            0 | 1 if path.exists() => append(
                &path,
                &claude_line("/w/app", &id(n), 10 + step, "user", &format!("zqagree step {step}")),
            ),
            2 if path.exists() => fs::remove_file(&path).unwrap(),
            3 if path.exists() => fs::rename(&path, agf.path(&claude_path("/w/app", &id(n + 20)))).unwrap(),
            4 => {
                let long = "many words of filler ".repeat(9000);
                agf.claude("/w/app", &id(n), &format!("zqagree {step} {long}"));
            }
            _ => {
                agf.codex("/w/app", &id(n), &format!("zqagree {step}"));
            }
        }
        rows(&agf);
    }
    let before = rows(&agf);
    assert!(before.0.as_array().unwrap().len() > 5 && before.1.as_array().unwrap().len() > 5);
    assert_eq!(agf.run(&["index", "rebuild"]).code, 0);
    assert_eq!(rows(&agf), before);
    assert_eq!(agf.run(&["index", "clear"]).code, 0);
    assert_eq!(rows(&agf), before);
    assert!(agf.run(&["index", "verify"]).out.contains("sound"));
}

#[test]
fn a_directory_may_get_the_number_another_one_had() {
    let agf = Agf::new();
    for n in 0..12 {
        agf.claude("/w/a", &id(1), "first zqa");
        assert_eq!(agf.ids("zqa"), [id(1)], "{n}");
        fs::remove_dir_all(agf.path(".claude/projects/-w-a")).unwrap();
        agf.claude("/w/b", &id(2), "second zqb");
        agf.claude("/w/a", &id(1), "first zqa");
        assert_eq!((agf.ids("zqa"), agf.ids("zqb")), (vec![id(1)], vec![id(2)]), "{n}");
        fs::remove_dir_all(agf.path(".claude")).unwrap();
    }
}
