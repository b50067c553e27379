//! Rows of `sessions`. The system prompt in them is never selected.

use crate::io::sqlite::{Db, Error};
use crate::limits::{ID_MAX, PATH_MAX};
use crate::model::{Facts, Interactivity, TitleSource, timestamp};
use crate::provider::shared::json::text;
use crate::provider::shared::prompt::title_line;
use serde_json_borrow::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

/// What a session's row says, and its messages as a whole.
#[derive(Debug, Default)]
pub struct Session {
    pub id: String,
    source: String,
    model: String,
    title: String,
    title_source: String,
    cwd: String,
    branch: String,
    started_ms: i64,
    archived: bool,
    parent: Option<Parent>,
    /// What else changes when the session does.
    state: String,
    messages: (i64, i64, i64),
}

/// The row a session refers to.
#[derive(Debug, Default)]
struct Parent {
    id: String,
    /// How the two belong together, if the session's own notes say.
    markers: String,
    end_reason: String,
    ended_ms: i64,
    /// Both are of one conversation on a messenger.
    same_key: bool,
}

/// Columns that change with the session and are of no other use here.
const STATE: [&str; 6] =
    ["ended_at", "message_count", "tool_call_count", "rewind_count", "last_activity_at", "end_reason"];

/// All sessions, as far as they can be read, and whether that was not all.
pub fn list(db: &Db) -> Result<(Vec<Session>, bool), Error> {
    let columns = db.columns("sessions")?;
    let mut sessions = Vec::new();
    if !columns.iter().any(|c| c == "id") {
        return Ok((sessions, false));
    }
    let (counts, mut damage) = counts(db)?;
    let sql = query(&|name| columns.iter().any(|c| c == name));
    let done = db.rows(&sql, &[], |row| {
        let words = |n| row.text(n).map(Cow::into_owned).unwrap_or_default();
        let when = |n| row.real(n).and_then(timestamp::from_number).unwrap_or(0);
        let mut s = Session {
            id: words(0),
            source: words(1),
            model: words(2),
            title: words(3),
            title_source: words(4),
            cwd: words(5),
            branch: words(6),
            started_ms: when(7),
            archived: row.flag(8),
            state: words(9),
            ..Session::default()
        };
        if row.text(10).is_some_and(|p| !p.is_empty()) {
            let (id, markers, end_reason) = (words(10), words(11), words(12));
            s.parent = Some(Parent { id, markers, end_reason, ended_ms: when(13), same_key: row.flag(14) });
        }
        s.messages = counts.get(&s.id).copied().unwrap_or_default();
        if !s.id.is_empty() {
            sessions.push(s);
        }
        Ok::<_, Error>(())
    });
    match done {
        Err(Error::Corrupt) if !sessions.is_empty() => damage = true,
        other => other?,
    }
    Ok((sessions, damage))
}

fn query(has: &dyn Fn(&str) -> bool) -> String {
    const NOTES_MAX: usize = 64 << 10;
    let s = |name: &str| if has(name) { format!("s.{name}") } else { "NULL".to_owned() };
    let p = |name: &str| if has(name) { format!("p.{name}") } else { "NULL".to_owned() };
    let cut = |name: &str, max: usize| format!("substr({}, 1, {max})", s(name));
    let state = STATE.map(|c| format!("ifnull({}, '')", s(c))).join(" || ' ' || ");
    let join =
        if has("parent_session_id") { "LEFT JOIN sessions p ON p.id = s.parent_session_id" } else { "" };
    let p = |name: &str| if join.is_empty() { "NULL".to_owned() } else { p(name) };
    format!(
        "SELECT {}, {}, {}, {}, {}, {}, {}, {}, {}, {state}, {}, CASE WHEN {} IS NULL THEN NULL ELSE {} END, {}, {}, \
         {key} <> '' AND {key} = {} FROM sessions s {join}",
        cut("id", ID_MAX),
        cut("source", ID_MAX),
        cut("model", ID_MAX),
        cut("title", PATH_MAX),
        cut("title_source", ID_MAX),
        cut("cwd", PATH_MAX),
        cut("git_branch", ID_MAX),
        s("started_at"),
        s("archived"),
        cut("parent_session_id", ID_MAX),
        s("parent_session_id"),
        cut("model_config", NOTES_MAX),
        p("end_reason"),
        p("ended_at"),
        p("session_key"),
        key = s("session_key"),
    )
}

type Counts = HashMap<String, (i64, i64, i64)>;

