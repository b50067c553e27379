//! A bar for long refreshes, on a terminal only.

use crate::api::Catalog;
use crate::index::Progress;
use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::OnceLock;

/// Work below this is over before a bar could be read.
const SHOW_FROM: u64 = 32 << 20;

/// Has a catalog show its progress.
pub fn watched(catalog: Catalog) -> Catalog {
    if !std::io::stderr().is_terminal() {
        return catalog;
    }
    let bar: OnceLock<ProgressBar> = OnceLock::new();
    catalog.on_progress(move |p: Progress| {
        if p.bytes < SHOW_FROM {
            return;
        }
        let bar = bar.get_or_init(|| start(p.bytes));
        bar.set_position(p.bytes_done.min(p.bytes));
        bar.set_message(format!(
            "{}/{} sessions, {} of {}",
            p.sources_done,
            p.sources,
            HumanBytes(p.bytes_done),
            HumanBytes(p.bytes)
        ));
        if p.sources_done == p.sources {
            bar.finish_and_clear();
        }
    })
}

fn start(bytes: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("indexing {wide_bar} {msg}, {eta} left") {
        bar.set_style(style);
    }
    bar
}
