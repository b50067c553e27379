//! Choosing the messages of one page while a whole conversation goes by, in memory that does not grow with it.

use super::conversation::Spoken;
use super::cursor::Bookmark;
use super::response::{ReadMessage, ReadPart};
use crate::limits::{NAME_MAX, READ_MESSAGE_MAX, READ_TOOL_HEAD, READ_WHOLE_MAX, TITLE_MAX};
use crate::model::{Message, Role};
use crate::query::order::BLOCK;
use crate::text::{Clean, floor_boundary};
use std::collections::VecDeque;
use xxhash_rust::xxh3::xxh3_64;

/// What a page is to hold.
#[derive(Debug)]
pub struct Ask {
    pub place: Place,
    pub from: Option<Bookmark>,
    pub limit: usize,
    /// All if empty.
    pub roles: Vec<Role>,
    pub outline: bool,
    pub full_tools: bool,
    /// Bytes of text.
    pub budget: u64,
    /// Bytes of JSON.
    pub room: u64,
}

/// Where a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// From this message on.
    From(u64),
    Around(u64),
    /// Only this message, from this byte of its text on.
    Only(u64, u64),
}

impl Place {
    /// The message that must be on the page.
    pub fn wanted(self) -> Option<u64> {
        match self {
            Self::Around(n) | Self::Only(n, _) => Some(n),
            Self::From(_) => None,
        }
    }

    /// The same for another message.
    pub fn at(self, index: u64) -> Self {
        match self {
            Self::From(_) => Self::From(index),
            Self::Around(_) => Self::Around(index),
            Self::Only(_, from) => Self::Only(index, from),
        }
    }
}

/// What was found.
#[derive(Debug, Default)]
pub struct Page {
    pub messages: Vec<ReadMessage>,
    /// There are further messages of the wanted roles.
    pub more: bool,
    /// It ended for want of room.
    pub tight: bool,
    pub total: u64,
    /// Names the whole session.
    pub revision: u64,
    /// Names what lies before the next page.
    pub before: u64,
    /// What lies before the bookmark is as it was.
    pub intact: bool,
    /// The wanted message was found.
    pub landed: bool,
    pub parts: Vec<ReadPart>,
}

/// A message that is kept until it is known whether it is shown.
struct Held {
    index: u64,
    child: Option<u64>,
    bytes: u64,
    message: Message<'static>,
}

/// Takes the messages of a conversation one by one.
pub struct Pager<'a> {
    ask: &'a Ask,
    page: Page,
    /// Those just before the message the page is placed around.
    before: VecDeque<Held>,
    /// Names the messages of the present unit so far.
    chain: u64,
    block: u64,
    text: u64,
    json: u64,
    full: bool,
}

impl<'a> Pager<'a> {
    pub fn new(ask: &'a Ask) -> Self {
        Self {
            ask,
            page: Page::default(),
            before: VecDeque::new(),
            chain: 0,
            block: u64::MAX,
            text: 0,
            json: 0,
            full: false,
        }
    }

    pub fn take(&mut self, spoken: Spoken<'_>) {
        self.count(&spoken);
        if spoken.copy_of.is_some() {
            return;
        }
        let wanted = self.ask.roles.is_empty() || self.ask.roles.contains(&spoken.message.role);
        match self.ask.place {
            Place::From(first) if spoken.index >= first && wanted => self.add(&spoken),
            Place::Around(n) if spoken.index == n => self.land(&spoken),
            Place::Around(n) if spoken.index < n && wanted => self.hold(&spoken),
            Place::Around(n) if spoken.index > n && wanted => self.add(&spoken),
            Place::Only(n, from) if spoken.index == n => self.only(&spoken, from),
            _ => {}
        }
    }

    pub fn finish(self) -> Page {
        self.page
    }

    /// Counts a message, and adds it to the names of what went by.
    fn count(&mut self, spoken: &Spoken<'_>) {
        let block = spoken.index / BLOCK;
        if block != self.block {
            (self.block, self.chain) = (block, block);
        }
        self.chain = mix(self.chain, spoken.key);
        self.page.revision = mix(self.page.revision, spoken.key ^ block);
        if let Some(bookmark) = self.ask.from.filter(|b| b.next == spoken.index + 1) {
            self.page.intact = bookmark.before == self.chain;
        }
        if spoken.copy_of.is_some() {
            return;
        }
        self.page.total += 1;
        match self.page.parts.last_mut().filter(|p| p.first / BLOCK == block) {
            Some(part) => part.messages += 1,
            None => {
                self.page.parts.push(ReadPart { first: spoken.index, messages: 1, child: spoken.child });
            }
        }
    }

    /// Puts a message on the page if there is place for it.
    fn add(&mut self, spoken: &Spoken<'_>) {
        if self.full {
            self.page.more = true;
            return;
        }
        if self.page.messages.len() >= self.ask.limit {
            (self.full, self.page.more) = (true, true);
            return;
        }
        let message = self.shown(spoken, self.most(spoken.message.role));
        let (text, json) = sizes(&message);
        let fits_text = self.text + text <= self.ask.budget;
        let fits_room = self.json + json <= self.ask.room;
        if self.page.messages.is_empty() || fits_text && fits_room {
            return self.put(message);
        }
        (self.full, self.page.more) = (true, true);
        self.page.tight |= !fits_room;
    }

