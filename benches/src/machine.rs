//! The machine that figures come from: without it they mean nothing.

use crate::placement::Placement;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;
use std::process::Command;

/// What could be found out; none where it could not.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name.
    pub processor: Option<String>,
    /// Cores that this process may use.
    pub cores: usize,
    /// Operating system and kernel.
    pub kernel: Option<String>,
    /// The frequency governor of the first core.
    pub governor: Option<String>,
    /// Load average of the last minute, at the start.
    pub load: Option<f64>,
    /// The compiler that built the program.
    pub compiler: String,
    /// The profile it was built with.
    pub profile: String,
    /// The commit of the source tree, as it is when the program runs.
    pub commit: Option<String>,
    /// Whether that tree has changes that are in no commit.
    pub dirty: Option<bool>,
}

impl Machine {
    /// Looks around.
    #[must_use]
    pub fn inspect(placement: &Placement) -> Self {
        Self {
            processor: processor(),
            cores: placement.cores(),
            kernel: read("/proc/sys/kernel/osrelease")
                .map(|release| format!("{} {release}", capitalised(std::env::consts::OS))),
            governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            load: read("/proc/loadavg").and_then(|line| line.split(' ').next()?.parse().ok()),
            compiler: env!("SLOTWORK_RUSTC").into(),
            profile: env!("SLOTWORK_PROFILE").into(),
            commit: git(&["rev-parse", "--short=12", "HEAD"]),
            dirty: git(&["status", "--porcelain", "--untracked-files=no"]).map(|changes| !changes.is_empty()),
        }
    }

    /// Whether the program was built with optimisation.
    #[must_use]
    pub fn is_optimised(&self) -> bool {
        self.profile != "debug"
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".into());
        write!(
            formatter,
            "{}, {} {}; {}; ",
            self.processor.as_deref().unwrap_or("unknown processor"),
            self.cores,
            if self.cores == 1 { "core" } else { "cores" },
            self.kernel.as_deref().unwrap_or("unknown kernel"),
        )?;
        if let Some(governor) = &self.governor {
            write!(formatter, "governor {governor}; ")?;
        }
        if let Some(load) = self.load {
            write!(formatter, "load {load:.1}; ")?;
        }
        write!(formatter, "{}, {} build; commit {}", self.compiler, self.profile, or_unknown(&self.commit))?;
        if self.dirty == Some(true) { write!(formatter, " and changes") } else { Ok(()) }
    }
}

fn read(path: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.trim().to_string()).filter(|text| !text.is_empty())
}

fn processor() -> Option<String> {
    let text = read("/proc/cpuinfo")?;
    let named = |key: &str| {
        let line = text.lines().find(|line| line.starts_with(key))?;
        line.split_once(':').map(|(_, value)| value.trim().to_string())
    };
    named("model name").or_else(|| named("Model")).or_else(|| named("Hardware"))
}

fn capitalised(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

/// The answer of git about the source tree, if there is both.
fn git(arguments: &[&str]) -> Option<String> {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR"));
    if !tree.is_dir() {
        return None;
    }
    let output = Command::new("git").arg("-C").arg(tree).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_line_says_what_is_known() {
        let machine = Machine::inspect(&Placement::free());
        assert!(machine.cores >= 1);
        let line = machine.to_string();
        assert!(line.contains("rustc") && line.contains("core"), "{line}");
        let bare = Machine { processor: None, kernel: None, commit: None, ..machine };
        assert!(bare.to_string().contains("commit unknown"));
    }
}
