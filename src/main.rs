//! The `agf` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    agf_catalog::front::cli::run(agf_catalog::io::env::Env::from_process(), std::env::args_os())
}
