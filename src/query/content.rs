//! Finding messages, and collapsing them to their sessions while they are found.

use super::view::{NONE, View};
use crate::index::snapshot::Messages;
use crate::model::Role;
use tantivy::query::{EnableScoring, Query};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, Score, SegmentOrdinal, SegmentReader, TERMINATED, Term};

/// The best messages kept of a session.
pub const KEPT: usize = 3;

/// A message that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Message {
    pub score: Score,
    pub segment: SegmentOrdinal,
    pub doc: DocId,
}

impl Message {
    const NOTHING: Message = Message { score: f32::NEG_INFINITY, segment: 0, doc: 0 };

    /// The segment's number and the document's in it.
    pub fn address(&self) -> (SegmentOrdinal, DocId) {
        (self.segment, self.doc)
    }
}

/// The best messages of every session for one query.
pub struct Hits {
    best: Vec<[Message; KEPT]>,
}

impl Hits {
    pub fn none(sessions: usize) -> Self {
        Self { best: vec![[Message::NOTHING; KEPT]; sessions] }
    }

    /// The messages of a session, best first.
    pub fn of(&self, session: usize) -> impl Iterator<Item = Message> {
        self.best[session].into_iter().filter(|m| m.score > f32::NEG_INFINITY)
    }

    pub fn score(&self, session: usize) -> Option<Score> {
        Some(self.best[session][0].score).filter(|s| *s > f32::NEG_INFINITY)
    }

    fn offer(&mut self, session: usize, message: Message) {
        let best = &mut self.best[session];
        if message.score <= best[KEPT - 1].score {
            return;
        }
        best[KEPT - 1] = message;
        let mut at = KEPT - 1;
        while at > 0 && best[at].score > best[at - 1].score {
            best.swap(at, at - 1);
            at -= 1;
        }
    }
}

/// Runs a query over all messages of these sessions and roles (all if none are named).
pub fn collect(
    view: &View<'_>,
    messages: &Messages,
    query: &dyn Query,
    sessions: &[bool],
    roles: &[Role],
) -> tantivy::Result<Hits> {
    let mut hits = Hits::none(view.sessions.len());
    let wanted: u64 = roles.iter().fold(0, |mask, r| mask | 1 << (*r as u64));
    let of_unit = view.of_unit();
    let mut ordinal = 0;
    for searcher in &messages.searchers {
        let weight = query.weight(EnableScoring::enabled_from_searcher(searcher))?;
        for segment in searcher.segment_readers() {
            let units = segment.fast_fields().u64("unit")?;
            let role = if wanted == 0 { None } else { Some(segment.fast_fields().u64("role")?) };
            weight.for_each(segment, &mut |doc, score| {
                // A unit that is not in the table was replaced: its messages count no more, deleted or not.
                let unit = units.first(doc).unwrap_or(u64::MAX);
                let session =
                    usize::try_from(unit).ok().and_then(|u| of_unit.get(u)).copied().unwrap_or(NONE);
                if session == NONE || !sessions[session as usize] {
                    return;
                }
                if role.as_ref().is_some_and(|r| wanted & 1 << r.first(doc).unwrap_or(63) == 0) {
                    return;
                }
                hits.offer(session as usize, Message { score, segment: ordinal, doc });
            })?;
            ordinal += 1;
        }
    }
    Ok(hits)
}

/// What the index keeps of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stored {
    pub unit: u32,
    pub role: Role,
    pub seq: u32,
    pub timestamp_ms: i64,
    /// Tells its text from others, nearly always.
    pub text: u32,
    pub at: crate::model::Locator,
}

/// Looks a message up.
pub fn stored(messages: &Messages, (segment, doc): (SegmentOrdinal, DocId)) -> tantivy::Result<Stored> {
    let reader = messages
        .segment(segment)
        .ok_or_else(|| tantivy::TantivyError::InvalidArgument("no such segment".into()))?;
    place_of(reader, doc)
}

/// Messages of another unit that were said at the same time by the same one, in their order.
pub fn twins(messages: &Messages, unit: u32, of: &Stored) -> tantivy::Result<Vec<Stored>> {
    /// More at one moment are no conversation.
    const MOST: usize = 64;
    let term = Term::from_field_u64(messages.fields.unit, u64::from(unit));
    let mut found = Vec::new();
    for (_, reader) in messages.segments() {
        let inverted = reader.inverted_index(messages.fields.unit)?;
        let Some(mut docs) = inverted.read_postings(&term, IndexRecordOption::Basic)? else { continue };
        let time = reader.fast_fields().i64("time")?;
        while docs.doc() != TERMINATED && found.len() < MOST {
            if time.first(docs.doc()) == Some(of.timestamp_ms) {
                let twin = place_of(reader, docs.doc())?;
                // Without a time, only what stands in the same place can be told to be the same.
                found.extend(
                    (twin.role == of.role && (of.timestamp_ms != 0 || twin.seq == of.seq)).then_some(twin),
                );
            }
            docs.advance();
        }
    }
    found.sort_by_key(|s| s.seq);
    Ok(found)
}

fn place_of(reader: &SegmentReader, doc: DocId) -> tantivy::Result<Stored> {
    let fast = reader.fast_fields();
    let number = |name: &str| -> tantivy::Result<u64> { Ok(fast.u64(name)?.first(doc).unwrap_or(0)) };
    let place = number("place")?;
    Ok(Stored {
        unit: number("unit")? as u32,
        role: Role::from_index(number("role")?),
        seq: number("seq")? as u32,
        timestamp_ms: fast.i64("time")?.first(doc).unwrap_or(0),
        text: number("text")? as u32,
        at: crate::model::Locator {
            offset: number("offset")?,
            len: (place >> 16) as u32,
            part: place as u16,
        },
    })
}
