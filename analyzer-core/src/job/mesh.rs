//! The mesh of a job, read from the members of its groups and from what went over them.
//!
//! A dimension of a mesh splits the world into groups of one size and one stride. Dimensions nest: the stride of the
//! next one is the stride times the size of the one before, and the last one ends at the size of the world. The order in which
//! programs nest them is usual, not certain; so a dimension gets a name only if its place and its traffic agree, and
//! none where two readings are left.

use alloc::vec;
use alloc::vec::Vec;

use super::traffic::Traffic;
use super::{Group, GroupIdx};
use crate::tree_map::TreeMap;
use crate::tree_set::TreeSet;

/// Largest group that the innermost dimension may have and still be taken for tensor parallel: more than a node has seldom is.
const LARGEST_TENSOR_PARALLEL: u32 = 16;
/// Tensors of activations have at least batch and width; gradients and flat parameters come as one dimension.
const ACTIVATION_DIMS: core::ops::RangeInclusive<u32> = 2..=3;
/// Tokens sent to experts have up to three dimensions; four and more are attention heads.
const MOST_TOKEN_DIMS: u32 = 3;

/// What a mesh is inferred from.
pub(super) struct Clues<'a> {
    pub groups: &'a [Group],
    /// What the description of each group says, where it says something.
    pub words: &'a [Option<alloc::string::String>],
    /// By group.
    pub traffic: &'a [Traffic],
    pub world_size: u32,
}

/// Names of dimensions, by group; none where it is not certain.
#[derive(Debug, Default)]
pub(super) struct Mesh {
    names: Vec<Option<&'static str>>,
}

/// Stride and size of the groups of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    stride: u32,
    size: u32,
}

impl Shape {
    /// Where the next dimension begins.
    fn end(self) -> u32 {
        self.stride.saturating_mul(self.size)
    }

    /// The shape of a group if its members are evenly spaced and it is one of the groups that such a shape cuts the world into.
    fn of(members: &[u32], world_size: u32) -> Option<Shape> {
        let [first, second, ..] = *members else { return None };
        let size = members.len() as u32;
        let stride = second.checked_sub(first).filter(|&stride| stride > 0)?;
        let end = stride.checked_mul(size)?;
        let even = members.windows(2).all(|pair| matches!(pair, [a, b] if a.checked_add(stride) == Some(*b)));
        let fits = end <= world_size && world_size.is_multiple_of(end) && (first / stride).is_multiple_of(size);
        (even && fits && size < world_size).then_some(Shape { stride, size })
    }
}

/// Groups of one shape.
#[derive(Debug, Default)]
struct Family {
    groups: Vec<usize>,
    /// Those of them over which nothing went.
    silent: Vec<usize>,
    /// First members of the distinct groups.
    firsts: TreeSet<u32>,
    /// What a description calls it.
    word: Option<alloc::string::String>,
    /// Everything but the groups that exchange.
    traffic: Traffic,
    /// How many groups have traffic, and how many of them mostly exchange tokens.
    used: usize,
    exchanging: usize,
}

impl Family {
    /// Whether no two groups have the same members.
    fn is_single(&self) -> bool {
        self.groups.len() == self.firsts.len()
    }

    /// Whether all that is known of it is the exchange of tokens.
    fn is_expert(&self) -> bool {
        self.exchanging > 0 && self.exchanging == self.used
    }

    fn is_pipeline(&self) -> bool {
        self.traffic.is_messages() && !self.traffic.ways.is_ring()
    }

    /// Whether the traffic can be that of a tensor-parallel group.
    fn may_be_tensor(&self) -> bool {
        let traffic = &self.traffic;
        let sharded = traffic.gathers > 0 && traffic.sums == 0 && traffic.sum_dims < *ACTIVATION_DIMS.start();
        !traffic.is_messages() && !traffic.is_exchanges() && !sharded && traffic.sum_dims <= *ACTIVATION_DIMS.end()
    }

    fn carries_activations(&self) -> bool {
        ACTIVATION_DIMS.contains(&self.traffic.sum_dims)
    }
}

