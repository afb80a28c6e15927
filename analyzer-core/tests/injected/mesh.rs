//! Programs of a training job on a mesh: tensor-parallel ranks run fastest, then data, then pipeline. Experts share the data ranks.

use std::collections::BTreeMap;

use crate::op::{Collective, Message, Messages, Op, Part, Site};
use crate::plan::{Batching, Plan};
use crate::simulator::{Group, Job, Rank};

/// Place of a rank.
#[derive(Clone, Copy)]
struct Place {
    rank: u32,
    stage: u32,
    replica: u32,
    shard: u32,
}

struct Mesh<'a> {
    plan: &'a Plan,
    groups: Vec<Group>,
    /// The group of each kind that a rank belongs to.
    of: BTreeMap<(u32, &'static str), usize>,
}

/// The healthy job of a plan.
pub fn job(plan: &Plan) -> Job {
    let mut mesh = Mesh { plan, groups: Vec::new(), of: BTreeMap::new() };
    mesh.make_groups();
    let ranks = mesh.places().into_iter().map(|place| {
        let ahead = plan.ahead[place.rank as usize % 3];
        let program = Writer { mesh: &mesh, place, program: Vec::new() }.write();
        Rank { program, ahead, cpu_stop: None, device_stop: None }
    });
    let ranks = ranks.collect();
    Job { ranks, groups: mesh.groups, streams: plan.streams, lenient: plan.lenient }
}

impl Mesh<'_> {
    fn rank(&self, stage: u32, replica: u32, shard: u32) -> u32 {
        (stage * self.plan.dp + replica) * self.plan.tp + shard
    }

    fn places(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for stage in 0..self.plan.pp {
            for replica in 0..self.plan.dp {
                for shard in 0..self.plan.tp {
                    places.push(Place { rank: self.rank(stage, replica, shard), stage, replica, shard });
                }
            }
        }
        places
    }

    fn add(&mut self, desc: &'static str, members: Vec<u32>) {
        for &rank in &members {
            self.of.insert((rank, desc), self.groups.len());
        }
        self.groups.push(Group { desc, members });
    }

    /// Groups of the ranks that `key` puts together.
    fn split(&mut self, desc: &'static str, key: impl Fn(&Place) -> (u32, u32)) {
        let mut parts: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
        for place in self.places() {
            parts.entry(key(&place)).or_default().push(place.rank);
        }
        parts.into_values().for_each(|members| self.add(desc, members));
    }

    fn make_groups(&mut self) {
        let (tp, ep) = (self.plan.tp, self.plan.ep());
        let dp = self.plan.dp;
        self.split("default_pg", |_| (0, 0));
        self.split("mesh_tp", |place| (place.stage, place.replica));
        self.split("mesh_dp", |place| (place.stage, place.shard));
        self.split("mesh_pp", |place| (place.replica, place.shard));
        self.split("mesh_ep", move |place| (place.stage * dp + place.replica / ep, place.shard));
        // Further groups of the same members as others.
        self.split("norm", move |place| (place.stage * tp + place.shard, 0));
        self.split("checkpoint", |_| (0, 0));
    }
}

struct Writer<'a> {
    mesh: &'a Mesh<'a>,
    place: Place,
    program: Vec<Op>,
}

