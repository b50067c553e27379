//! Around every request: a panic becomes an answer, and answers of the modern revision say who gave them.
//!
//! rmcp 3.11 spawns handlers and never answers one that panics, and puts the server's name only into discovery.

use rmcp::model::{
    ClientNotification, ClientRequest, ErrorData, MetaObject, ProtocolVersion, ServerConfig, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, Service};
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// A handler with the layer around it.
pub struct Layer<H> {
    handler: H,
    name: Value,
}

impl<H: ServerHandler> Layer<H> {
    pub fn new(handler: H) -> Self {
        let name = serde_json::to_value(handler.get_info().server_info).unwrap_or_default();
        Self { handler, name }
    }
}

impl<H: ServerHandler> Service<RoleServer> for Layer<H> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let modern = context.protocol_version().is_some_and(|v| v >= ProtocolVersion::V_2026_07_28);
        let mut result = caught(Service::handle_request(&self.handler, request, context))
            .await
            .unwrap_or_else(|| Err(ErrorData::internal_error("the request could not be carried out", None)));
        if modern
            && let Ok(result) = &mut result
            && let Some(meta) = meta(result)
        {
            meta.get_or_insert_with(MetaObject::new)
                .0
                .entry(SERVER_INFO)
                .or_insert_with(|| self.name.clone());
        }
        if !modern && let Ok(result) = &mut result {
            without_caching(result);
        }
        result
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        caught(Service::handle_notification(&self.handler, notification, context)).await.unwrap_or(Ok(()))
    }

    fn get_info(&self) -> ServerConfig {
        self.handler.get_info()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        ServerHandler::supported_protocol_versions(&self.handler)
    }
}

/// The outcome of a future; `None` if it panicked.
async fn caught<F: Future>(future: F) -> Option<F::Output> {
    let mut future = std::pin::pin!(future);
    std::future::poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(value)) => Poll::Ready(Some(value)),
        Err(_) => Poll::Ready(None),
    })
    .await
}

/// Hints on caching are of the modern revision.
fn without_caching(result: &mut ServerResult) {
    macro_rules! strip {
        ($($kind:ident),+) => {
            match result {
                $(ServerResult::$kind(r) => (r.ttl_ms, r.cache_scope) = (None, None),)+
                _ => {}
            }
        };
    }
    strip!(
        ListToolsResult,
        ListResourcesResult,
        ListResourceTemplatesResult,
        ListPromptsResult,
        ReadResourceResult
    );
}

fn meta(result: &mut ServerResult) -> Option<&mut Option<MetaObject>> {
    Some(match result {
        ServerResult::CallToolResult(r) => &mut r.meta,
        ServerResult::ListToolsResult(r) => &mut r.meta,
        ServerResult::ListResourcesResult(r) => &mut r.meta,
        ServerResult::ListResourceTemplatesResult(r) => &mut r.meta,
        ServerResult::ReadResourceResult(r) => &mut r.meta,
        ServerResult::ListPromptsResult(r) => &mut r.meta,
        ServerResult::GetPromptResult(r) => &mut r.meta,
        ServerResult::CompleteResult(r) => &mut r.meta,
        ServerResult::ListSkillsResult(r) => &mut r.meta,
        ServerResult::GetSkillResult(r) => &mut r.meta,
        _ => return None,
    })
}
