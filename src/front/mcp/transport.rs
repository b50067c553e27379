//! Standard input and output as an rmcp transport.
//!
//! rmcp's own stdio transport is not used because, as of 3.11: a notification or response before a session is open ends the process
//! (`serve_server`'s bootstrap loop); malformed lines stay unanswered and ill-shaped requests are answered without their id
//! (`async_rw`), so that a client waits for its own time-out; an oversized line is dropped silently; batches of revision 2025-03-26 are
//! refused; and at the end of the input a handler that awaits a notification delays the exit by five seconds. Sessions, versions and
//! dispatch stay rmcp's.

use super::lines::Line;
use super::options::Oversize;
use super::pending::{Kind, Pending, Phase};
use super::server::VERSIONS;
use super::wire::{self, Incoming};
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, ErrorData, GetMeta, JsonRpcMessage,
    ProtocolVersion, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Requests that are worked on or wait, at most; the next one is read when there is room.
const OPEN_MAX: usize = 1024;
/// Open subscriptions, at most.
const SUBSCRIPTIONS_MAX: usize = 64;
/// Answers without an id in a second, at most, so that two confused programs cannot echo each other for ever.
const BLIND_PER_SECOND: u32 = 32;
/// How long calls may finish after the end of the input.
const LINGER: Duration = Duration::from_secs(1);

/// The client is gone.
#[derive(Debug, thiserror::Error)]
#[error("the client does not read any more")]
pub struct Gone;

/// The transport.
pub struct Guard {
    lines: mpsc::Receiver<Line>,
    out: mpsc::Sender<Vec<u8>>,
    pending: Arc<Pending>,
    waiting: VecDeque<Incoming>,
    limit: usize,
    oversize: Oversize,
    /// Whether rmcp has a session that can take notifications.
    open: bool,
    blind: (Instant, u32),
    /// Until when calls may finish, once the input ended.
    ending: Option<tokio::time::Instant>,
}

impl Guard {
    pub fn new(
        lines: mpsc::Receiver<Line>,
        out: mpsc::Sender<Vec<u8>>,
        pending: Arc<Pending>,
        limit: usize,
        oversize: Oversize,
    ) -> Self {
        Self {
            lines,
            out,
            pending,
            waiting: VecDeque::new(),
            limit,
            oversize,
            open: false,
            blind: (Instant::now(), 0),
            ending: None,
        }
    }

    /// Takes a line in; `false` if the session is to end because of it.
    fn take(&mut self, line: Line) -> bool {
        match line {
            Line::Whole(line) => self.waiting.extend(wire::read(&line)),
            Line::Oversized { .. } if self.oversize == Oversize::Close => return false,
            Line::Oversized { request: false, id: Some(_), .. } => {}
            Line::Oversized { bytes, id, .. } => {
                let answer = wire::oversized(bytes, self.limit, id);
                self.waiting.push_back(Incoming::Answer(Box::new(answer)));
            }
        }
        true
    }

    /// Sends the answer that stands first in line. Nothing is lost if the future is dropped.
    async fn answer(&mut self) -> Result<(), Gone> {
        let room = self.out.reserve().await.map_err(|_| Gone)?;
        let Some(Incoming::Answer(answer)) = self.waiting.pop_front() else { return Ok(()) };
        let blind = matches!(&*answer, JsonRpcMessage::Error(e) if e.id.is_none());
        if !blind || counted(&mut self.blind) {
            room.send(encode(&answer));
        }
        Ok(())
    }

    /// Lets a message through to rmcp, if there is something to do about it.
    fn admit(&mut self, message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        match &message {
            JsonRpcMessage::Request(call) => {
                let kind = kind(&call.request);
                if let Some(error) = self.refused(&call.request, kind) {
                    let answer = ServerJsonRpcMessage::error(error, Some(call.id.clone()));
                    self.waiting.push_front(Incoming::Answer(Box::new(answer)));
                    return None;
                }
                self.open |= opens(&call.request);
                self.pending.begin(call.id.clone(), kind);
                Some(message)
            }
            JsonRpcMessage::Notification(n) => {
                if let ClientNotification::CancelledNotification(cancelled) = &n.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.pending.end(id);
                }
                self.open.then_some(message)
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => None,
        }
    }

    /// Why a request is not handed to rmcp.
    fn refused(&self, request: &ClientRequest, kind: Kind) -> Option<ErrorData> {
        if kind == Kind::Subscription && self.pending.count(kind) >= SUBSCRIPTIONS_MAX {
            let text = format!("more than {SUBSCRIPTIONS_MAX} open subscriptions");
            return Some(ErrorData::invalid_request(text, None));
        }
        // Before a session is open, rmcp answers a ping of any revision; the modern one has none.
        let version = request.get_meta().protocol_version();
        let gone = matches!(request, ClientRequest::PingRequest(_))
            && version.is_some_and(|v| v >= ProtocolVersion::V_2026_07_28);
        gone.then(|| ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "ping", None))
    }

    /// After the end of the input: what was asked may still be answered.
    async fn linger(&mut self) {
        // rmcp drops this future whenever something else happens, and comes back: the time is fixed at the first.
        let end = *self.ending.get_or_insert_with(|| tokio::time::Instant::now() + LINGER);
        self.pending.enter(Phase::Ending);
        self.pending.settled(end).await;
        self.pending.enter(Phase::Stopping);
        self.pending.settled(end + LINGER / 10).await;
    }
}

fn counted((since, count): &mut (Instant, u32)) -> bool {
    if since.elapsed() >= Duration::from_secs(1) {
        (*since, *count) = (Instant::now(), 0);
    }
    *count += 1;
    *count <= BLIND_PER_SECOND
}

fn kind(request: &ClientRequest) -> Kind {
    match request {
        ClientRequest::SubscriptionsListenRequest(_) => Kind::Subscription,
        _ => Kind::Call,
    }
}

/// Whether rmcp opens a session on this request; the same condition as in its bootstrap loop.
fn opens(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => false,
        request => {
            let meta = request.get_meta();
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && meta.protocol_version().is_some_and(|v| VERSIONS.contains(&v))
        }
    }
}

fn encode(message: &ServerJsonRpcMessage) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}

impl Transport<RoleServer> for Guard {
    type Error = Gone;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Gone>> + Send + 'static {
        let line = encode(&message);
        let id = match message {
            JsonRpcMessage::Response(r) => Some(r.id),
            JsonRpcMessage::Error(e) => e.id,
            _ => None,
        };
        let (out, pending) = (self.out.clone(), self.pending.clone());
        async move {
            let sent = out.send(line).await.map_err(|_| Gone);
            if let Some(id) = id {
                pending.end(&id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            match self.waiting.front() {
                Some(Incoming::Answer(_)) => self.answer().await.ok()?,
                Some(Incoming::Message(_)) => {
                    self.pending.room(OPEN_MAX).await;
                    if let Some(Incoming::Message(message)) = self.waiting.pop_front()
                        && let Some(message) = self.admit(*message)
                    {
                        return Some(message);
                    }
                }
                Some(Incoming::Nothing) => drop(self.waiting.pop_front()),
                None => {
                    let line = tokio::select! {
                        line = self.lines.recv() => line,
                        () = self.out.closed() => None,
                    };
                    let goes_on = line.is_some_and(|line| self.take(line));
                    if !goes_on {
                        self.linger().await;
                        return None;
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Gone> {
        Ok(())
    }
}
