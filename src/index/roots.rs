//! Letting go of stores that no environment looks at any more: another `CLAUDE_CONFIG_DIR`, a `[[store]]` that was taken out.
//!
//! Every publish notes for its own roots that they were asked with. What was not for [`STORE_KEPT_DAYS`] is removed by the next publish
//! of anybody; who comes back later only has to read it again. What a store no longer holds could not be read again: with `keep_vanished`
//! nothing is let go of.

use super::plan::Plan;
use crate::discover::{Active, RootId};
use crate::limits::STORE_KEPT_DAYS;
use std::collections::HashSet;

const DAY_MS: i64 = 86_400_000;

impl Plan<'_> {
    /// Notes which roots are in use, and removes those that have long not been.
    pub fn age_roots(&mut self, active: &[Active], now_ms: i64) {
        for (_, root) in &mut self.frame.roots {
            root.seen_ms = now_ms;
        }
        let used: HashSet<u32> = active.iter().map(|a| a.id).collect();
        let mut stale = HashSet::new();
        for (id, root) in (0u32..).zip(&self.current.tables().roots).filter(|(_, r)| !r.agent.is_empty()) {
            let days = (now_ms - root.seen_ms) / DAY_MS;
            if root.seen_ms == 0 || (used.contains(&id) && days != 0) {
                self.frame.roots.push((id, RootId { seen_ms: now_ms, ..root.clone().into_owned() }));
            } else if !used.contains(&id) && !self.keep_vanished && days >= STORE_KEPT_DAYS as i64 {
                stale.insert(id);
            }
        }
        if !stale.is_empty() {
            self.let_go(&stale);
        }
    }

    fn let_go(&mut self, roots: &HashSet<u32>) {
        let tables = self.current.tables();
        self.compact = true;
        self.frame.roots.extend(roots.iter().map(|id| (*id, RootId::default())));
        let dirs = (0u32..).zip(&tables.dirs).filter_map(|(id, d)| Some((id, d.as_ref()?)));
        let dirs: HashSet<u32> = dirs.filter(|(_, d)| roots.contains(&d.root)).map(|(id, _)| id).collect();
        let sources = (0u32..).zip(&tables.sources).filter_map(|(id, s)| Some((id, s.as_ref()?)));
        for (id, _) in sources.filter(|(_, s)| dirs.contains(&s.file.dir)) {
            self.frame.sources.push((id, None));
            self.removed.extend(tables.units_of(id));
        }
        self.frame.dirs.extend(dirs.into_iter().map(|id| (id, None)));
    }
}
