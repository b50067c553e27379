//! Copies of a message: in another unit of its session, in another session.

use super::content::{Stored, stored};
use super::view::{NONE, View};
use crate::index::snapshot::Messages;
use crate::model::Role;
use std::collections::{HashMap, HashSet};
use tantivy::columnar::Column;
use tantivy::query::{EnableScoring, Query};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, SegmentOrdinal, TERMINATED, Term};

/// The messages of a unit, segment by segment.
pub fn in_unit(messages: &Messages, unit: u32) -> tantivy::Result<Vec<(SegmentOrdinal, DocId)>> {
    let term = Term::from_field_u64(messages.fields.unit, u64::from(unit));
    let mut all = Vec::new();
    for (ordinal, (_, segment)) in (0..).zip(messages.segments()) {
        let inverted = segment.inverted_index(messages.fields.unit)?;
        let Some(mut docs) = inverted.read_postings(&term, IndexRecordOption::Basic)? else { continue };
        while docs.doc() != TERMINATED {
            all.push((ordinal, docs.doc()));
            docs.advance();
        }
    }
    Ok(all)
}

/// The same message in another unit.
pub fn twin(messages: &Messages, unit: u32, of: &Stored) -> tantivy::Result<Option<Stored>> {
    let mut best: Option<Stored> = None;
    let mut texts: Option<(SegmentOrdinal, Column<u64>)> = None;
    for (ordinal, doc) in in_unit(messages, unit)? {
        if texts.as_ref().is_none_or(|(o, _)| *o != ordinal) {
            let segment = messages.segment(ordinal);
            texts = segment.map(|s| s.fast_fields().u64("text")).transpose()?.map(|c| (ordinal, c));
        }
        if texts.as_ref().and_then(|(_, c)| c.first(doc)) != Some(u64::from(of.text)) {
            continue;
        }
        let found = stored(messages, (ordinal, doc))?;
        let nearer = best.is_none_or(|b| found.seq.abs_diff(of.seq) < b.seq.abs_diff(of.seq));
        if found.role == of.role && nearer {
            best = Some(found);
        }
    }
    Ok(best)
}

/// What was said in each of some sessions, by these roles (all if none are named), and matches any of some queries: as marks that
/// copies share.
pub fn said(
    view: &View<'_>,
    messages: &Messages,
    queries: &[Box<dyn Query>],
    wanted: &[Role],
    sessions: &[bool],
) -> tantivy::Result<HashMap<u32, HashSet<u64>>> {
    let mut said: HashMap<u32, HashSet<u64>> = HashMap::new();
    let of_unit = view.of_unit();
    for searcher in &messages.searchers {
        for query in queries {
            let weight = query.weight(EnableScoring::disabled_from_searcher(searcher))?;
            for segment in searcher.segment_readers() {
                let fast = segment.fast_fields();
                let (units, roles, texts) = (fast.u64("unit")?, fast.u64("role")?, fast.u64("text")?);
                weight.for_each_no_score(segment, &mut |docs| {
                    for doc in docs {
                        let unit = units.first(*doc).and_then(|u| usize::try_from(u).ok());
                        let session = unit.and_then(|u| of_unit.get(u)).copied().unwrap_or(NONE);
                        if !sessions.get(session as usize).is_some_and(|s| *s) {
                            continue;
                        }
                        let role = roles.first(*doc).unwrap_or(0);
                        if wanted.is_empty() || wanted.contains(&Role::from_index(role)) {
                            let mark = role << 32 | texts.first(*doc).unwrap_or(0);
                            said.entry(session).or_default().insert(mark);
                        }
                    }
                })?;
            }
        }
    }
    Ok(said)
}
