//! The two threads that touch standard input and output, so that a blocked read never holds up the runtime's end.

use super::lines::{Line, Lines};
use super::options::Oversize;
use std::io::{StdinLock, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc as std_mpsc};
use std::thread;
use std::time::Duration;
use tokio::sync::mpsc;

/// Answers written in one go, at most about this many bytes.
const COALESCE: usize = 64 << 10;
/// How long a client that does not read may hold up the exit.
const LAST_WRITE: Duration = Duration::from_millis(500);

/// Both ends, and what is needed to finish.
pub struct Pipes {
    pub lines: mpsc::Receiver<Line>,
    pub out: mpsc::Sender<Vec<u8>>,
    pub end: End,
}

/// Tells when the last answer is written.
pub struct End {
    written: std_mpsc::Receiver<()>,
    oversized: Arc<AtomicBool>,
}

impl End {
    /// Waits for the last answer. All senders must be gone.
    pub fn wait(&self) {
        let _ = self.written.recv_timeout(LAST_WRITE);
    }

    /// Whether a line was over the limit.
    pub fn oversized(&self) -> bool {
        self.oversized.load(Ordering::Relaxed)
    }
}

/// Starts the threads.
pub fn open(limit: usize, oversize: Oversize) -> std::io::Result<Pipes> {
    let (line_tx, lines) = mpsc::channel(32);
    let (out, out_rx) = mpsc::channel(64);
    let (done, written) = std_mpsc::channel();
    let oversized = Arc::new(AtomicBool::new(false));
    let flag = oversized.clone();
    thread::Builder::new().name("mcp-in".to_owned()).spawn(move || {
        let lines = Lines::new(std::io::stdin().lock(), limit, oversize);
        read(lines, &line_tx, &flag);
    })?;
    thread::Builder::new().name("mcp-out".to_owned()).spawn(move || {
        write(out_rx);
        let _ = done.send(());
    })?;
    Ok(Pipes { lines, out, end: End { written, oversized } })
}

fn read(mut lines: Lines<StdinLock<'_>>, to: &mpsc::Sender<Line>, oversized: &AtomicBool) {
    while let Ok(Some(line)) = lines.next() {
        if matches!(line, Line::Oversized { .. }) {
            oversized.store(true, Ordering::Relaxed);
        }
        if to.blocking_send(line).is_err() {
            return;
        }
    }
}

fn write(mut from: mpsc::Receiver<Vec<u8>>) {
    let mut out = std::io::stdout().lock();
    while let Some(mut buffer) = from.blocking_recv() {
        while buffer.len() < COALESCE
            && let Ok(more) = from.try_recv()
        {
            buffer.extend_from_slice(&more);
        }
        if out.write_all(&buffer).and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}
