//! Looking after the index.

use super::args::Action;
use super::{output, progress};
use crate::api::{Catalog, Scope};
use crate::io::env::Env;
use std::process::ExitCode;

pub fn run(action: &Action, env: Env) -> ExitCode {
    let catalog = progress::watched(Catalog::new(env, Scope::default()));
    match action {
        Action::Status => status(&catalog),
        Action::Verify => verify(&catalog),
        Action::Rebuild => match catalog.rebuild() {
            Ok(done) => say(&format!("rebuilt from {} files\n", done.sources)),
            Err(e) => output::complain(&e),
        },
        Action::Clear => match catalog.clear() {
            Ok(()) => say("removed; the next search builds it again\n"),
            Err(e) => output::complain(&e),
        },
    }
}

fn say(text: &str) -> ExitCode {
    output::print(text);
    ExitCode::SUCCESS
}

fn status(catalog: &Catalog) -> ExitCode {
    let s = catalog.status();
    say(&format!(
        "path        {}\nstate       {}\ngeneration  {}\nfiles       {} ({} not read yet)\nunits       {}\nmessages    {} in {} segments\nsize        {:.1} MB\n",
        s.path,
        s.state,
        s.generation,
        s.sources,
        s.pending,
        s.units,
        s.messages,
        s.segments,
        s.bytes as f64 / 1e6
    ))
}

fn verify(catalog: &Catalog) -> ExitCode {
    match catalog.verify() {
        None => say("there is no index yet\n"),
        Some(true) => say("the index is sound\n"),
        Some(false) => {
            output::note(
                "agf: the index is damaged\nhint: the next search builds it again, or run `agf index rebuild` now\n",
            );
            ExitCode::FAILURE
        }
    }
}