impl Mesh {
    /// Looks for the dimensions.
    pub fn of(clues: &Clues<'_>) -> Mesh {
        let mut mesh = Mesh { names: vec![None; clues.groups.len()] };
        let families = families(clues);
        let said = TreeSet::from_iter(clues.words.iter().filter_map(|word| word.as_deref()));
        for family in families.values() {
            for &at in &family.groups {
                if clues.traffic.get(at).is_some_and(exchanges_tokens) {
                    mesh.set(at, "ep", &said);
                }
            }
            if family.is_expert() && family.is_single() {
                family.silent.iter().for_each(|&at| mesh.set(at, "ep", &said));
            }
        }
        let expert = |family: &Family| family.is_expert() && family.is_single();
        let basis: TreeMap<Shape, &Family> = TreeMap::from_iter(
            families.iter().filter(|(_, family)| !expert(family)).map(|(&shape, family)| (shape, family)),
        );

        let mut pipelines = basis.iter().filter(|(shape, family)| {
            let by_traffic = shape.stride > 1 && family.word.is_none() && family.is_pipeline();
            shape.end() == clues.world_size && (by_traffic || family.word.as_deref() == Some("pp"))
        });
        let pipeline = match (pipelines.next(), pipelines.next()) {
            (Some((&shape, &family)), None) => Some((shape, family)),
            (None, None) => None,
            _ => return mesh,
        };
        if let Some((_, family)) = pipeline {
            mesh.set_family(family, "pp", &said);
        }
        let end = pipeline.map_or(clues.world_size, |(shape, _)| shape.stride);
        let dimensions: Vec<(Shape, &Family)> = finest(&basis, end)
            .into_iter()
            .filter_map(|shape| basis.get(&shape).map(|&family| (shape, family)))
            .collect();
        let Some(&(innermost, first)) = dimensions.first() else { return mesh };
        let small = innermost.size <= LARGEST_TENSOR_PARALLEL;
        let inferred = small && first.may_be_tensor() && (first.carries_activations() || dimensions.len() == 2);
        let tensor = match &first.word {
            Some(word) => word == "tp",
            None => inferred && !said.contains("tp"),
        };
        if !tensor {
            return mesh;
        }
        if let [_, (_, outer)] = dimensions.as_slice() {
            // A dimension that carries messages or exchanges is a split of the sequence, say, and no data parallelism; and then the
            // place of the innermost one says less, too.
            if outer.traffic.is_messages() || outer.traffic.is_exchanges() {
                if first.carries_activations() {
                    mesh.set_family(first, "tp", &said);
                }
                return mesh;
            }
            mesh.set_family(outer, "dp", &said);
        }
        mesh.set_family(first, "tp", &said);
        mesh
    }

    /// The name of the dimension that a group spans.
    pub fn dimension(&self, group: GroupIdx) -> Option<&'static str> {
        self.names.get(group.0 as usize).copied().flatten()
    }

    /// A word that a description uses for some group isn't given to another one.
    fn set(&mut self, at: usize, name: &'static str, said: &TreeSet<&str>) {
        if let Some(place) = self.names.get_mut(at)
            && place.is_none()
            && !said.contains(name)
        {
            *place = Some(name);
        }
    }

    fn set_family(&mut self, family: &Family, name: &'static str, said: &TreeSet<&str>) {
        if family.word.is_some() {
            return;
        }
        for &at in &family.groups {
            // Where expert groups have the same members, a group that was not used could be either.
            if family.exchanging == 0 || family.silent.binary_search(&at).is_err() {
                self.set(at, name, said);
            }
        }
    }
}

fn exchanges_tokens(traffic: &Traffic) -> bool {
    traffic.is_exchanges() && traffic.exchange_dims <= MOST_TOKEN_DIMS
}

/// Families that cover more than half of the world; what covers less may be anything.
fn families(clues: &Clues<'_>) -> TreeMap<Shape, Family> {
    let mut families: TreeMap<Shape, Family> = TreeMap::new();
    for (at, group) in clues.groups.iter().enumerate() {
        if group.assumed {
            continue;
        }
        let Some(shape) = Shape::of(&group.members, clues.world_size) else { continue };
        let family = families.entry(shape).or_default();
        family.groups.push(at);
        family.firsts.extend(group.members.first());
        if family.word.is_none() {
            family.word = clues.words.get(at).cloned().flatten();
        }
        match clues.traffic.get(at).filter(|traffic| traffic.calls > 0) {
            None => family.silent.push(at),
            Some(traffic) => {
                family.used += 1;
                if exchanges_tokens(traffic) {
                    family.exchanging += 1;
                } else {
                    family.traffic.add(traffic);
                }
            }
        }
    }
    families.retain(|shape, family| {
        let covered = family.firsts.len() as u64 * u64::from(shape.size);
        covered > u64::from(clues.world_size) / 2
    });
    families
}

