//! Handing over the texts of a record, or of a whole document.

use super::jsonl::Place;
use crate::model::{Locator, Message, Role};
use std::borrow::Cow;

/// Takes messages as they are found.
pub type Emit<'e> = &'e mut dyn FnMut(Message<'_>);

/// Numbers the texts of one record.
pub struct Out<'e> {
    emit: Emit<'e>,
    /// When the record was written; 0 if it does not say.
    pub time: i64,
    place: Place,
    part: usize,
}

impl<'e> Out<'e> {
    pub fn new(emit: Emit<'e>, place: Place, time: i64) -> Self {
        Self { emit, time, place, part: 0 }
    }

    /// A text, unless it is blank.
    pub fn put<'t>(&mut self, role: Role, text: impl Into<Cow<'t, str>>) {
        let text = text.into();
        if !text.trim().is_empty() {
            self.send(role, text, None);
        }
    }

    /// A tool call, or what came of it. One without arguments still says which tool was used.
    pub fn tool<'t>(&mut self, role: Role, text: impl Into<Cow<'t, str>>, name: Option<&'t str>) {
        let text = text.into();
        if name.is_some() || !text.trim().is_empty() {
            self.send(role, text, name);
        }
    }

    /// Leaves a number out: that text was handed over with another record.
    pub fn skip(&mut self) {
        self.part += 1;
    }

    fn send(&mut self, role: Role, text: Cow<'_, str>, tool: Option<&str>) {
        let at = self.place.part(self.part);
        self.part += 1;
        (self.emit)(Message {
            role,
            timestamp_ms: self.time,
            text,
            at,
            tool: tool.map(Cow::Borrowed),
            sidechain: false,
        });
    }
}

const ROW_BITS: u32 = 48;
/// The largest number of a row that a locator holds, and the mask that finds it there.
pub const ROW_MAX: u64 = (1 << ROW_BITS) - 1;

/// Numbers the texts of a document that is read as one, or of a database's row.
pub struct Texts<'e> {
    emit: Emit<'e>,
    len: u32,
    /// The row's number, if it is one.
    row: u64,
    next: u64,
}

impl<'e> Texts<'e> {
    /// `size` is the document's, in bytes.
    pub fn new(emit: Emit<'e>, size: u64) -> Self {
        Self { emit, len: size.min(u64::from(u32::MAX)) as u32, row: 0, next: 0 }
    }

    /// For a row of this number.
    pub fn of_row(emit: Emit<'e>, row: u64) -> Self {
        Self { emit, len: 0, row: row & ROW_MAX, next: 0 }
    }

    /// A text, unless it is blank.
    pub fn put<'t>(&mut self, role: Role, time: i64, text: impl Into<Cow<'t, str>>) {
        let text = text.into();
        if !text.trim().is_empty() {
            self.send(role, time, text, None);
        }
    }

    /// A tool call, or what came of it.
    pub fn tool<'t>(&mut self, role: Role, time: i64, text: impl Into<Cow<'t, str>>, name: Option<&'t str>) {
        let text = text.into();
        if name.is_some() || !text.trim().is_empty() {
            self.send(role, time, text, name);
        }
    }

    fn send(&mut self, role: Role, timestamp_ms: i64, text: Cow<'_, str>, tool: Option<&str>) {
        // The running number: its low half is the part. Its high half, which is nearly always 0, stands where the offset
        // would, or above the row's number.
        let high = self.next >> 16;
        let offset = if self.len == 0 { self.row | high << ROW_BITS } else { high };
        let at = Locator { offset, len: self.len, part: (self.next & 0xffff) as u16 };
        self.next += 1;
        (self.emit)(Message {
            role,
            timestamp_ms,
            text,
            at,
            tool: tool.map(Cow::Borrowed),
            sidechain: false,
        });
    }
}
