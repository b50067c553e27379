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
    for child in children {
        let out = child.wait_with_output().unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!((out.status.code(), &answer["data"]["total"]), (Some(0), &serde_json::json!(40)));
    }
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
    for damage in ["truncate", "remove", "zero"] {
        for n in 0..names.len() {
            let (agf, _) = one();
            let files: Vec<_> =
                walk(&cache(&agf)).into_iter().filter(|p| fs::metadata(p).unwrap().len() > 0).collect();
            let Some(file) = files.get(n) else { continue };
            let len = fs::metadata(file).unwrap().len();
            match damage {
                "truncate" => fs::write(file, &fs::read(file).unwrap()[..len as usize / 2]).unwrap(),
                "remove" => fs::remove_file(file).unwrap(),
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
