//! The handler: what rmcp calls for each request. It keeps nothing of a connection; every request stands for itself.

use super::calls::{Answer, Call, Terms};
use super::options::{Groups, Options};
use super::pending::{Pending, Phase};
use super::work::{Outcome, Tick, Work};
use super::{complete, prompts, resources, skill, tools};
use crate::api::{Catalog, Freshness, Scope};
use crate::error::{Error, ErrorCode, Result as Told};
use crate::io::env::Env;
use crate::limits::MCP_CALL_BUDGET_MS;
use rmcp::model::*;
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::watch;

/// The revisions that are spoken, newest last.
pub const VERSIONS: &[ProtocolVersion] = &[
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];
/// Lists hold for the life of the process.
const LISTS_TTL_MS: u64 = 3_600_000;
const INSTRUCTIONS: &str = include_str!("instructions.md");

/// The server.
pub struct Server {
    catalogs: Arc<Catalogs>,
    work: Work,
    pending: Arc<Pending>,
    terms: Terms,
    tools: Vec<Tool>,
    info: ServerConfig,
    env: Env,
    /// For tests: moves the progress by hand.
    #[cfg(debug_assertions)]
    ticks: watch::Sender<Tick>,
}

/// The catalog, and the same one without bringing it up to date, for when that takes too long.
struct Catalogs {
    fresh: Catalog,
    as_is: OnceLock<Catalog>,
    env: Env,
    scope: Scope,
    /// Whether titles may be searched: who may not see them may not guess at them either.
    titles: bool,
}

/// A first build hands over what it has somewhat before the call must answer.
fn budget() -> Duration {
    Duration::from_millis(MCP_CALL_BUDGET_MS * 3 / 4)
}

impl Catalogs {
    fn as_is(&self) -> &Catalog {
        self.as_is.get_or_init(|| {
            let catalog = Catalog::new(self.env.clone(), self.scope.clone());
            catalog.titles(self.titles).freshness(Freshness::AsIs)
        })
    }
}

impl Server {
    /// A server within its scope. Opens nothing.
    pub fn new(options: &Options, scope: Scope, env: Env, pending: Arc<Pending>) -> Self {
        let ticks = watch::Sender::new((0, 0));
        let told: watch::Sender<Tick> = ticks.clone();
        #[cfg(debug_assertions)]
        let pace = super::trial::pace(&env);
        let titles = options.allow.summaries;
        let fresh = Catalog::new(env.clone(), scope.clone()).titles(titles).resident();
        let fresh = fresh.budget(budget()).on_progress(move |p| {
            #[cfg(debug_assertions)]
            std::thread::sleep(pace);
            told.send_replace((p.bytes_done, p.bytes));
        });
        Self {
            catalogs: Arc::new(Catalogs { fresh, as_is: OnceLock::new(), env: env.clone(), scope, titles }),
            work: Work::new(options.calls_max, pending.clone(), ticks.subscribe()),
            pending,
            terms: terms(options),
            tools: tools::list(&options.allow),
            info: info(&options.allow),
            env,
            #[cfg(debug_assertions)]
            ticks,
        }
    }

    fn groups(&self) -> &Groups {
        &self.terms.groups
    }

