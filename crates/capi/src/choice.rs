//! Design, waiting and dispatch, as they are chosen from C: by number, or by a word in the environment.

use slotwork::Dispatch;
use slotwork_workqueue::{Configuration, Waiting};

/// What the 2018 interface runs on if nothing else is asked for: the leader of the one-submitter ranking, see
/// notes/c-interface.md for what speaks against it.
pub(crate) const ONE_SUBMITTER: &str = "bitmap";
/// What `slotwork.h` runs on if nothing else is asked for: the best measured for many submitters.
pub(crate) const MANY_SUBMITTERS: &str = "bitmap-claim";

const WAITINGS: [(&str, Waiting); 5] = [
    ("settle", Waiting::SETTLE),
    ("spin", Waiting::SPIN),
    ("yield", Waiting::YIELD),
    ("park", Waiting::PARK),
    ("busy-1000", Waiting::BUSY_1000),
];
const DISPATCHES: [(&str, Dispatch); 2] = [("round-robin", Dispatch::RoundRobin), ("fill-first", Dispatch::FillFirst)];

fn named<T: Copy>(what: &str, known: &[(&str, T)], name: &str) -> Result<T, String> {
    known.iter().find(|(known, _)| *known == name).map(|&(_, value)| value).ok_or_else(|| {
        let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
        format!("unknown {what} '{name}'; known are: {}", names.join(", "))
    })
}

/// The waiting policy of this number in `slotwork_waiting`.
pub(crate) fn waiting(number: u32) -> Option<Waiting> {
    WAITINGS.get(number as usize).map(|&(_, waiting)| waiting)
}

/// The dispatch policy of this number in `slotwork_dispatch`.
pub(crate) fn dispatch(number: u32) -> Option<Dispatch> {
    DISPATCHES.get(number as usize).map(|&(_, dispatch)| dispatch)
}

/// The design that the environment asks for, or `default`; and its waiting and dispatch policy. `look` finds a variable.
///
/// # Errors
/// In words, when a policy is unknown. An unknown design is found out by whoever builds it.
pub(crate) fn from_environment(
    look: impl Fn(&str) -> Option<String>,
    default: &str,
    configuration: &mut Configuration,
) -> Result<String, String> {
    let set = |variable: &str| look(variable).filter(|value| !value.is_empty());
    if let Some(name) = set("SLOTWORK_WAITING") {
        configuration.waiting = named("waiting policy", &WAITINGS, &name)?;
    }
    if let Some(name) = set("SLOTWORK_DISPATCH") {
        configuration.dispatch = named("dispatch policy", &DISPATCHES, &name)?;
    }
    Ok(set("SLOTWORK_DESIGN").unwrap_or_else(|| default.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotwork::Submitters;

    #[test]
    fn the_defaults_are_designs_that_take_as_many_submitters() {
        assert!(slotwork_catalog::entry(ONE_SUBMITTER).is_ok());
        assert_eq!(slotwork_catalog::entry(MANY_SUBMITTERS).unwrap().claims.submitters, Submitters::Many);
    }

    #[test]
    fn the_environment_chooses_and_a_wrong_word_is_told() {
        let mut configuration = Configuration::default();
        let nothing = from_environment(|_| None, "bitmap", &mut configuration);
        assert_eq!((nothing.as_deref(), &configuration), (Ok("bitmap"), &Configuration::default()));
        let look = |variable: &str| {
            let value = match variable {
                "SLOTWORK_DESIGN" => "double-list",
                "SLOTWORK_WAITING" => "busy-1000",
                _ => "fill-first",
            };
            Some(value.into())
        };
        assert_eq!(from_environment(look, "bitmap", &mut configuration).as_deref(), Ok("double-list"));
        assert_eq!((configuration.waiting, configuration.dispatch), (Waiting::BUSY_1000, Dispatch::FillFirst));
        let wrong = from_environment(|_| Some("sideways".into()), "bitmap", &mut configuration).unwrap_err();
        assert!(wrong.contains("'sideways'") && wrong.contains("settle, spin"), "{wrong}");
    }
}
