//! A process of its own, for as long as it may take: what does not end has not answered.

use process_control::{ChildExt, Control, Output};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How long a check may take by default: longer than any does on a slow machine with others on it.
pub const LIMIT: Duration = Duration::from_secs(30 * 60);

static CHOSEN: OnceLock<Duration> = OnceLock::new();

/// Chooses how long each check of this process may take, instead of [`LIMIT`]; the first choice stays.
pub fn choose_limit(limit: Duration) {
    let _ = CHOSEN.set(limit);
}

/// How long a check may take.
pub(crate) fn limit() -> Duration {
    CHOSEN.get().copied().unwrap_or(LIMIT)
}

/// Runs it to its end and reads what it says; after `limit` it is ended, and that is the error.
///
/// # Errors
/// Why there is no output, in one line.
pub(crate) fn output(command: &mut Command, limit: Duration) -> Result<Output, String> {
    let started = Instant::now();
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.map_err(|error| format!("no process for it: {error}"))?;
    let ended = child.controlled_with_output().time_limit(limit).terminate_for_timeout().wait();
    ended
        .map_err(|error| format!("its process cannot be waited for: {error}"))?
        // What ends late, but before anybody looks, is late all the same: who looks first decides nothing.
        .filter(|_| started.elapsed() <= limit)
        .ok_or_else(|| format!("it did not end within {} s", limit.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_end_is_ended_and_has_not_answered() {
        let why = output(Command::new("sleep").arg("600"), Duration::from_millis(50)).unwrap_err();
        assert!(why.contains("did not end within 0.05 s"), "{why}");
        assert!(output(Command::new("true").arg("600"), LIMIT).unwrap().status.success());
        assert!(output(&mut Command::new("no-such-program-here"), LIMIT).is_err());
    }

    /// A process takes longer than a nanosecond to start, and this one has ended long before it is asked.
    #[test]
    fn what_ends_late_has_not_answered_either() {
        for _ in 0..20 {
            let why = output(&mut Command::new("true"), Duration::from_nanos(1)).unwrap_err();
            assert!(why.contains("did not end within"), "{why}");
        }
    }
}
