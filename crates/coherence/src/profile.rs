//! What a machine costs: a profile, read from TOML, each bad key named in a line.
//!
//! ```text
//!   [[cores]]   socket, count, speed            which cores there are, thread k on the k-th
//!   [line]      hit … memory, occupancies       what an access to a cache line costs, in nanoseconds
//!   [processor] exchange, fence, pause, …       what a core does by itself
//!   [system]    park, wake, switch, quantum, …  what the operating system does
//!   [page]      compress, submit, spread        the work of the page workload on this machine
//! ```
//!
//! Every key is needed, and no other is known: a misspelt one would silently mean the default.

mod read;

use std::fmt;
use std::path::Path;
use thiserror::Error;
use toml::Table;

/// Most cores of a profile: the width of a line's set of sharers.
pub const MAX_CORES: usize = 256;

/// One kind of core, and how many there are of it in a socket.
#[derive(Clone, Debug, PartialEq)]
pub struct CoreGroup {
    /// The socket they are in.
    pub socket: usize,
    /// How many.
    pub count: usize,
    /// How fast they compute; 1 is the speed that the profile's figures are for.
    pub speed: f64,
}

/// Which core the next thread runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Socket by socket in turn, as a scheduler does that spreads load.
    Spread,
    /// One socket first, as pinning in order does.
    Fill,
}

/// A machine. Times are in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// What it is called.
    pub name: String,
    /// What it stands for, in a line.
    pub description: String,
    /// Its cores.
    pub cores: Vec<CoreGroup>,
    /// Where threads go.
    pub order: Order,
    /// The costs that a number says, by key.
    costs: [f64; Cost::ALL.len()],
}

macro_rules! costs {
    ($($variant:ident $section:literal $key:literal $doc:literal;)+) => {
        /// A cost of a profile.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Cost {
            $(#[doc = $doc] $variant),+
        }

        impl Cost {
            /// All of them, in the order of the file.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Section and key.
            #[must_use]
            pub const fn key(self) -> (&'static str, &'static str) {
                match self { $(Self::$variant => ($section, $key)),+ }
            }

            /// What it is.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $doc),+ }
            }
        }
    };
}

costs! {
    Hit "line" "hit" "A load of a line that the core has, with the instructions around it.";
    Store "line" "store" "A plain store, as far as the core waits for it: the store buffer does the rest.";
    SameSocket "line" "same_socket" "A line comes from another core of the socket.";
    CrossSocket "line" "cross_socket" "A line comes from a core of another socket.";
    Memory "line" "memory" "A line comes from memory: nobody has it.";
    SharedOccupancy "line" "shared_occupancy" "How long a line that several read is busy with each new reader.";
    CrossOccupancy "line" "cross_occupancy" "The same, when the reader is in another socket than the last one.";
    Acknowledge "line" "acknowledge" "Each further sharer that has to give up its copy of a line.";
    Exchange "processor" "exchange" "A read-modify-write on a line that the core owns.";
    Fence "processor" "fence" "A sequentially consistent fence with an empty store buffer.";
    Pause "processor" "pause" "The spin hint.";
    Entries "processor" "store_buffer" "Stores that wait for their lines before the core waits too.";
    Overlap "processor" "overlap" "Lines that a core fetches at once when it need not wait for one to go on; 1: one after the other.";
    ExchangeOverlap "processor" "exchange_overlap" "The same, for read-modify-writes.";
    Allocate "processor" "allocate" "A call of the allocator: taking memory, or giving it back.";
    Park "system" "park" "A thread goes to sleep: the system call, until its core is free.";
    Unpark "system" "unpark" "A thread wakes another: the system call.";
    Wake "system" "wake" "From the call to the first instruction of the woken thread on an idle core.";
    Yield "system" "yield" "A yield when nobody else wants the core.";
    Switch "system" "switch" "A core goes from a thread to another.";
    Quantum "system" "quantum" "How long a thread keeps a core that another waits for.";
    Preempt "system" "preempt" "How long it keeps it when the other has just been woken.";
    InterruptEvery "system" "interrupt_every" "From one interruption of a core, by a tick or by what is below the system, to the next; 0: none.";
    Interrupt "system" "interrupt" "How long one takes.";
    Jitter "system" "jitter" "Part by which work, pauses and transfers differ from time to time.";
    Compress "page" "compress" "A worker handles a page.";
    Submit "page" "submit" "The submitter's own work for a page.";
    PageSpread "page" "spread" "Part by which the work on a page differs from page to page.";
}

impl Cost {
    /// From what to what it may be; no interruptions at all are possible too.
    #[must_use]
    pub const fn bounds(self) -> (f64, f64) {
        match self {
            Self::Entries | Self::Overlap | Self::ExchangeOverlap => (1.0, 1024.0),
            Self::Jitter | Self::PageSpread => (0.0, 0.9),
            Self::Quantum | Self::Preempt => (100.0, 1e12),
            // A hit that costs nothing would let a thread look for ever at one instant.
            Self::Hit | Self::Pause | Self::Yield => (0.1, 1e12),
            // Otherwise there would be no end of them.
            Self::InterruptEvery => (1000.0, 1e12),
            _ => (0.0, 1e12),
        }
    }
}

