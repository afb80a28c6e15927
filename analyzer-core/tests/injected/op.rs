//! What a rank is told to do.

/// Function and line of the user's program.
pub type Site = (&'static str, u32);

/// One operation of a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// All members of a group together.
    Collective(Collective),
    /// Messages that end together.
    Messages(Messages),
}

/// A collective, or a coalesced block of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Collective {
    pub group: usize,
    pub parts: Vec<Part>,
    /// Name of the entry that closes the block; `None` where there is one part and no block.
    pub end: Option<&'static str>,
    pub dtype: &'static str,
    pub site: Site,
}

/// One collective; each size is that of a tensor of one dimension.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub name: &'static str,
    pub input: Vec<i64>,
    pub output: Vec<i64>,
}

/// One send or receive, or a batch of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Messages {
    pub group: usize,
    pub list: Vec<Message>,
    pub batched: bool,
    pub site: Site,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Message {
    pub send: bool,
    pub peer: u32,
    pub size: i64,
    pub dtype: &'static str,
}

impl Op {
    /// The group in which it runs.
    pub fn group(&self) -> usize {
        match self {
            Op::Collective(op) => op.group,
            Op::Messages(op) => op.group,
        }
    }

    /// The collective, if it is one.
    pub fn collective(&self) -> Option<&Collective> {
        match self {
            Op::Collective(op) => Some(op),
            Op::Messages(_) => None,
        }
    }
}

impl Collective {
    /// Whether the devices of two members can run these together; totals of all_to_all are not asked.
    pub fn fits(&self, other: &Collective) -> bool {
        let part = |(a, b): (&Part, &Part)| a.name == b.name && a.agreed() == b.agreed();
        self.end == other.end
            && self.dtype == other.dtype
            && self.parts.len() == other.parts.len()
            && self.parts.iter().zip(&other.parts).all(part)
    }

    /// What an all_to_all sends and receives.
    pub fn exchanged(&self) -> (i64, i64) {
        let all_to_all = self.parts.iter().filter(|part| part.name == "all_to_all");
        all_to_all.fold((0, 0), |sum, part| (sum.0 + part.input[0], sum.1 + part.output[0]))
    }
}

impl Part {
    /// The sizes on which all members must agree.
    fn agreed(&self) -> &[i64] {
        match self.name {
            "all_to_all" => &[],
            "_reduce_scatter_base" => &self.output,
            _ => &self.input,
        }
    }

    /// Makes its tensors larger by one element per rank, as far as the operation allows: still a legal call by itself.
    pub fn grow(&mut self, members: i64) {
        match self.name {
            "_all_gather_base" => {
                self.input[0] += 1;
                self.output[0] += members;
            }
            "_reduce_scatter_base" => {
                self.input[0] += members;
                self.output[0] += 1;
            }
            "all_to_all" => self.input[0] += 1,
            _ => {
                self.input[0] += 1;
                self.output[0] += 1;
            }
        }
    }
}
