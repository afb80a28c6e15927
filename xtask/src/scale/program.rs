//! What every rank of the job runs, over and over.

/// The dimension of the mesh that an operation goes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dimension {
    /// All ranks.
    World,
    /// Ranks in a row.
    Tp,
    /// Ranks at the same place of their rows.
    Dp,
}

impl Dimension {
    /// In the order in which the job makes its groups.
    pub(super) const ALL: [Self; 3] = [Self::World, Self::Tp, Self::Dp];

    /// Its place in [`Self::ALL`], which is also what each rank counts its groups by.
    pub(super) fn index(self) -> usize {
        self as usize
    }

    /// What the job calls such groups.
    pub(super) fn description(self) -> &'static str {
        ["default_pg", "mesh_tp", "mesh_dp"][self.index()]
    }
}

/// The operations of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    AllGather,
    ReduceScatter,
    AllReduce,
}

impl Op {
    pub(super) const ALL: [Self; 3] = [Self::AllGather, Self::ReduceScatter, Self::AllReduce];

    /// As the recorder writes it.
    pub(super) fn name(self) -> &'static str {
        ["nccl:_all_gather_base", "nccl:_reduce_scatter_base", "nccl:all_reduce"][self as usize]
    }
}

/// One operation of the training step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) dimension: Dimension,
    pub(super) op: Op,
    /// Elements that go in and that come out.
    pub(super) elements: [u32; 2],
    /// The layer whose call it is, which shows in the stack.
    pub(super) layer: u32,
}

/// The mesh and the training step.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) world: u32,
    pub(super) tp: u32,
    step: Vec<Call>,
}

impl Program {
    /// A step of `layers` layers over `world` ranks, of which `tp` in a row are tensor parallel.
    pub(super) fn new(world: u32, tp: u32, layers: u32) -> Self {
        let tp = tp.min(world);
        let shards = 4096 * (world / tp);
        let call = |dimension, op, elements, layer| Call { dimension, op, elements, layer };
        let mut step: Vec<Call> = (0..layers)
            .flat_map(|layer| {
                [
                    call(Dimension::Dp, Op::AllGather, [4096, shards], layer),
                    call(Dimension::Tp, Op::AllReduce, [2048, 2048], layer),
                    call(Dimension::Tp, Op::AllReduce, [1024, 1024], layer),
                    call(Dimension::Dp, Op::ReduceScatter, [shards, 4096], layer),
                ]
            })
            .collect();
        step.push(call(Dimension::World, Op::AllReduce, [1, 1], 0));
        Self { world, tp, step }
    }

    /// The operation that has number `index` since the job began.
    pub(super) fn call(&self, index: u64) -> Call {
        let length = self.step.len() as u64;
        self.step[(index % length) as usize]
    }

    /// How many operations on `dimension` come before number `index`.
    pub(super) fn calls_before(&self, index: u64, dimension: Dimension) -> u64 {
        let length = self.step.len() as u64;
        let count = |calls: &[Call]| calls.iter().filter(|call| call.dimension == dimension).count() as u64;
        index / length * count(&self.step) + count(&self.step[..(index % length) as usize])
    }

    /// Which of the groups of `dimension` the rank is in.
    pub(super) fn group(&self, dimension: Dimension, rank: u32) -> u32 {
        match dimension {
            Dimension::World => 0,
            Dimension::Tp => rank / self.tp,
            Dimension::Dp => rank % self.tp,
        }
    }

    /// The members of the rank's group.
    pub(super) fn members(&self, dimension: Dimension, rank: u32) -> Vec<u32> {
        match dimension {
            Dimension::World => (0..self.world).collect(),
            Dimension::Tp => (rank / self.tp * self.tp..rank / self.tp * self.tp + self.tp).collect(),
            Dimension::Dp => (rank % self.tp..self.world).step_by(self.tp as usize).collect(),
        }
    }

    /// The name of the rank's group: groups are numbered over the whole job.
    pub(super) fn group_name(&self, dimension: Dimension, rank: u32) -> String {
        let before = match dimension {
            Dimension::World => 0,
            Dimension::Tp => 1,
            Dimension::Dp => 1 + self.world / self.tp,
        };
        (before + self.group(dimension, rank)).to_string()
    }
}