/// The longest chain of dimensions from stride 1 to `end`; none if there is none or more than one.
fn finest(basis: &TreeMap<Shape, &Family>, end: u32) -> Vec<Shape> {
    /// The longest chain to a stride: its length, how many of that length there are, and its last dimension.
    struct Best {
        length: u32,
        ways: u32,
        last: Option<Shape>,
    }
    let mut best: TreeMap<u32, Best> = TreeMap::new();
    best.insert(1, Best { length: 0, ways: 1, last: None });
    // Strides ascend, so a chain to a stride is complete when its first shape comes.
    for &shape in basis.keys() {
        let Some(before) = best.get(&shape.stride) else { continue };
        let (length, ways) = (before.length + 1, before.ways);
        let place = best.entry(shape.end()).or_insert(Best { length: 0, ways: 0, last: None });
        if length > place.length {
            *place = Best { length, ways, last: Some(shape) };
        } else if length == place.length {
            place.ways = place.ways.saturating_add(ways);
        }
    }
    let mut chain = Vec::new();
    let mut at = end;
    while let Some(Best { ways: 1, last: Some(shape), .. }) = best.get(&at) {
        chain.push(*shape);
        at = shape.stride;
    }
    if at != 1 {
        chain.clear();
    }
    chain.reverse();
    chain
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::{String, ToString};

    use super::*;
    use crate::job::traffic::Ways;

    /// Groups of one shape that together are the whole world.
    fn split(groups: &mut Vec<(Vec<u32>, Traffic)>, world: u32, stride: u32, size: u32, traffic: Traffic) {
        for first in (0..world).filter(|first| (first / stride).is_multiple_of(size)) {
            groups.push(((0..size).map(|at| first + at * stride).collect(), traffic));
        }
    }

    fn groups_of(world: u32, shapes: &[(u32, u32, Traffic)]) -> Vec<(Vec<u32>, Traffic)> {
        let mut groups = Vec::new();
        for &(stride, size, traffic) in shapes {
            split(&mut groups, world, stride, size, traffic);
        }
        groups
    }

    /// The name of each shape's first group; `-` for none.
    fn names(world: u32, shapes: &[(u32, u32, Traffic)]) -> String {
        let all = groups_of(world, shapes);
        let starts = (0..shapes.len()).map(|at| groups_of(world, &shapes[..at]).len());
        let mesh = mesh(world, &all, &[]);
        let names: Vec<&str> = starts.map(|at| mesh.dimension(GroupIdx(at as u32)).unwrap_or("-")).collect();
        names.join(" ")
    }

    fn mesh(world: u32, groups: &[(Vec<u32>, Traffic)], words: &[(usize, &str)]) -> Mesh {
        let traffic: Vec<Traffic> = groups.iter().map(|item| item.1).collect();
        let groups: Vec<Group> = groups
            .iter()
            .enumerate()
            .map(|(at, item)| Group {
                name: format!("{at}"),
                desc: String::new(),
                members: item.0.clone(),
                assumed: false,
            })
            .collect();
        let mut said = vec![None; groups.len()];
        words.iter().for_each(|&(at, word)| said[at] = Some(word.to_string()));
        Mesh::of(&Clues { groups: &groups, words: &said, traffic: &traffic, world_size: world })
    }

    const NOTHING: Traffic = Traffic {
        calls: 0,
        messages: 0,
        exchanges: 0,
        gathers: 0,
        sums: 0,
        sum_dims: 0,
        exchange_dims: 0,
        ways: Ways { up: false, down: false, around: false },
    };
    const GRADIENTS: Traffic = Traffic { calls: 9, sums: 9, sum_dims: 1, ..NOTHING };
    const ACTIVATIONS: Traffic = Traffic { calls: 9, sums: 3, gathers: 6, sum_dims: 3, ..NOTHING };
    const SHARDS: Traffic = Traffic { calls: 9, gathers: 9, sum_dims: 1, ..NOTHING };
    const TOKENS: Traffic = Traffic { calls: 9, exchanges: 8, exchange_dims: 2, ..NOTHING };
    const HEADS: Traffic = Traffic { calls: 9, exchanges: 9, exchange_dims: 4, ..NOTHING };
    const STAGES: Traffic =
        Traffic { calls: 9, messages: 9, ways: Ways { up: true, down: true, around: false }, ..NOTHING };
    const RING: Traffic =
        Traffic { calls: 9, messages: 9, ways: Ways { up: true, down: false, around: true }, ..NOTHING };

    #[test]
    fn dimensions_from_members_and_traffic() {
        for (world, shapes, expected) in [
            (8, &[(1, 2, NOTHING), (2, 4, NOTHING)][..], "tp dp"),
            (8, &[(1, 2, GRADIENTS), (2, 4, GRADIENTS)], "tp dp"),
            (8, &[(1, 2, ACTIVATIONS), (2, 2, GRADIENTS), (4, 2, STAGES)], "tp dp pp"),
            (16, &[(1, 2, ACTIVATIONS), (2, 8, TOKENS)], "- ep"),
            (16, &[(1, 2, ACTIVATIONS), (2, 8, GRADIENTS), (2, 4, TOKENS), (8, 2, GRADIENTS)], "tp dp ep -"),
            // Only one dimension beside the stages: tensor or data parallel, its traffic must tell.
            (8, &[(1, 4, ACTIVATIONS), (4, 2, STAGES)], "tp pp"),
            (8, &[(1, 4, GRADIENTS), (4, 2, STAGES)], "- pp"),
            (8, &[(1, 4, NOTHING), (4, 2, STAGES)], "- pp"),
            // Groups of a node, and nothing across the nodes.
            (16, &[(1, 8, GRADIENTS)], "-"),
            // Sharded within the node, replicated across: the shape of a mesh, but not tensor parallel.
            (16, &[(1, 8, SHARDS), (8, 2, GRADIENTS)], "- -"),
            // A split sequence: a ring of keys and values, or an exchange of heads.
            (16, &[(1, 4, RING), (4, 4, GRADIENTS)], "- -"),
            (16, &[(1, 4, HEADS), (4, 4, GRADIENTS)], "- -"),
            (16, &[(1, 2, ACTIVATIONS), (2, 8, RING)], "tp -"),
            // Three dimensions without stages: which of the outer two is data parallel is not known.
            (16, &[(1, 2, ACTIVATIONS), (2, 2, GRADIENTS), (4, 4, GRADIENTS)], "tp - -"),
            // Two ways to cut the world into two dimensions.
            (64, &[(1, 2, NOTHING), (2, 32, NOTHING), (1, 4, NOTHING), (4, 16, NOTHING)], "- - - -"),
            // More than a node has.
            (64, &[(1, 32, GRADIENTS), (32, 2, GRADIENTS)], "- -"),
        ] {
            assert_eq!(names(world, shapes), expected, "{world} {shapes:?}");
        }
    }

    #[test]
    fn an_unused_group_beside_expert_groups_of_the_same_members_has_no_name() {
        let shapes = [(1, 2, ACTIVATIONS), (1, 2, TOKENS), (1, 2, NOTHING), (2, 2, GRADIENTS)].map(|shape| shape);
        assert_eq!(names(4, &shapes), "tp ep - dp");
    }

    #[test]
    fn half_of_the_groups_missing_is_too_little() {
        let mut groups = Vec::new();
        split(&mut groups, 16, 1, 2, ACTIVATIONS);
        split(&mut groups, 16, 2, 8, GRADIENTS);
        let some = |keep: usize| {
            let mut groups = groups.clone();
            groups.drain(..8 - keep);
            mesh(16, &groups, &[]).dimension(GroupIdx(0))
        };
        assert_eq!(some(5), Some("tp"));
        assert_eq!(some(4), None);
    }

    #[test]
    fn descriptions_go_before_what_is_inferred() {
        let mut groups = Vec::new();
        split(&mut groups, 8, 1, 2, ACTIVATIONS);
        split(&mut groups, 8, 2, 4, GRADIENTS);
        let outer = GroupIdx(4);
        let tp: Vec<_> = (0..4).map(|at| (at, "tp")).collect();
        assert_eq!(mesh(8, &groups, &tp).dimension(outer), Some("dp"));
        assert_eq!(mesh(8, &groups, &tp).dimension(GroupIdx(0)), None, "the description names it");
        // The innermost dimension is something else, so the other need not be data parallel.
        let shard: Vec<_> = (0..4).map(|at| (at, "dp_shard")).collect();
        assert_eq!(mesh(8, &groups, &shard).dimension(outer), None);
    }

    #[test]
    fn irregular_groups_are_no_dimension() {
        let check = |members: &[u32], world: u32| Shape::of(members, world);
        assert_eq!(check(&[0, 1, 3], 6), None);
        assert_eq!(check(&[1, 2], 8), None, "not where a cut of the world begins");
        assert_eq!(check(&[0, 12], 16), None);
        assert_eq!(check(&[0], 8), None);
        assert_eq!(check(&[0, u32::MAX - 1], u32::MAX), None);
        assert_eq!(check(&[1, 5], 8), Some(Shape { stride: 4, size: 2 }));
    }
}
