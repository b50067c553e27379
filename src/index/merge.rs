//! Keeping the number of segments small, in the foreground, with bounded work.

use crate::limits::SEGMENTS_MAX;
use tantivy::index::SegmentId;
use tantivy::merge_policy::NoMergePolicy;
use tantivy::{Index, IndexWriter};

/// A merge never takes in more messages than this, about two seconds of work.
const MERGE_DOCS_MAX: u32 = 200_000;

/// The segments to merge, none if there are few enough: the smallest ones, down to half the allowed number.
///
/// Every merge of small segments makes one larger; those that have reached the bound are left alone, so the number of segments
/// is at most the bound plus one for each full `MERGE_DOCS_MAX` messages.
pub fn candidates(mut segments: Vec<(SegmentId, u32, u32)>) -> Vec<SegmentId> {
    if segments.len() <= SEGMENTS_MAX {
        return Vec::new();
    }
    segments.sort_by_key(|(_, docs, _)| *docs);
    let take = segments.len() - SEGMENTS_MAX / 2;
    let mut total = 0u32;
    let chosen: Vec<SegmentId> = segments
        .iter()
        .take_while(|(_, docs, _)| {
            total = total.saturating_add(*docs);
            total <= MERGE_DOCS_MAX
        })
        .take(take)
        .map(|(id, ..)| *id)
        .collect();
    if chosen.len() >= 2 { chosen } else { Vec::new() }
}

/// Segments most of whose messages were replaced.
fn wasteful(segments: &[(SegmentId, u32, u32)]) -> Vec<SegmentId> {
    let wasted =
        |(_, docs, deleted): &&(SegmentId, u32, u32)| *deleted > *docs && docs + deleted <= MERGE_DOCS_MAX;
    segments.iter().filter(wasted).map(|(id, ..)| *id).collect()
}

/// Merges what [`candidates`] names, and tells whether there was anything. The commit's payload stays as it is.
pub fn tidy(index: &Index, writer: &mut IndexWriter) -> tantivy::Result<bool> {
    let metas = index.searchable_segment_metas()?;
    let segments: Vec<_> = metas.iter().map(|m| (m.id(), m.num_docs(), m.num_deleted_docs())).collect();
    let mut chosen = candidates(segments.clone());
    if chosen.is_empty() {
        chosen = wasteful(&segments);
    }
    if chosen.is_empty() {
        return Ok(false);
    }
    writer.merge(&chosen).wait()?;
    writer.garbage_collect_files().wait()?;
    Ok(true)
}

/// The writer must not merge by itself: nothing waits for it, and a process that ends would lose the work.
pub fn no_merges(writer: &IndexWriter) {
    writer.set_merge_policy(Box::new(NoMergePolicy));
}
