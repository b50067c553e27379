//! The session that others are to be like: which one is meant, and what it is about.

use super::catalog::Ready;
use super::lookup;
use super::scope::Selection;
use crate::error::{Error, Result};
use crate::index::tables::UnitRec;
use crate::model::{Facts, Message, Role, UnitKind};
use crate::provider::{Provider, Sink, Source, registry};
use crate::query::content::stored;
use crate::query::copies::in_unit;
use crate::query::like::{Telling, Words};

/// A file beyond this size is not read whole: messages spread over it stand for it.
const WHOLE_MAX: u64 = 32 << 20;
/// That many of them.
const SAMPLES: usize = 256;

/// The session that a name means: an id, or `agent:id`. Of several in the scope, the one that the request is about.
pub fn model(ready: &Ready<'_>, scope: &Selection, selection: &Selection, name: &str) -> Result<u32> {
    let named = |session: u32| {
        let s = &ready.view.sessions[session as usize];
        let of_agent =
            |(agent, id)| registry::find(agent).is_some_and(|p| p.info().id == s.agent()) && id == s.facts.id;
        s.facts.id == name || name.split_once(':').is_some_and(of_agent)
    };
    let found = |selection: &Selection| -> Vec<u32> {
        let within = lookup::within(ready, selection, true).sessions;
        (0..within.len() as u32).filter(|s| within[*s as usize] && named(*s)).collect()
    };
    match found(scope).as_slice() {
        [one] => Ok(*one),
        [] => Err(lookup::not_found(false)),
        several => match found(selection).as_slice() {
            [one] => Ok(*one),
            _ => Err(lookup::ambiguous(&ready.view, several).hint("name it as agent:id")),
        },
    }
}

/// The telling words of a session, from its live conversation and its title.
pub fn telling(ready: &Ready<'_>, session: u32) -> Result<Telling> {
    let Some(messages) = &ready.view.snapshot.messages else { return Ok(Telling::new()) };
    let mut words = Words::default();
    let s = &ready.view.sessions[session as usize];
    words.add_title(s.facts.title.as_deref().unwrap_or(""));
    let main = |u: &UnitRec<'_>| u.facts.kind == UnitKind::Main && u.facts.messages > 0;
    for (id, unit) in ready.view.units(session).filter(|(_, u)| main(u)) {
        let source = lookup::source_of(ready, id).filter(|_| !unit.vanished);
        match source {
            Some((provider, source)) if unit.row.is_empty() && source.fingerprint.size > WHOLE_MAX => {
                sample(ready, provider, &source, id, &mut words)?;
            }
            Some((provider, source)) => {
                let mut listener = Listener { row: &unit.row, open: false, words: &mut words };
                // What could be read before it failed is good enough.
                let _ = provider.parse(&source, None, &mut listener);
            }
            None => {
                let texts = ready.view.snapshot.read_texts(unit.texts);
                texts.summaries.iter().for_each(|summary| words.add(Role::User, summary));
            }
        }
    }
    Ok(words.telling(messages))
}

/// Takes in messages spread over a large file.
fn sample(
    ready: &Ready<'_>,
    provider: &dyn Provider,
    source: &Source,
    unit: u32,
    words: &mut Words,
) -> Result<()> {
    let Some(index) = &ready.view.snapshot.messages else { return Ok(()) };
    let unreadable = || Error::index("the index cannot be read");
    let all = in_unit(index, unit).map_err(|_| unreadable())?;
    let step = all.len().div_ceil(SAMPLES).max(1);
    for address in all.into_iter().step_by(step) {
        let at = stored(index, address).map_err(|_| unreadable())?.at;
        let read = provider.read(source, at).unwrap_or_default();
        read.iter().filter(|m| m.at == at).for_each(|m| words.add(m.role, &m.text));
    }
    Ok(())
}

/// Hears one unit of a source.
struct Listener<'l> {
    row: &'l str,
    open: bool,
    words: &'l mut Words,
}

impl Sink for Listener<'_> {
    fn open(&mut self, row: &str, _stamp: u64) {
        self.open = row == self.row;
    }

    fn message(&mut self, m: Message<'_>) {
        if self.open {
            self.words.add(m.role, &m.text);
        }
    }

    fn close(&mut self, _session: &str, _facts: Facts<'_>) {
        self.open = false;
    }

    fn keep(&mut self, row: &str, _stamp: u64) -> bool {
        row != self.row
    }
}