    /// Asks the catalog in a thread of the workshop.
    async fn ask<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        question: impl Fn(&Catalog, bool) -> T + Send + Sync + 'static,
    ) -> Told<T> {
        let question = Arc::new(question);
        let (asked, catalogs) = (question.clone(), self.catalogs.clone());
        match self.work.run(context, move || asked(&catalogs.fresh, false)).await {
            Outcome::Done(answer) => Ok(answer),
            Outcome::Busy => Err(Error::new(ErrorCode::Busy, "too many calls are at work")
                .hint("wait for them to end, then ask again")),
            Outcome::Cancelled => Err(Error::new(ErrorCode::Busy, "the call was cancelled")),
            Outcome::Broken => Err(broken()),
            Outcome::Overdue => {
                let catalogs = self.catalogs.clone();
                let late = tokio::task::spawn_blocking(move || question(catalogs.as_is(), true));
                late.await.map_err(|_| broken())
            }
        }
    }

    /// The terms of one call.
    fn terms(&self, context: &RequestContext<RoleServer>) -> Terms {
        let mut terms = self.terms.clone();
        let claude = self.env.var("CLAUDE_CODE_SESSION_ID").map(str::to_owned);
        let codex = context.meta.0.0.get("threadId").and_then(Value::as_str).map(str::to_owned);
        terms.current.extend(claude.map(|id| ("claude", id)));
        terms.current.extend(codex.map(|id| ("codex", id)));
        terms
    }

    async fn call(&self, call: Call, context: &RequestContext<RoleServer>) -> Answer {
        let terms = self.terms(context);
        let answer = self.ask(context, move |catalog, late| call.answer(catalog, &terms, late)).await;
        answer.unwrap_or_else(Answer::failure)
    }

    fn needs(&self, allowed: bool, method: &'static str) -> Result<(), ErrorData> {
        if allowed { Ok(()) } else { Err(ErrorData::new(ErrorCodeOf::METHOD_NOT_FOUND, method, None)) }
    }
}

/// The protocol's codes, beside the contract's.
type ErrorCodeOf = rmcp::model::ErrorCode;

fn broken() -> Error {
    Error::new(ErrorCode::InternalError, "the call failed inside the server")
}

fn terms(options: &Options) -> Terms {
    Terms {
        groups: options.allow,
        output_max: options.output_max,
        current: Vec::new(),
        limits: vec![
            ("mcp_message_max", options.message_max),
            ("mcp_output_max", options.output_max),
            ("mcp_calls_max", options.calls_max),
        ],
    }
}

fn info(groups: &Groups) -> ServerConfig {
    let name = Implementation::new("agf", env!("CARGO_PKG_VERSION"))
        .with_title("agf: past coding-agent sessions")
        .with_description("Read-only catalog of coding-agent sessions on this machine");
    ServerConfig::new(capabilities(groups))
        .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
        .with_server_info(name)
        .with_instructions(INSTRUCTIONS.trim_end())
}

fn capabilities(groups: &Groups) -> ServerCapabilities {
    let mut all = ServerCapabilities::builder().enable_tools().build();
    if groups.transcript || groups.prompts {
        all.resources = Some(ResourcesCapability::default());
        all.completions = Some(JsonObject::new());
    }
    if groups.prompts {
        all.prompts = Some(PromptsCapability::default());
        all.extensions = ServerCapabilities::builder().enable_skills().build().extensions;
    }
    all
}

/// No list has a second page, so no cursor was ever given out.
fn first_page(request: Option<&PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|r| r.cursor.as_ref()) {
        None => Ok(()),
        Some(_) => Err(ErrorData::invalid_params("unknown cursor", None)),
    }
}

/// A list that is the same for everybody who asks this process.
macro_rules! fixed {
    ($kind:ident, $items:expr) => {
        Ok($kind::with_all_items($items).with_ttl_ms(LISTS_TTL_MS).with_cache_scope(CacheScope::Public))
    };
}

