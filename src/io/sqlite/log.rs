//! A database with its write-ahead log laid over it, as one stream of bytes that is a database without a log.
//!
//! The format of the log is that of <https://sqlite.org/fileformat2.html#the_write_ahead_log>: frames of a page each, valid as
//! long as their salts are the header's and their running checksum fits; what counts ends with the last commit.

use crate::io::stat;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

const HEADER: usize = 32;
const FRAME: usize = 24;
/// Bytes of the first page that say whether there is a log: 2 if so, 1 if not.
const VERSIONS: std::ops::Range<usize> = 18..20;

/// Pages of the database and of its log, in the order of the database.
pub struct Merged {
    db: File,
    log: File,
    page: usize,
    pages: u32,
    /// Where the log has a newer copy of a page.
    newer: HashMap<u32, u64>,
    current: Vec<u8>,
    read: usize,
    next: u32,
}

impl Merged {
    pub fn open(db: &Path, log: &Path) -> io::Result<Self> {
        let (mut db, fp) = stat::open_regular(db)?;
        let (mut log, _) = stat::open_regular(log)?;
        let mut head = [0; 18];
        db.read_exact(&mut head)?;
        let page = page_size(u32::from(head[16]) << 8 | u32::from(head[17]))?;
        let scan = Scan::run(&mut log, page)?;
        let pages = scan.pages.unwrap_or((fp.size / page as u64).min(u64::from(u32::MAX)) as u32);
        Ok(Self { db, log, page, pages, newer: scan.committed, current: Vec::new(), read: 0, next: 1 })
    }

    /// Bytes of the whole.
    pub fn size(&self) -> u64 {
        self.page as u64 * u64::from(self.pages)
    }

    fn load(&mut self) -> io::Result<()> {
        self.current.resize(self.page, 0);
        let (file, at) = match self.newer.get(&self.next) {
            Some(at) => (&mut self.log, *at),
            None => (&mut self.db, u64::from(self.next - 1) * self.page as u64),
        };
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut self.current)?;
        if self.next == 1 {
            self.current[VERSIONS].fill(1);
        }
        self.next += 1;
        self.read = 0;
        Ok(())
    }
}

impl Read for Merged {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.read == self.current.len() {
            if self.next > self.pages {
                return Ok(0);
            }
            self.load()?;
        }
        let rest = &self.current[self.read..];
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        self.read += n;
        Ok(n)
    }
}

/// A power of two from 512 to 65,536, which is written as 1.
fn page_size(n: u32) -> io::Result<usize> {
    match n {
        1 => Ok(65_536),
        512..=65_536 if n.is_power_of_two() => Ok(n as usize),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// What of a log is committed.
#[derive(Default)]
struct Scan {
    committed: HashMap<u32, u64>,
    /// Pages of the database at the last commit.
    pages: Option<u32>,
}

impl Scan {
    /// A log that is not one, or of another page size, has nothing in it.
    fn run(log: &mut File, page: usize) -> io::Result<Self> {
        let mut input = BufReader::with_capacity(256 << 10, log);
        let mut found = Self::default();
        let mut header = [0; HEADER];
        if !fill(&mut input, &mut header)? {
            return Ok(found);
        }
        let mut sum = Checksum { big_endian: word(&header, 0) & 1 == 1, a: 0, b: 0 };
        sum.add(&header[..24]);
        let magic = word(&header, 0) & !1 == 0x377f_0682;
        if !magic || word(&header, 8) as usize != page || !sum.is(&header[24..]) {
            return Ok(found);
        }
        let salts = &header[16..24];
        let mut pending = Vec::new();
        let (mut frame, mut at) = (vec![0; FRAME + page], HEADER as u64);
        while fill(&mut input, &mut frame)? {
            sum.add(&frame[..8]);
            sum.add(&frame[FRAME..]);
            if frame[8..16] != *salts || !sum.is(&frame[16..FRAME]) {
                break;
            }
            pending.push((word(&frame, 0), at + FRAME as u64));
            if word(&frame, 4) > 0 {
                found.committed.extend(pending.drain(..));
                found.pages = Some(word(&frame, 4));
            }
            at += frame.len() as u64;
        }
        Ok(found)
    }
}

/// The log's checksum, which runs on from frame to frame.
struct Checksum {
    big_endian: bool,
    a: u32,
    b: u32,
}

impl Checksum {
    fn add(&mut self, bytes: &[u8]) {
        let read = |b: [u8; 4]| if self.big_endian { u32::from_be_bytes(b) } else { u32::from_le_bytes(b) };
        let (mut a, mut b) = (self.a, self.b);
        for pair in bytes.as_chunks::<8>().0 {
            let [p, q, r, s, t, u, v, w] = *pair;
            a = a.wrapping_add(read([p, q, r, s])).wrapping_add(b);
            b = b.wrapping_add(read([t, u, v, w])).wrapping_add(a);
        }
        (self.a, self.b) = (a, b);
    }

    fn is(&self, stored: &[u8]) -> bool {
        (word(stored, 0), word(stored, 4)) == (self.a, self.b)
    }
}

/// A number of the log: big-endian, whatever its checksums are.
fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_be_bytes)
}

/// Fills a buffer, or says that there is not enough left.
fn fill(input: &mut impl Read, buf: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(buf) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(e) => Err(e),
    }
}
