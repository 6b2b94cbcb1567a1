//! The progress bar: on a terminal only, with the time that is left.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// A bar for a run that is planned to take so long.
pub(crate) fn bar(planned: Duration) -> ProgressBar {
    // Without a terminal on stderr, the bar draws nothing.
    let bar = ProgressBar::new(milliseconds(planned));
    let style = ProgressStyle::with_template("{bar:40} {percent:>3} %  {eta} left  {msg}");
    bar.set_style(style.expect("the template is a constant and well formed"));
    bar
}

/// A bar counts milliseconds, so that long and short windows weigh as they should.
pub(crate) fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
