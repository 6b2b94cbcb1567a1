//! Profiles: those that come with the program, and what is said of bad ones.

mod support;

use slotwork_coherence::{Cost, Order, Profile, ProfileError, names};

fn faults(change: impl Fn(String) -> String) -> Vec<String> {
    let good = Profile::named("2018-two-socket-server").unwrap().to_toml();
    match Profile::parse("mine", &change(good)) {
        Err(ProfileError::Keys { faults, .. }) => faults.iter().map(ToString::to_string).collect(),
        Err(other) => vec![other.to_string()],
        Ok(_) => Vec::new(),
    }
}

#[test]
fn every_built_in_profile_is_whole_and_reads_back_as_written() {
    for name in names() {
        let profile = Profile::named(name).unwrap();
        assert_eq!(profile.name, name);
        assert_eq!(Profile::parse(name, &profile.to_toml()).unwrap(), profile, "{name}");
    }
    assert_eq!(Profile::named("64-core-server").unwrap().core_count(), 64);
    assert_eq!(Profile::named("256-core-server").unwrap().core_count(), 256);
}

#[test]
fn each_bad_key_has_a_line_that_names_it() {
    assert_eq!(faults(|good| good), [""; 0]);
    let one = |change: &dyn Fn(String) -> String, words: &[&str]| {
        let lines = faults(change);
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert_eq!(lines[0].lines().count(), 1, "{lines:?}");
        assert!(words.iter().all(|word| lines[0].contains(word)), "{lines:?}");
    };
    one(
        &|good| good.replace("count = 36", "count = 0").replacen("count = 0", "count = 36", 1),
        &["cores[1].count", "0"],
    );
    one(&|good| good.replace("pause = 56.0", "pause = -1.0"), &["processor.pause", "-1"]);
    one(&|good| good.replace("pause = 56.0\n", ""), &["processor.pause", "missing"]);
    one(&|good| good.replace("pause = 56.0", "pause = \"long\""), &["processor.pause", "number"]);
    one(&|good| good.replace("pause = 56.0", "pause = inf"), &["processor.pause", "inf"]);
    one(&|good| good.replace("pause = 56.0", "pause = 56.0\npauze = 1.0"), &["processor.pauze", "not known"]);
    one(&|good| format!("{good}\n[cache]\nlevels = 3\n"), &["cache", "not known"]);
    one(&|good| good.replace("\"spread\"", "\"sideways\""), &["order", "sideways"]);
    one(&|good| good.replace("jitter = 0.05", "jitter = 5"), &["system.jitter"]);
    one(&|good| good.replace("\nsocket = 1", "\nsocket = 0.5"), &["cores[1].socket"]);
    one(&|good| good.replace("count = 36", "count = 200"), &["cores", "400"]);
    one(&|good| good.replace("[line]", "[lines"), &["no TOML", "line"]);
    let several =
        faults(|good| good.replace("pause = 56.0", "").replace("hit = 1.6", "hit = -2").replace("store", "shop"));
    assert!(several.len() > 3, "all are named at once: {several:?}");
}

#[test]
fn no_cores_at_all_are_refused() {
    let start = |good: &String| good.find("[[cores]]").unwrap();
    let end = |good: &String| good.find("[line]").unwrap();
    let lines = faults(|good| format!("{}{}", &good[..start(&good)], &good[end(&good)..]));
    assert!(lines.iter().any(|line| line.starts_with("cores:")), "{lines:?}");
}

#[test]
fn an_unknown_machine_is_told_which_there_are() {
    let error = Profile::named("no-such-machine").unwrap_err().to_string();
    assert!(error.contains("2018-two-socket-server") && error.lines().count() == 1, "{error}");
}

#[test]
fn spread_alternates_between_sockets_and_fill_does_not() {
    let sockets = |order| {
        let mut profile = Profile::named("2018-two-socket-server").unwrap();
        profile.order = order;
        profile.cores_in_order().iter().map(|core| core.0).take(4).collect::<Vec<_>>()
    };
    assert_eq!(sockets(Order::Spread), [0, 1, 0, 1]);
    assert_eq!(sockets(Order::Fill), [0, 0, 0, 0]);
    let all = Profile::named("2018-two-socket-server").unwrap().cores_in_order();
    assert_eq!((all.len(), all.iter().filter(|core| core.0 == 1).count()), (72, 36));
    assert!((Profile::named("laptop-two-kinds").unwrap().cost(Cost::Hit) - 1.1).abs() < 1e-9);
}
