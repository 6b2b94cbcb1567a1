//! One line that shows a failure again.
//!
//! ```text
//!   model=circle design=plain-flip view=random seed=2018 execution=15 check=555f
//! ```
//!
//! A run is deterministic, so a job, a seed and the number of the execution are enough: shuttle draws the same
//! schedules up to that one, loom explores the same executions. A schedule itself would be thousands of
//! characters long, and would fit less after each change of the code. The last word is a sum over the others, so that a
//! line that was cut off is not mistaken for another one.

use crate::job::{Job, Lens, SEED, Sampling, Verdict};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A failure, as it can be found again.
#[derive(Clone, Debug)]
pub struct Replay {
    /// What was run.
    pub job: Job,
    /// The seed of the schedules.
    pub seed: u64,
    /// The execution that was wrong, counted from one.
    pub execution: u64,
}

/// Why a line replays nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReplayError {
    /// It does not say everything, or does not end as it should.
    #[error("the replay line is cut off or mistyped: its check does not fit")]
    Damaged,
    /// A word is missing.
    #[error("the replay line lacks {0}=…")]
    Lacks(&'static str),
    /// A word cannot be read.
    #[error("'{0}' in the replay line cannot be read")]
    Word(String),
    /// The model, or the design, is unknown.
    #[error(
        "there is no model '{model}' for a design '{design}' in the {view} view; the line may be of another version"
    )]
    Unknown {
        /// The model asked for.
        model: String,
        /// The design asked for.
        design: String,
        /// The view asked for.
        view: Lens,
    },
}

impl Job {
    /// The line that shows again that an execution of this job is wrong.
    #[must_use]
    pub fn replay(&self, execution: u64) -> Replay {
        Replay { job: self.clone(), seed: SEED, execution }
    }
}

impl Replay {
    /// The command that shows the failure again.
    #[must_use]
    pub fn command(&self) -> String {
        format!("slotwork {}", self.arguments())
    }

    /// The arguments of that command.
    #[must_use]
    pub fn arguments(&self) -> String {
        format!("verify --replay '{self}'")
    }

    /// Runs it again, in a process of its own, to the execution that was wrong and no further.
    #[must_use]
    pub fn run(&self) -> Verdict {
        self.job.sample_apart(self.sampling())
    }

    fn sampling(&self) -> Sampling {
        Sampling { seed: self.seed, schedules: Some(self.execution) }
    }
}

/// Sixteen bits over a text.
fn check(text: &str) -> u16 {
    let sum = text
        .bytes()
        .fold(0xCBF2_9CE4_8422_2325_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3));
    #[allow(clippy::cast_possible_truncation, reason = "folded to sixteen bits")]
    let folded = (sum ^ sum >> 16 ^ sum >> 32 ^ sum >> 48) as u16;
    folded
}

impl fmt::Display for Replay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.job.title();
        if let Some(bound) = self.job.bound {
            text += &format!(" bound={bound}");
        }
        text += &format!(" seed={} execution={}", self.seed, self.execution);
        write!(formatter, "{text} check={:04x}", check(&text))
    }
}

impl FromStr for Replay {
    type Err = ReplayError;

    fn from_str(text: &str) -> Result<Self, ReplayError> {
        let words: Vec<_> = text.split_whitespace().collect();
        let Some((sum, words)) = words.split_last() else { return Err(ReplayError::Damaged) };
        let sum = sum.strip_prefix("check=").filter(|sum| sum.len() == 4);
        let sum = sum.and_then(|sum| u16::from_str_radix(sum, 16).ok());
        if sum != Some(check(&words.join(" "))) {
            return Err(ReplayError::Damaged);
        }
        let [mut model, mut design, mut view, mut bound, mut weakened, mut seed, mut execution] = [None; 7];
        for word in words {
            let unreadable = || ReplayError::Word((*word).into());
            let (name, value) = word.split_once('=').ok_or_else(unreadable)?;
            let place = match name {
                "model" => &mut model,
                "design" => &mut design,
                "view" => &mut view,
                "bound" => &mut bound,
                "weakened" => &mut weakened,
                "seed" => &mut seed,
                "execution" => &mut execution,
                _ => return Err(unreadable()),
            };
            if place.replace(value).is_some() {
                return Err(unreadable());
            }
        }
        let job = Job {
            model: model.ok_or(ReplayError::Lacks("model"))?.into(),
            design: design.ok_or(ReplayError::Lacks("design"))?.into(),
            lens: read("view", view)?.ok_or(ReplayError::Lacks("view"))?,
            bound: read("bound", bound)?,
            weakening: read("weakened", weakened)?,
        };
        let seed = read("seed", seed)?.ok_or(ReplayError::Lacks("seed"))?;
        let execution = read("execution", execution)?.ok_or(ReplayError::Lacks("execution"))?;
        if execution == 0 {
            return Err(ReplayError::Word("execution=0".into()));
        }
        Ok(Self { job, seed, execution })
    }
}

