//! Reading a profile: every key at fault is named, with what it has to be.

use super::{CoreGroup, Cost, Fault, MAX_CORES, Order, Profile};
use toml::{Table, Value};

/// The profile of a file's table, or every key at fault.
pub(super) fn profile(root: &Table) -> Result<Profile, Vec<Fault>> {
    let mut reader = Reader { faults: Vec::new() };
    let profile = reader.profile(root);
    if reader.faults.is_empty() { Ok(profile) } else { Err(reader.faults) }
}

/// Reads a profile, and notes what is wrong on the way.
struct Reader {
    faults: Vec<Fault>,
}

impl Reader {
    fn fault(&mut self, key: impl Into<String>, fault: impl Into<String>) {
        self.faults.push(Fault { key: key.into(), fault: fault.into() });
    }

    fn profile(&mut self, root: &Table) -> Profile {
        let sections = ["name", "description", "order", "cores", "line", "processor", "system", "page"];
        self.known("", root, &sections);
        let name = self.text(root, "name");
        let description = self.text(root, "description");
        let order = match self.text(root, "order").as_str() {
            "spread" => Order::Spread,
            "fill" | "" => Order::Fill,
            other => {
                self.fault("order", format!("is 'spread' or 'fill', not '{other}'"));
                Order::Fill
            }
        };
        let cores = self.cores(root);
        for section in &sections[4..] {
            match root.get(*section) {
                None => self.fault(*section, "this section is missing"),
                Some(Value::Table(table)) => {
                    let keys = Cost::ALL.iter().map(|cost| cost.key()).filter(|(of, _)| of == section);
                    self.known(section, table, &keys.map(|(_, key)| key).collect::<Vec<_>>());
                }
                Some(_) => self.fault(*section, "is a section"),
            }
        }
        let costs = std::array::from_fn(|at| self.cost(root, Cost::ALL[at]));
        Profile { name, description, cores, order, costs }
    }

    fn known(&mut self, section: &str, table: &Table, keys: &[&str]) {
        for key in table.keys().filter(|key| !keys.contains(&key.as_str())) {
            let path = if section.is_empty() { key.clone() } else { format!("{section}.{key}") };
            self.fault(path, format!("is not known here; known are {}", keys.join(", ")));
        }
    }

    fn text(&mut self, table: &Table, key: &str) -> String {
        match table.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(_) => {
                self.fault(key, "is a text");
                String::new()
            }
            None => {
                self.fault(key, "is missing");
                String::new()
            }
        }
    }

    fn number(&mut self, path: String, value: Option<&Value>) -> Option<f64> {
        let number = match value {
            Some(Value::Float(number)) => *number,
            #[allow(clippy::cast_precision_loss, reason = "a cost is far below 2⁵³")]
            Some(Value::Integer(number)) => *number as f64,
            Some(_) => {
                self.fault(path, "is a number");
                return None;
            }
            None => {
                self.fault(path, "is missing");
                return None;
            }
        };
        if !(0.0..=1e12).contains(&number) {
            self.fault(path, format!("is {number}, and has to be at least 0 and finite"));
            return None;
        }
        Some(number)
    }

    fn cost(&mut self, root: &Table, cost: Cost) -> f64 {
        let (section, key) = cost.key();
        let Some(Value::Table(table)) = root.get(section) else { return 0.0 };
        let path = format!("{section}.{key}");
        let Some(number) = self.number(path.clone(), table.get(key)) else { return 0.0 };
        let (least, most) = cost.bounds();
        let never = cost == Cost::InterruptEvery && number == 0.0;
        if !never && !(least..=most).contains(&number) {
            self.fault(path, format!("is {number}, and has to be from {least} to {most}"));
        }
        number
    }

    fn cores(&mut self, root: &Table) -> Vec<CoreGroup> {
        let Some(Value::Array(groups)) = root.get("cores") else {
            self.fault("cores", "is missing: at least one [[cores]] with socket, count and speed");
            return Vec::new();
        };
        let mut cores = Vec::new();
        for (at, group) in groups.iter().enumerate() {
            let path = format!("cores[{at}]");
            let Value::Table(group) = group else {
                self.fault(path, "is a section");
                continue;
            };
            self.known(&path, group, &["socket", "count", "speed"]);
            let whole = |reader: &mut Self, key: &str, least: f64| {
                let number = reader.number(format!("{path}.{key}"), group.get(key))?;
                if number.fract() != 0.0 || number < least || number > MAX_CORES as f64 {
                    reader.fault(
                        format!("{path}.{key}"),
                        format!("is {number}, and is a whole number from {least} to {MAX_CORES}"),
                    );
                    return None;
                }
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just above")]
                Some(number as usize)
            };
            let (socket, count) = (whole(self, "socket", 0.0), whole(self, "count", 1.0));
            let speed = self.number(format!("{path}.speed"), group.get("speed"));
            if speed.is_some_and(|speed| speed < 0.01) {
                self.fault(format!("{path}.speed"), "has to be at least 0.01");
            }
            if let (Some(socket), Some(count), Some(speed)) = (socket, count, speed) {
                cores.push(CoreGroup { socket, count, speed });
            }
        }
        let count: usize = cores.iter().map(|group| group.count).sum();
        if count > MAX_CORES {
            self.fault("cores", format!("are {count} in all, and at most {MAX_CORES}"));
        }
        if groups.is_empty() {
            self.fault("cores", "is empty: a machine has cores");
        }
        cores
    }
}