impl Writer<'_> {
    fn has(&self, bit: u32) -> bool {
        self.mesh.plan.menu & (1 << bit) != 0
    }

    fn group(&self, desc: &'static str) -> usize {
        self.mesh.of[&(self.place.rank, desc)]
    }

    fn members(&self, desc: &'static str) -> i64 {
        self.mesh.groups[self.group(desc)].members.len() as i64
    }

    fn push(&mut self, desc: &'static str, parts: Vec<Part>, end: Option<&'static str>, site: Site) {
        let group = self.group(desc);
        self.program.push(Op::Collective(Collective { group, parts, end, dtype: "Float", site }));
    }

    fn same(&mut self, desc: &'static str, name: &'static str, size: i64, site: Site) {
        self.push(desc, vec![Part { name, input: vec![size], output: vec![size] }], None, site);
    }

    fn gather(&mut self, desc: &'static str, size: i64, site: Site) {
        let output = vec![size * self.members(desc)];
        self.push(desc, vec![Part { name: "_all_gather_base", input: vec![size], output }], None, site);
    }

    fn scatter(&mut self, desc: &'static str, size: i64, site: Site) {
        let input = vec![size * self.members(desc)];
        self.push(desc, vec![Part { name: "_reduce_scatter_base", input, output: vec![size] }], None, site);
    }

    /// What a rank sends is what the next one gets.
    fn exchange(&mut self, batch: u32, back: bool, site: Site) {
        let members = &self.mesh.groups[self.group("mesh_ep")].members;
        let own = members.iter().position(|&member| member == self.place.rank).unwrap();
        let tokens = |at: usize| 8 + i64::from((members[at % members.len()] + batch) % 3);
        let (sent, got) = (tokens(own), tokens(own + 1));
        let (input, output) = if back { (vec![got], vec![sent]) } else { (vec![sent], vec![got]) };
        self.push("mesh_ep", vec![Part { name: "all_to_all", input, output }], None, site);
    }

    fn messages(&mut self, list: &[(bool, u32)], site: Site) {
        let plan = self.mesh.plan;
        let peer = |stage| self.mesh.rank(stage, self.place.replica, self.place.shard);
        let message = |&(send, stage): &(bool, u32)| Message { send, peer: peer(stage), size: 64, dtype: "Float" };
        let list: Vec<Message> = list.iter().filter(|item| item.1 < plan.pp).map(message).collect();
        if !list.is_empty() {
            let batched = plan.batching == Batching::Always || list.len() > 1;
            self.program.push(Op::Messages(Messages { group: self.group("mesh_pp"), list, batched, site }));
        }
    }

    fn forward(&mut self, batch: u32) {
        if self.place.stage == 0 {
            self.same("mesh_tp", "all_reduce", 96, ("embedding", 30));
        }
        for layer in 0..self.mesh.plan.layers {
            let line = 40 + layer * 10;
            if self.has(0) {
                self.gather("mesh_tp", 32, ("attention", line));
                self.scatter("mesh_tp", 32, ("attention", line + 1));
            } else {
                self.same("mesh_tp", "all_reduce", 128, ("attention", line));
            }
            if self.has(1) {
                self.exchange(batch, false, ("dispatch", line + 2));
                self.exchange(batch, true, ("combine", line + 3));
            }
        }
        if self.place.stage + 1 == self.mesh.plan.pp {
            self.same("mesh_tp", "all_reduce", 4, ("loss", 70));
        }
    }

    fn backward(&mut self) {
        for layer in (0..self.mesh.plan.layers).rev() {
            self.same("mesh_tp", "all_reduce", 128, ("backward", 80 + layer));
        }
    }

    /// One forward, one backward, with sends and receives of neighbours put together where both are due.
    fn pipeline(&mut self) {
        let (pp, stage, count) = (self.mesh.plan.pp, self.place.stage, self.mesh.plan.micro);
        let (next, before) = (stage + 1, stage.checked_sub(1).unwrap_or(pp));
        let warmup = (pp - stage - 1).min(count);
        let steady = count - warmup;
        for batch in 0..warmup {
            self.messages(&[(false, before)], ("recv_forward", 20));
            self.forward(batch);
            self.messages(&[(true, next)], ("send_forward", 21));
        }
        if steady > 0 {
            self.messages(&[(false, before)], ("recv_forward", 20));
        }
        for batch in 0..steady {
            self.forward(warmup + batch);
            self.messages(&[(true, next), (false, next)], ("send_forward_recv_backward", 23));
            self.backward();
            if batch + 1 == steady {
                self.messages(&[(true, before)], ("send_backward", 24));
            } else {
                self.messages(&[(true, before), (false, before)], ("send_backward_recv_forward", 25));
            }
        }
        for _ in 0..warmup {
            self.messages(&[(false, next)], ("recv_backward", 26));
            self.backward();
            self.messages(&[(true, before)], ("send_backward", 24));
        }
    }

    /// All forwards, then all backwards, one message at a time.
    fn one_by_one(&mut self) {
        let (pp, stage) = (self.mesh.plan.pp, self.place.stage);
        let (next, before) = (stage + 1, stage.checked_sub(1).unwrap_or(pp));
        for batch in 0..self.mesh.plan.micro {
            self.messages(&[(false, before)], ("recv_forward", 20));
            self.forward(batch);
            self.messages(&[(true, next)], ("send_forward", 21));
        }
        for _ in 0..self.mesh.plan.micro {
            self.messages(&[(false, next)], ("recv_backward", 26));
            self.backward();
            self.messages(&[(true, before)], ("send_backward", 24));
        }
    }

    fn gradients(&mut self) {
        let reduce = |size| Part { name: "all_reduce", input: vec![size], output: vec![size] };
        match (self.has(2), self.has(3)) {
            (false, false) => {
                self.same("mesh_dp", "all_reduce", 1000, ("sync_grads", 90));
                self.same("mesh_dp", "all_reduce", 500, ("sync_grads", 90));
            }
            (true, false) => {
                self.push("mesh_dp", vec![reduce(1000), reduce(500)], Some("coalesced"), ("sync_grads", 91));
            }
            (false, true) => {
                let part = Part { name: "allreduce_coalesced", input: vec![1000, 500], output: vec![1000, 500] };
                self.push("mesh_dp", vec![part], None, ("sync_grads", 92));
            }
            (true, true) => {
                self.scatter("mesh_dp", 250, ("reduce_grads", 93));
                self.gather("mesh_dp", 250, ("gather_params", 94));
            }
        }
    }

    fn write(mut self) -> Vec<Op> {
        self.same("default_pg", "broadcast", 7, ("setup", 5));
        for step in 0..self.mesh.plan.steps {
            if self.has(4) {
                self.same("mesh_tp", "broadcast", 16, ("load_batch", 15));
            }
            match self.mesh.plan.batching {
                Batching::Never => self.one_by_one(),
                Batching::Pairs | Batching::Always => self.pipeline(),
            }
            self.gradients();
            if self.has(5) {
                self.same("norm", "all_reduce", 1, ("grad_norm", 100));
            }
            self.same("default_pg", "all_reduce", 1, ("clip", 110));
            if self.has(6) {
                self.same("default_pg", "all_reduce", 2, ("log", 111));
            }
            if self.has(7) && step % 2 == 1 {
                self.same("checkpoint", "all_reduce_barrier", 1, ("save", 120));
            }
        }
        self.same("default_pg", "all_reduce_barrier", 1, ("finish", 130));
        self.program
    }
}