fn read<T: FromStr>(name: &str, value: Option<&str>) -> Result<Option<T>, ReplayError> {
    let value = value.map(|value| value.parse().map_err(|_| ReplayError::Word(format!("{name}={value}"))));
    value.transpose()
}

/// Reads a line and runs it again: the failure is rejected as it was before, in the same execution. A verdict of
/// *accepted* says that it does not come again, as after a repair.
///
/// # Errors
/// [`ReplayError`], in one line.
pub fn replay(text: &str) -> Result<Verdict, ReplayError> {
    Ok(known(text)?.run())
}

/// The same, with the steps of the wrong execution as a table.
///
/// # Errors
/// [`ReplayError`], in one line.
pub fn replay_with_steps(text: &str) -> Result<(Verdict, String), ReplayError> {
    let replay = known(text)?;
    Ok(replay.job.sample_apart_with_steps(replay.sampling()))
}

fn known(text: &str) -> Result<Replay, ReplayError> {
    let replay: Replay = text.parse()?;
    if !replay.job.exists() {
        let Job { model, design, lens: view, .. } = replay.job;
        return Err(ReplayError::Unknown { model, design, view });
    }
    Ok(replay)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> Replay {
        let (model, design) = ("circle".into(), "untagged-list".into());
        Job { model, design, lens: Lens::Random, bound: None, weakening: None }.replay(71)
    }

    #[test]
    fn a_line_reads_as_it_is_written() {
        let weakened = Job {
            bound: Some(3),
            weakening: Some("bitmap.FILL_STORE=Relaxed".parse().unwrap()),
            lens: Lens::Weak,
            ..line().job
        };
        for replay in [line(), weakened.replay(1), Replay { seed: u64::MAX, ..line() }] {
            let text = replay.to_string();
            assert!(text.len() < 200, "{text}");
            assert_eq!(text.parse::<Replay>().unwrap().to_string(), text);
            // Spaces may have become lines on the way.
            assert!(text.replace(' ', "\n ").parse::<Replay>().is_ok());
        }
    }

    /// Cut off anywhere, or with a character changed: never another failure, and one line that says so.
    #[test]
    fn replay_lost_a_damaged_line_is_refused() {
        let text = line().to_string();
        for end in 0..text.len() {
            let error = text[..end].parse::<Replay>().unwrap_err();
            assert_eq!(error, ReplayError::Damaged, "{}", &text[..end]);
            assert_eq!(error.to_string().lines().count(), 1);
        }
        for place in 0..text.len() {
            let mut damaged = text.clone().into_bytes();
            damaged[place] ^= 1;
            assert!(String::from_utf8(damaged).unwrap().parse::<Replay>().is_err());
        }
    }

    #[test]
    fn a_line_that_lacks_or_repeats_a_word_is_refused() {
        let with_check = |text: &str| format!("{text} check={:04x}", check(text));
        let refused = |text: &str| with_check(text).parse::<Replay>().unwrap_err();
        assert_eq!(refused("model=circle view=random seed=1 execution=1"), ReplayError::Lacks("design"));
        assert_eq!(refused("model=a design=b view=random seed=1"), ReplayError::Lacks("execution"));
        let word = |text: &str| ReplayError::Word(text.into());
        assert_eq!(refused("model=a design=b view=sideways seed=1 execution=1"), word("view=sideways"));
        assert_eq!(refused("model=a design=b view=pct seed=x execution=1"), word("seed=x"));
        assert_eq!(refused("model=a design=b view=pct seed=1 execution=0"), word("execution=0"));
        assert_eq!(refused("model=a model=b view=pct seed=1 execution=1"), word("model=b"));
        assert_eq!(refused("model=a colour=b view=pct seed=1 execution=1"), word("colour=b"));
        assert!("".parse::<Replay>().is_err());
    }

    #[test]
    fn a_model_or_design_that_there_is_not_is_refused() {
        let unknown = |model: &str, design: &str| {
            let job = Job { model: model.into(), design: design.into(), ..line().job };
            replay(&job.replay(1).to_string()).unwrap_err().to_string()
        };
        assert!(unknown("circle", "nonsense").contains("'nonsense'"));
        assert!(unknown("nonsense", "bitmap").contains("'nonsense'"));
    }
}