    /// The first message of a page is always on it; it is cut if it must be.
    fn put(&mut self, mut message: ReadMessage) {
        self.fit(&mut message);
        let (text, json) = sizes(&message);
        (self.text, self.json) = (self.text + text, self.json + json);
        self.page.before = self.chain;
        self.page.messages.push(message);
    }

    /// Cuts a text until there is room for the message. Returns whether anything was cut.
    fn fit(&self, message: &mut ReadMessage) -> bool {
        let mut cut = false;
        loop {
            let (text, json) = sizes(message);
            let over = (self.json + json).saturating_sub(self.ask.room);
            if over == 0 || text == 0 {
                return cut;
            }
            // Of JSON, a byte of text takes two at most when it is clean.
            let keep = text.saturating_sub(over.div_ceil(2).max(16)) as usize;
            message.text = message.text.part(0, keep);
            (message.truncated, cut) = (true, true);
        }
    }

    /// Keeps a message that may come before the one the page is placed around.
    fn hold(&mut self, spoken: &Spoken<'_>) {
        /// Cleaning leaves out what is invisible: more is kept than will be shown.
        const HELD: usize = 8 * READ_MESSAGE_MAX;
        let most = self.ask.limit / 2;
        if most == 0 {
            return;
        }
        if self.before.len() == most {
            self.before.pop_front();
        }
        let m = &spoken.message;
        let message = Message {
            text: m.text[..floor_boundary(&m.text, HELD)].to_owned().into(),
            tool: m.tool.as_deref().map(|t| t.to_owned().into()),
            ..*m
        };
        let (index, child) = (spoken.index, spoken.child);
        self.before.push_back(Held { index, child, bytes: m.text.len() as u64, message });
    }

    /// The message the page is placed around, after as many of those before it as half of the page has place for.
    fn land(&mut self, spoken: &Spoken<'_>) {
        self.page.landed = true;
        let target = self.shown(spoken, READ_MESSAGE_MAX);
        let (text, json) = sizes(&target);
        let text_left = self.ask.budget.saturating_sub(text) / 2;
        let room_left = self.ask.room.saturating_sub(json) / 2;
        let mut lead = Vec::new();
        for held in std::mem::take(&mut self.before).into_iter().rev() {
            let spoken =
                Spoken { index: held.index, child: held.child, copy_of: None, key: 0, message: held.message };
            let mut message = self.shown(&spoken, self.most(spoken.message.role));
            message.bytes = held.bytes;
            let (text, json) = sizes(&message);
            if self.text + text > text_left || self.json + json > room_left {
                break;
            }
            (self.text, self.json) = (self.text + text, self.json + json);
            lead.push(message);
        }
        self.page.messages.extend(lead.into_iter().rev());
        self.put(target);
    }

    /// One message with its whole text, or a stretch of it.
    fn only(&mut self, spoken: &Spoken<'_>, from: u64) {
        self.page.landed = true;
        let whole = Clean::block(&spoken.message.text, usize::MAX);
        let size = whole.as_str().len() as u64;
        let most = self.ask.budget.clamp(1, READ_WHOLE_MAX as u64) as usize;
        let from = from.min(size) as usize;
        let mut message = frame(spoken, whole.part(from, most));
        // The place to go on takes room, too.
        message.next_text_offset = Some(size);
        self.fit(&mut message);
        let end = floor_boundary(whole.as_str(), from) as u64 + message.text.as_str().len() as u64;
        message.truncated = end < size;
        message.next_text_offset = Some(end).filter(|e| *e < size);
        self.page.before = self.chain;
        self.page.messages.push(message);
    }

    /// How much of a text is shown.
    fn most(&self, role: Role) -> usize {
        let tool = matches!(role, Role::ToolInput | Role::ToolOutput);
        if tool && !self.ask.full_tools { READ_TOOL_HEAD } else { READ_MESSAGE_MAX }
    }

    fn shown(&self, spoken: &Spoken<'_>, most: usize) -> ReadMessage {
        let text = &spoken.message.text;
        let (most, clean) = match self.ask.outline {
            true => (TITLE_MAX, Clean::line(text, TITLE_MAX)),
            false => (most, Clean::block(text, most)),
        };
        let mut message = frame(spoken, clean);
        message.truncated = text.len() > most;
        message
    }
}

/// A message as clients see it, with this much of its text.
pub fn frame(spoken: &Spoken<'_>, text: Clean) -> ReadMessage {
    let m = &spoken.message;
    ReadMessage {
        index: spoken.index,
        role: m.role.as_str().to_owned(),
        timestamp_ms: m.timestamp_ms,
        text,
        truncated: false,
        bytes: m.text.len() as u64,
        tool: m.tool.as_deref().map(|t| Clean::line(t, NAME_MAX)),
        sidechain: m.sidechain || spoken.child.is_some(),
        child: spoken.child,
        next_text_offset: None,
    }
}

/// Bytes of a message's text, and of all of it as JSON with a comma.
fn sizes(message: &ReadMessage) -> (u64, u64) {
    let json = serde_json::to_string(message).map_or(0, |j| j.len() + 1);
    (message.text.as_str().len() as u64, json as u64)
}

fn mix(state: u64, key: u64) -> u64 {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&state.to_le_bytes());
    bytes[8..].copy_from_slice(&key.to_le_bytes());
    xxh3_64(&bytes)
}
