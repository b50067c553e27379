//! Tools for tests, in debug builds only and only with `AGF_TEST_TOOLS` set: one that panics, one that takes its time. And a first
//! build that takes its time: `AGF_TEST_PACE_MS` for each source.

use super::work::Tick;
use crate::io::env::Env;
use rmcp::model::CallToolRequestParams;
use serde_json::Value;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// What the tool of this name does.
pub fn job(
    env: &Env,
    request: &CallToolRequestParams,
    ticks: &watch::Sender<Tick>,
) -> Option<Box<dyn Fn() -> u64 + Send + Sync>> {
    env.var("AGF_TEST_TOOLS")?;
    let ms = request.arguments.as_ref().and_then(|a| a.get("ms")).and_then(Value::as_u64).unwrap_or(0);
    let ticks = ticks.clone();
    match request.name.as_ref() {
        "agf_test_panic" => Some(Box::new(|| panic!("asked for"))),
        "agf_test_panic_async" => panic!("asked for"),
        "agf_test_sleep" => Some(Box::new(move || sleep(ms, &ticks))),
        _ => None,
    }
}

/// How long each source of a refresh takes at least.
pub fn pace(env: &Env) -> Duration {
    Duration::from_millis(env.var("AGF_TEST_PACE_MS").and_then(|ms| ms.parse().ok()).unwrap_or(0))
}

fn sleep(ms: u64, ticks: &watch::Sender<Tick>) -> u64 {
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(ms) {
        std::thread::sleep(Duration::from_millis(10));
        ticks.send_replace((start.elapsed().as_millis() as u64, ms));
    }
    ms
}
