//! Long output for people: through their pager on a terminal, as it is elsewhere.

use crate::io::env::Env;
use anstream::adapter::strip_str;
use anstream::{AutoStream, ColorChoice};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};

/// Where long output goes.
pub struct Pager {
    child: Option<Child>,
    out: BufWriter<Out>,
    plain: bool,
}

enum Out {
    Pager(ChildStdin),
    Standard(io::Stdout),
}

impl Pager {
    pub fn start(env: &Env) -> Self {
        let stdout = io::stdout();
        let plain = AutoStream::choice(&stdout) == ColorChoice::Never;
        let mut child = stdout.is_terminal().then(|| launch(env)).flatten();
        let out = match child.as_mut().and_then(|c| c.stdin.take()) {
            Some(input) => Out::Pager(input),
            None => Out::Standard(stdout),
        };
        Self { child, out: BufWriter::new(out), plain }
    }

    /// Prints text, without its colours where they cannot be shown.
    pub fn print(&mut self, text: &str) {
        let done = match self.plain {
            true => write!(self.out, "{}", strip_str(text)),
            false => self.out.write_all(text.as_bytes()),
        };
        if done.is_err() {
            self.leave();
        }
    }

    /// Waits until the reader has read.
    pub fn finish(mut self, code: ExitCode) -> ExitCode {
        let _ = self.out.flush();
        let Self { child, out, .. } = self;
        drop(out);
        if let Some(mut child) = child {
            let _ = child.wait();
        }
        code
    }

    /// The reader went away. That is no error, and nothing that would still be read for it is of use.
    fn leave(&mut self) -> ! {
        if let Some(child) = &mut self.child {
            let _ = child.wait();
        }
        std::process::exit(0)
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Pager(input) => input.write(bytes),
            Self::Standard(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Pager(input) => input.flush(),
            Self::Standard(out) => out.flush(),
        }
    }
}

/// The user's pager; `less` if none is set. None where there is none, or where it would do nothing.
#[expect(
    clippy::disallowed_methods,
    reason = "the one program that is run: the pager of whoever sits at the terminal"
)]
fn launch(env: &Env) -> Option<Child> {
    if env.var("TERM") == Some("dumb") {
        return None;
    }
    let words = match env.var("PAGER") {
        Some(set) => shlex::split(set)?,
        None => vec!["less".to_owned(), "-R".to_owned()],
    };
    let (program, args) = words.split_first().filter(|(program, _)| *program != "cat")?;
    let program = env.find_program(std::slice::from_ref(program))?;
    // What is printed is UTF-8, whatever the locale says.
    let charset = env.var("LESSCHARSET").unwrap_or("utf-8");
    Command::new(program).args(args).env("LESSCHARSET", charset).stdin(Stdio::piped()).spawn().ok()
}
