//! A history with known answers: how sessions and questions are put into it.

use super::corpus::{Random, uuid};
use super::measure::Question;
use super::stores::{Agent, Says, Session};
use super::words::{NOUNS, PROJECTS, SMALL_TALK, STORIES, VERBS};
use std::collections::BTreeMap;
use std::path::Path;

/// The moment at which everything is asked: 2026-12-01 12:00 UTC.
pub const NOW_MS: i64 = 1_796_126_400_000;
const DAY_MS: i64 = 86_400_000;

/// The history while it is made.
pub struct World {
    pub random: Random,
    pub sessions: Vec<Session>,
    pub questions: Vec<Question>,
    /// Targets so far.
    targets: usize,
    /// Of each kind: the latest target asked for, and how many there were.
    asked: BTreeMap<&'static str, (usize, usize)>,
}

impl World {
    pub fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            sessions: Vec::new(),
            questions: Vec::new(),
            targets: 0,
            asked: BTreeMap::new(),
        }
    }

    /// Begins with the next target.
    pub fn next_target(&mut self) {
        self.targets += 1;
    }

    pub fn ask(&mut self, kind: &'static str, text: impl Into<String>, answer: &str) {
        self.ask_for(kind, text, vec![(answer.to_owned(), 2)]);
    }

    pub fn ask_for(&mut self, kind: &'static str, text: impl Into<String>, answers: Vec<(String, u8)>) {
        // Every other target of a kind is held out, with all questions that mean it.
        let (latest, count) = self.asked.entry(kind).or_default();
        if *latest != self.targets {
            (*latest, *count) = (self.targets, *count + 1);
        }
        let held_out = *count % 2 == 0;
        self.questions.push(Question { kind, text: text.into(), answers, held_out });
    }

    pub fn days(&mut self) -> i64 {
        let unit = self.random.below(1000) as f64 / 1000.0;
        1 + (unit * unit * 200.0) as i64
    }

    pub fn project(&mut self) -> &'static str {
        self.random.pick::<&str>(PROJECTS)
    }

    pub fn noun(&mut self) -> &'static str {
        self.random.pick::<&str>(NOUNS)
    }

    pub fn small_talk(&mut self) -> String {
        (*self.random.pick::<&str>(SMALL_TALK)).to_owned()
    }

    /// A session in some project, some days old, that says this among other things.
    pub fn told(&mut self, said: &[(Says, &str)]) -> String {
        let (project, days) = (self.project(), self.days());
        self.told_in(project, days, said)
    }

    pub fn told_in(&mut self, project: &str, days: i64, said: &[(Says, &str)]) -> String {
        let id = uuid(&mut self.random);
        let agent = [Agent::Claude, Agent::Codex][self.sessions.len() % 2];
        let mut turns = vec![(Says::Harness, self.surroundings())];
        self.chat(&mut turns);
        for (who, text) in said {
            turns.push((*who, (*text).to_owned()));
            if self.random.below(2) == 0 {
                self.chat(&mut turns);
            }
        }
        self.chat(&mut turns);
        let ended_ms = NOW_MS - days * DAY_MS - self.random.below(8 * 3_600_000) as i64;
        self.sessions.push(Session {
            agent,
            id: id.clone(),
            project: format!("/work/{project}"),
            branch: "main".to_owned(),
            title: None,
            ended_ms,
            turns,
        });
        id
    }

    /// What comes close to an answer but is none; also told to a third agent.
    pub fn decoy(&mut self, said: &[(Says, &str)]) {
        self.told(said);
        if self.random.below(5) == 0
            && let Some(last) = self.sessions.last_mut()
        {
            last.agent = Agent::Pi;
        }
    }

    pub fn last(&mut self) -> &mut Session {
        let last = self.sessions.len() - 1;
        &mut self.sessions[last]
    }

    fn chat(&mut self, turns: &mut Vec<(Says, String)>) {
        turns.push((Says::User, self.small_talk()));
        if self.random.below(2) == 0 {
            let noun = self.noun().to_lowercase();
            let file = format!("src/{noun}.rs");
            turns.push((Says::Call, format!("rg -n {noun} {file}")));
            turns.push((Says::Output, format!("{file}:{}: let {noun} = load();", self.random.below(400))));
        }
        turns.push((Says::Agent, self.small_talk()));
    }

    /// Harness text that names what sessions are about.
    fn surroundings(&mut self) -> String {
        let story = self.random.pick(STORIES);
        let (project, verb, noun) =
            (self.project(), *self.random.pick::<&str>(VERBS), self.noun().to_lowercase());
        format!("Skills: {verb}-{noun}, {project}-report. Known issues: {}. Branch: main.", story.prompt)
    }

    /// Writes the stores.
    pub fn write(&self, home: &Path) -> std::io::Result<()> {
        self.sessions.iter().try_for_each(|s| s.write(home))
    }
}
