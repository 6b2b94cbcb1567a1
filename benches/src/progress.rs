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

/// A bar that runs by itself, for something that takes so long and tells nobody how far it is.
pub(crate) fn running(planned: Duration) -> ProgressBar {
    const STEP: Duration = Duration::from_millis(100);
    let bar = bar(planned);
    let running = bar.clone();
    // It ends with the bar; nobody waits for it.
    if !bar.is_hidden() {
        std::thread::spawn(move || {
            while !running.is_finished() {
                std::thread::sleep(STEP);
                running.inc(milliseconds(STEP));
            }
        });
    }
    bar
}

/// A bar counts milliseconds, so that long and short windows weigh as they should.
pub(crate) fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A bar that counts up to `total` steps, or only counts where that is not known.
pub(crate) fn count(total: Option<u64>) -> ProgressBar {
    let bar = total.map_or_else(ProgressBar::no_length, ProgressBar::new);
    let template =
        if total.is_some() { "{bar:40} {percent:>3} %  {eta} left  {msg}" } else { "{spinner} {pos}  {msg}" };
    bar.set_style(ProgressStyle::with_template(template).expect("the template is a constant and well formed"));
    bar
}

/// A bar for bytes, with how many go through per second.
pub(crate) fn bytes(total: Option<u64>) -> ProgressBar {
    let bar = count(total);
    let template = if total.is_some() {
        "{bar:40} {percent:>3} %  {bytes} of {total_bytes}  {bytes_per_sec}  {eta} left"
    } else {
        "{spinner} {bytes}  {bytes_per_sec}"
    };
    bar.set_style(ProgressStyle::with_template(template).expect("the template is a constant and well formed"));
    bar
}
