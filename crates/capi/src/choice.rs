//! Design, waiting and dispatch, as they are chosen from C: by number, or by a word in the environment.

use slotwork::Dispatch;
use slotwork_workqueue::{Configuration, Waiting};
use std::ffi::OsString;

/// What the 2018 interface runs on if nothing else is asked for: the leader of the one-submitter ranking, see
/// notes/c-interface.md for what speaks against it.
pub(crate) const ONE_SUBMITTER: &str = "bitmap";
/// What `slotwork.h` runs on if nothing else is asked for: the best measured of those that take any number of submitters.
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

/// A variable of the environment, if it is set and not empty. `look` finds it.
///
/// # Errors
/// In words, when it is not UTF-8: so it is none of the known words, and to pass it over would hide that.
fn set(look: impl Fn(&str) -> Option<OsString>, variable: &str) -> Result<Option<String>, String> {
    let value = look(variable).filter(|value| !value.is_empty()).map(OsString::into_string).transpose();
    value.map_err(|value| format!("{variable} is not UTF-8: {}", value.display()))
}

/// The design that the environment asks for, or `default`. `look` finds a variable.
///
/// # Errors
/// In words. An unknown design is found out by whoever builds it.
pub(crate) fn design_from_environment(
    look: impl Fn(&str) -> Option<OsString>,
    default: &str,
) -> Result<String, String> {
    Ok(set(look, "SLOTWORK_DESIGN")?.unwrap_or_else(|| default.into()))
}

/// As [`design_from_environment`]; and its waiting and dispatch policy.
///
/// # Errors
/// In words, also when a policy is unknown.
pub(crate) fn from_environment(
    look: impl Fn(&str) -> Option<OsString>,
    default: &str,
    configuration: &mut Configuration,
) -> Result<String, String> {
    if let Some(name) = set(&look, "SLOTWORK_WAITING")? {
        configuration.waiting = named("waiting policy", &WAITINGS, &name)?;
    }
    if let Some(name) = set(&look, "SLOTWORK_DISPATCH")? {
        configuration.dispatch = named("dispatch policy", &DISPATCHES, &name)?;
    }
    design_from_environment(look, default)
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

    #[test]
    #[cfg(unix)]
    fn a_variable_that_is_not_utf_8_is_told_and_not_passed_over() {
        use std::os::unix::ffi::OsStringExt;
        for variable in ["SLOTWORK_DESIGN", "SLOTWORK_WAITING", "SLOTWORK_DISPATCH"] {
            let look = |looked: &str| (looked == variable).then(|| OsString::from_vec(b"bit\xffmap".into()));
            let words = from_environment(look, "bitmap", &mut Configuration::default()).unwrap_err();
            assert!(words.contains(&format!("{variable} is not UTF-8: bit")), "{words}");
        }
    }
}