/// Of each session's messages the newest number, how many there are and how many count. One pass over an index.
fn counts(db: &Db) -> Result<(Counts, bool), Error> {
    let columns = db.columns("messages")?;
    let mut counts = Counts::new();
    if !columns.iter().any(|c| c == "session_id") {
        return Ok((counts, false));
    }
    let active = if columns.iter().any(|c| c == "active") { "total(active)" } else { "0" };
    let sql = format!("SELECT session_id, max(rowid), count(*), {active} FROM messages GROUP BY session_id");
    let done = db.rows(&sql, &[], |row| {
        let n = |column| row.int(column).unwrap_or(0);
        if let Some(id) = row.text(0) {
            counts.insert(id.into_owned(), (n(1), n(2), n(3)));
        }
        Ok::<_, Error>(())
    });
    match done {
        Err(Error::Corrupt) => Ok((counts, true)),
        other => other.map(|()| (counts, false)),
    }
}

/// Ends of a conversation on a messenger, after which the next one began.
const RESETS: &[&str] =
    &["session_reset", "session_switch", "idle", "daily", "suspended", "resume_pending_expired"];

impl Session {
    pub fn stamp(&self) -> u64 {
        xxh3_64(format!("{}\0{self:?}", self.state).as_bytes())
    }

    pub fn facts(&self) -> Facts<'static> {
        let owned = |s: &str| (!s.is_empty()).then(|| Cow::Owned(s.to_owned()));
        let mut facts = Facts {
            id: Cow::Owned(self.id.clone()),
            project: Cow::Owned(self.cwd.clone()),
            branch: owned(&self.branch).filter(|b| b != "HEAD"),
            model: owned(&self.model),
            archived: self.archived,
            source_kind: owned(&self.source).unwrap_or("unknown".into()),
            interactive: driven(&self.source),
            ..Facts::default()
        };
        facts.saw_time(self.started_ms);
        let source = match self.title_source.as_str() {
            "user" => TitleSource::Custom,
            "derived" => TitleSource::Prompt,
            _ => TitleSource::Auto,
        };
        facts.offer_title(Cow::Owned(title_line(&self.title)), source);
        if let Some(parent) = &self.parent {
            self.relate(parent, &mut facts);
        }
        facts
    }

    /// Branches, continuations, new conversations and sub-agents all name the session they came from.
    fn relate(&self, parent: &Parent, facts: &mut Facts<'static>) {
        let id = || Some(Cow::Owned(parent.id.clone()));
        let notes = serde_json::from_str(&parent.markers).unwrap_or(Value::Null);
        // What goes on from a session inherits its notes; they count only if they are of this one.
        let marked = |name: &str| text(&notes, name) == Some(&parent.id);
        let ended = parent.end_reason.as_str();
        let delegated = marked("_delegate_from") || matches!(self.source.as_str(), "subagent" | "tool");
        if !delegated
            && (marked("_branched_from") || (ended == "branched" && self.started_ms >= parent.ended_ms))
        {
            facts.forked_from = id();
        } else if !delegated && (marked("_reset_from") || (RESETS.contains(&ended) && parent.same_key)) {
        } else if !delegated && ended == "compression" {
            facts.parent = id();
        } else {
            facts.parent = id();
            facts.interactive = Interactivity::No;
            facts.source_kind = "subagent".into();
        }
    }
}

/// Whether a person drives sessions of a source. People also write through messengers, but so do programs.
fn driven(source: &str) -> Interactivity {
    match source {
        "cli" | "tui" | "desktop" => Interactivity::Yes,
        "api" | "api_server" | "batch" | "cron" | "subagent" | "tool" | "webhook" => Interactivity::No,
        _ => Interactivity::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn child(markers: &str, end_reason: &str) -> Facts<'static> {
        let parent = Parent {
            id: "p".into(),
            markers: markers.into(),
            end_reason: end_reason.into(),
            ..Parent::default()
        };
        Session { id: "c".into(), source: "cli".into(), parent: Some(parent), ..Session::default() }.facts()
    }

    #[test]
    fn not_every_child_is_a_sub_agent() {
        for (markers, ended) in [("{}", ""), ("", "user_exit"), (r#"{"_delegate_from":"p"}"#, "compression")]
        {
            let f = child(markers, ended);
            assert_eq!(
                (f.parent.as_deref(), f.interactive),
                (Some("p"), Interactivity::No),
                "{markers} {ended}"
            );
        }
        let branch = child(r#"{"_branched_from":"p"}"#, "");
        assert_eq!((branch.forked_from.as_deref(), branch.parent), (Some("p"), None));
        assert_eq!(child("", "branched").forked_from.as_deref(), Some("p"));
        let goes_on = child(r#"{"_branched_from":"another"}"#, "compression");
        assert_eq!((goes_on.parent.as_deref(), goes_on.interactive), (Some("p"), Interactivity::Yes));
        let anew = child(r#"{"_reset_from":"p"}"#, "");
        assert_eq!((anew.parent, anew.forked_from, anew.interactive), (None, None, Interactivity::Yes));
    }
}
