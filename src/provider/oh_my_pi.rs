//! Oh My Pi, program `omp`. A fork of pi with the same wire; what differs from the program's public sources (17.2, 2026-11): titles of its own,
//! profiles, and directories named relative to the home.
//!
//! `~/.omp/agent/sessions/<directory of the project>/<time>_<id>.jsonl` is a session; `<time>_<id>/<Agent>.jsonl` beside it is a sub-agent of
//! it. The first line is a slot of fixed width that holds the title and is written over in place.

use super::shared::pi;
use super::{Class, CwdRule, Info, Mode, Parsed, Provider, Resume, Root, Sink, Source, SourceError};
use crate::io::env::Env;
use crate::model::{Locator, Message};

/// The provider.
pub struct OhMyPi;

const PROFILE: &str = "OMP_PROFILE";
const XDG: &str = "XDG_DATA_HOME";

static INFO: Info = Info {
    id: "oh-my-pi",
    name: "Oh My Pi",
    aliases: &["omp"],
    programs: &["omp"],
    modes: &[Mode::DEFAULT],
    cwd_rule: CwdRule::Required,
    // It also obeys pi's variable; a store that is moved by it counts as pi's.
    home_var: None,
    parser_version: 1,
};

impl Provider for OhMyPi {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn roots(&self, env: &Env) -> Vec<Root> {
        let Some(home) = env.in_home(env.var("PI_CONFIG_DIR").unwrap_or(".omp")) else { return Vec::new() };
        let profile = env.var(PROFILE).or_else(|| env.var("PI_PROFILE")).filter(|p| is_profile(p));
        let named = |p: &str| vec![(PROFILE.to_owned(), p.to_owned())];
        let mut roots = vec![Root {
            path: home.join("agent/sessions"),
            label: "sessions",
            // With a profile set, only its name leads back to the default one.
            env: profile.map_or_else(Vec::new, |_| named("default")),
        }];
        if let Some(data) = env.dir_var(XDG) {
            let mut vars = roots.first().map(|r| r.env.clone()).unwrap_or_default();
            vars.push((XDG.to_owned(), data.to_string_lossy().into_owned()));
            roots.push(Root { path: data.join("omp/sessions"), label: "xdg", env: vars });
        }
        if let Some(p) = profile {
            let path = home.join("profiles").join(p).join("agent/sessions");
            roots.push(Root { path, label: "profile", env: named(p) });
        }
        roots
    }

    fn classify(&self, _root: &Root, names: &[&str], is_dir: bool) -> Class {
        pi::classify(names, is_dir)
    }

    fn parse(
        &self,
        source: &Source,
        from: Option<&Resume<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Parsed, SourceError> {
        pi::parse(source, from, sink)
    }

    fn read(&self, source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
        pi::read(source, at)
    }

    fn resume(&self, session_id: &str) -> Vec<String> {
        vec!["--resume".into(), session_id.into()]
    }
}

/// Names the program allows; it takes the others for none.
fn is_profile(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'_' | b'-');
    name != "default" && name.len() <= 64 && !name.starts_with(['.', '_', '-']) && name.bytes().all(plain)
}
