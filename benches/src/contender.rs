//! What takes part in a run: a design without its type.

use crate::peers;
use crate::record::Kind;
use crate::request::Request;
use crate::traced::{self, Pace, Trace};
use crate::usage;
use crate::workload::{self, Cell, Conditions, Window, WorkloadError};
use slotwork::{Claims, Design, Native, Pool, Shape};
use slotwork_catalog::{UnknownDesign, Visitor, visit_all, visit_named};

/// A design as a contender.
#[derive(Clone, Debug)]
pub struct Contender {
    /// The name it is shown by.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// What it says of itself.
    pub claims: Claims,
    /// Bytes of one slot of its pool, payload of the workload included.
    pub slot_bytes: usize,
    run: RunWorkload,
    trace: fn(Cell, Conditions<'_>, Pace) -> Result<Option<Trace>, WorkloadError>,
    bytes: fn(Shape) -> Option<usize>,
}

type RunWorkload = fn(Cell, Conditions<'_>) -> Result<Option<Window>, WorkloadError>;

fn bytes_per_slot<D: Design>(shape: Shape) -> Option<usize> {
    let before = usage::allocated()?;
    let pool = Pool::<Request, D::Queue<Native>>::new(D::build(shape).ok()?, |_| Request::unused()).ok()?;
    let handles = pool.split();
    let bytes = usage::allocated()?.checked_sub(before)?;
    drop(handles);
    Some(bytes.div_ceil(shape.slots()))
}

/// What is behind the name of a contender that takes part a second time.
pub const AGAIN: &str = " (again)";

/// Which peers take part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Peers {
    /// Designs only.
    #[default]
    None,
    /// The reference, the fastest for few threads and for many, a usual channel, and a locked deque.
    Some,
    /// All eleven.
    All,
}

impl Contender {
    /// The contender of a peer.
    #[must_use]
    pub fn peer<D: Design>() -> Self {
        Self { kind: Kind::Peer, ..Self::of::<D>() }
    }

    /// The contender of a design, whether it is in the catalog or not.
    #[must_use]
    pub fn of<D: Design>() -> Self {
        Self {
            name: D::NAME.into(),
            kind: Kind::Design,
            claims: D::CLAIMS,
            slot_bytes: Pool::<Request, D::Queue<Native>>::SLOT_BYTES,
            run: workload::run::<D>,
            trace: traced::trace::<D>,
            bytes: bytes_per_slot::<D>,
        }
    }

    /// The same as a floor: shown, and never ranked.
    pub(crate) fn into_a_floor(self) -> Self {
        Self { kind: Kind::Floor, ..self }
    }

    /// The same as a floor, with another way to run.
    pub(crate) fn into_floor(self, run: RunWorkload) -> Self {
        Self { run, ..self.into_a_floor() }
    }

    /// The same under another name: what is measured twice must tie.
    #[must_use]
    pub fn again(&self) -> Self {
        Self { name: format!("{}{AGAIN}", self.name), ..self.clone() }
    }

    /// Runs the workload with a trace of each request; none when it was interrupted.
    ///
    /// # Errors
    /// See [`workload::run`].
    pub fn trace(&self, cell: Cell, conditions: Conditions<'_>, pace: Pace) -> Result<Option<Trace>, WorkloadError> {
        (self.trace)(cell, conditions, pace)
    }

    /// Bytes of one slot of a queue of this shape, with its share of the whole queue; the slot of the pool alone where
    /// the allocator does not say more.
    ///
    /// It counts what is allocated while it builds one, so nobody else should allocate meanwhile.
    #[must_use]
    pub fn bytes_per_slot(&self, shape: Shape) -> Option<usize> {
        (self.bytes)(shape)
    }

    /// Runs the workload once; none when it was interrupted.
    ///
    /// # Errors
    /// See [`workload::run`].
    pub fn run(&self, cell: Cell, conditions: Conditions<'_>) -> Result<Option<Window>, WorkloadError> {
        (self.run)(cell, conditions)
    }
}

struct Enter;

impl Visitor for Enter {
    type Output = Contender;

    fn visit<D: Design>(&mut self) -> Contender {
        Contender::of::<D>()
    }
}

/// Every design of the catalog, in its order.
#[must_use]
pub fn catalog() -> Vec<Contender> {
    visit_all(&mut Enter)
}

/// The peers that were asked for, in the order in which they are shown.
#[must_use]
pub fn peers(which: Peers) -> Vec<Contender> {
    struct Meet;
    impl Visitor for Meet {
        type Output = Contender;
        fn visit<D: Design>(&mut self) -> Contender {
            Contender::peer::<D>()
        }
    }
    let mut all = peers::visit_peers(&mut Meet);
    all.retain(|peer| match which {
        Peers::None => false,
        Peers::Some => peers::SOME.contains(&peer.name.as_str()),
        Peers::All => true,
    });
    all
}

/// The design or peer of this name.
///
/// # Errors
/// [`UnknownDesign`].
pub fn named(name: &str) -> Result<Contender, UnknownDesign> {
    let peer = || peers(Peers::All).into_iter().find(|peer| peer.name == name);
    visit_named(name, &mut Enter).or_else(|unknown| peer().ok_or(unknown))
}
