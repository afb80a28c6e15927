//! Numbers that look random and are the same on every machine.

/// SplitMix64: ten lines, where a crate would change its stream with a version and a folder made twice would differ.
#[derive(Debug)]
pub(super) struct Random(u64);

impl Random {
    /// Each seed has a stream of its own.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0xd134_2543_de82_ef95))
    }

    /// At most `most`.
    pub(super) fn up_to(&mut self, most: u64) -> u64 {
        self.next() % most.saturating_add(1).max(1)
    }

    /// At least `least` and less than `end`, to four digits, as durations are given.
    pub(super) fn between(&mut self, least: f64, end: f64) -> f64 {
        let part = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        ((least + part * (end - least)) * 1e4).round() / 1e4
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