type Context = RequestContext<RoleServer>;
type Page = Option<PaginatedRequestParams>;

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        self.info.clone()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(VERSIONS)
    }

    async fn discover(&self, _: Context) -> Result<DiscoverResult, ErrorData> {
        let found = DiscoverResult::from_server_info(VERSIONS.to_vec(), self.get_info());
        Ok(found.with_ttl_ms(LISTS_TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn list_tools(&self, page: Page, _: Context) -> Result<ListToolsResult, ErrorData> {
        first_page(page.as_ref())?;
        fixed!(ListToolsResult, self.tools.clone())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|t| t.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        #[cfg(debug_assertions)]
        if let Some(job) = super::trial::job(&self.env, &request, &self.ticks) {
            let answer = Answer::of(self.ask(&context, move |_, _| job()).await, false);
            return Ok(answer.into_result().into());
        }
        let Some(call) = Call::read(&request.name, request.arguments) else {
            let known: Vec<&str> = self.tools.iter().map(|t| t.name.as_ref()).collect();
            let name: String = request.name.chars().filter(|c| !c.is_control()).take(64).collect();
            let data = json!({ "available": known });
            return Err(ErrorData::invalid_params(format!("Unknown tool: {name}"), Some(data)));
        };
        let call = call.and_then(|call| call.permitted(self.groups()).map(|()| call));
        let answer = match call {
            Ok(call) => self.call(call, &context).await,
            Err(e) => Answer::failure(e),
        };
        Ok(answer.into_result().into())
    }

    async fn list_resources(&self, page: Page, context: Context) -> Result<ListResourcesResult, ErrorData> {
        let groups = *self.groups();
        self.needs(groups.transcript || groups.prompts, "resources/list")?;
        first_page(page.as_ref())?;
        let terms = self.terms(&context);
        let sessions = if groups.transcript {
            let list = self.ask(&context, move |catalog, _| resources::list(catalog, &terms)).await;
            list.and_then(|l| l).map_err(|e| resources::error(e, resources::TEMPLATE))?
        } else {
            Vec::new()
        };
        let skill = groups.prompts.then(skill::resource);
        Ok(ListResourcesResult::with_all_items(skill.into_iter().chain(sessions).collect()))
    }

    async fn list_resource_templates(
        &self,
        page: Page,
        _: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let groups = self.groups();
        self.needs(groups.transcript || groups.prompts, "resources/templates/list")?;
        first_page(page.as_ref())?;
        let template = groups.transcript.then(resources::template);
        fixed!(ListResourceTemplatesResult, template.into_iter().collect())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let groups = *self.groups();
        self.needs(groups.transcript || groups.prompts, "resources/read")?;
        if groups.prompts && request.uri == skill::URI {
            return Ok(ReadResourceResult::new(vec![skill::contents()]).into());
        }
        if !groups.transcript {
            let missing = Error::new(ErrorCode::NotFound, "there is no such resource");
            return Err(resources::error(missing, &request.uri));
        }
        let (terms, uri) = (self.terms(&context), request.uri.clone());
        let contents = self.ask(&context, move |catalog, _| resources::read(catalog, &uri, &terms)).await;
        let contents = contents.and_then(|c| c).map_err(|e| resources::error(e, &request.uri))?;
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(&self, page: Page, _: Context) -> Result<ListPromptsResult, ErrorData> {
        self.needs(self.groups().prompts, "prompts/list")?;
        first_page(page.as_ref())?;
        fixed!(ListPromptsResult, prompts::list())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.needs(self.groups().prompts, "prompts/get")?;
        Ok(prompts::get(&request)?.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        self.needs(self.groups().transcript || self.groups().prompts, "completion/complete")?;
        let values = self.ask(&context, move |catalog, _| complete::values(catalog, &request)).await;
        let values = values.and_then(|v| v).map_err(|e| ErrorData::internal_error(e.message, None))?;
        Ok(CompleteResult::new(values))
    }

    async fn list_skills(&self, page: Page, _: Context) -> Result<ListSkillsResult, ErrorData> {
        first_page(page.as_ref())?;
        fixed!(ListSkillsResult, vec![skill::manifest()])
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        _: Context,
    ) -> Result<GetSkillResult, ErrorData> {
        if request.uri != skill::URI {
            return Err(ErrorData::invalid_params("unknown skill", None));
        }
        Ok(GetSkillResult::new(skill::manifest()))
    }

    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        // Nothing here changes while the process lives: a subscription is acknowledged, and empty.
        Some(SubscriptionFilter::new())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        tokio::select! {
            () = subscription.cancelled() => {}
            () = self.pending.reached(Phase::Ending) => {}
        }
        Ok(())
    }

    async fn on_custom_request(&self, request: CustomRequest, _: Context) -> Result<CustomResult, ErrorData> {
        // rmcp reads a known method with ill-shaped parameters as an unknown one.
        if KNOWN.contains(&request.method.as_str()) {
            let text = format!("the parameters of {} do not have its shape", request.method);
            return Err(ErrorData::invalid_params(text, None));
        }
        Err(ErrorData::new(ErrorCodeOf::METHOD_NOT_FOUND, "method not found", None))
    }
}

/// Methods whose parameters can be ill-shaped.
const KNOWN: [&str; 12] = [
    "initialize",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "skills/get",
    "subscriptions/listen",
];