/// One thing that is wrong with a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The key, with its section.
    pub key: String,
    /// What is wrong.
    pub fault: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.key, self.fault)
    }
}

/// Why there is no such profile.
#[derive(Debug, Error)]
pub enum ProfileError {
    /// No file, and no profile of that name.
    #[error("no machine '{name}'; known are: {}; or a path to a profile", names().join(", "))]
    Unknown {
        /// The name asked for.
        name: String,
    },
    /// The file cannot be read.
    #[error("cannot read the profile '{path}': {source}")]
    Read {
        /// The path.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is no TOML.
    #[error("profile '{name}' is no TOML: {message}")]
    Syntax {
        /// The profile.
        name: String,
        /// Where and why, in a line.
        message: String,
    },
    /// Keys are missing, unknown, or have no possible value.
    #[error("profile '{name}': {}", faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Keys {
        /// The profile.
        name: String,
        /// Each.
        faults: Vec<Fault>,
    },
}

macro_rules! built_in {
    ($($name:literal),+) => {
        const BUILT_IN: &[(&str, &str)] = &[$(($name, include_str!(concat!("../profiles/", $name, ".toml")))),+];
    };
}

built_in!["2018-two-socket-server", "64-core-server", "256-core-server", "laptop-two-kinds"];

/// The names of the profiles that come with the program.
#[must_use]
pub fn names() -> Vec<&'static str> {
    BUILT_IN.iter().map(|&(name, _)| name).collect()
}

impl Profile {
    /// A profile that comes with the program, or one in a file.
    ///
    /// # Errors
    /// [`ProfileError`].
    pub fn named(name: &str) -> Result<Self, ProfileError> {
        if let Some((name, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
            return Self::parse(name, text);
        }
        let path = Path::new(name);
        if !path.exists() {
            return Err(ProfileError::Unknown { name: name.into() });
        }
        let text = std::fs::read_to_string(path).map_err(|source| ProfileError::Read { path: name.into(), source })?;
        Self::parse(name, &text)
    }

    /// Reads a profile; `origin` is what errors call it.
    ///
    /// # Errors
    /// [`ProfileError::Syntax`], or [`ProfileError::Keys`] with every key at fault.
    pub fn parse(origin: &str, text: &str) -> Result<Self, ProfileError> {
        let root: Table = text.parse().map_err(|error: toml::de::Error| {
            let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
            ProfileError::Syntax { name: origin.into(), message: format!("line {line}: {}", error.message()) }
        })?;
        read::profile(&root).map_err(|faults| ProfileError::Keys { name: origin.into(), faults })
    }

    /// One of its costs.
    #[must_use]
    pub fn cost(&self, cost: Cost) -> f64 {
        self.costs[cost as usize]
    }

    /// The same machine with another cost.
    #[must_use]
    pub fn with(mut self, cost: Cost, value: f64) -> Self {
        self.costs[cost as usize] = value;
        self
    }

    /// How many cores it has.
    #[must_use]
    pub fn core_count(&self) -> usize {
        self.cores.iter().map(|group| group.count).sum()
    }

    /// Socket and speed of each core, in the order in which threads get them.
    #[must_use]
    pub fn cores_in_order(&self) -> Vec<(usize, f64)> {
        let mut cores: Vec<(usize, f64)> =
            self.cores.iter().flat_map(|group| vec![(group.socket, group.speed); group.count]).collect();
        if self.order == Order::Spread {
            let mut rank = vec![0_usize; cores.len()];
            for at in 0..cores.len() {
                rank[at] = cores[..at].iter().filter(|core| core.0 == cores[at].0).count();
            }
            let mut order: Vec<usize> = (0..cores.len()).collect();
            order.sort_by_key(|&at| (rank[at], cores[at].0, at));
            cores = order.into_iter().map(|at| cores[at]).collect();
        }
        cores
    }

    /// As a file, with a comment for each key.
    #[must_use]
    pub fn to_toml(&self) -> String {
        use std::fmt::Write;
        let mut text = format!("name = {:?}\ndescription = {:?}\n", self.name, self.description);
        let order = if self.order == Order::Spread { "spread" } else { "fill" };
        let _ = writeln!(text, "order = \"{order}\"");
        for CoreGroup { socket, count, speed } in &self.cores {
            let _ = write!(text, "\n[[cores]]\nsocket = {socket}\ncount = {count}\nspeed = {speed:?}\n");
        }
        let mut last = "";
        for &cost in Cost::ALL {
            let (section, key) = cost.key();
            if section != last {
                let _ = write!(text, "\n[{section}]\n");
                last = section;
            }
            let _ = writeln!(text, "# {}\n{key} = {:?}", cost.meaning(), self.cost(cost));
        }
        text
    }
}
