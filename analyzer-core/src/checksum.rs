//! CRC-32, as gzip uses it.

/// The checksum of `bytes`.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use crc32fast::hash as crc32;
#[cfg(target_arch = "wasm32")]
pub(crate) use made_tables::crc32;

/// Eight bytes at a time, by tables that are made when they are needed: sixteen kilobytes that look random are much of a page, and the instructions for
/// which it is worth to carry another crate are not there in wasm.
#[cfg(any(target_arch = "wasm32", test))]
mod made_tables {
    const POLYNOMIAL: u32 = 0xedb8_8320;

    type Tables = [[u32; 256]; 8];

    /// The checksum of `bytes`.
    pub(crate) fn crc32(bytes: &[u8]) -> u32 {
        let tables = tables();
        let at = |table: usize, byte: u32| tables[table & 7][(byte & 0xff) as usize];
        let mut sum = u32::MAX;
        let (eights, rest) = bytes.as_chunks::<8>();
        for &[a, b, c, d, e, f, g, h] in eights {
            let low = sum ^ u32::from_le_bytes([a, b, c, d]);
            let high = u32::from_le_bytes([e, f, g, h]);
            sum = at(7, low) ^ at(6, low >> 8) ^ at(5, low >> 16) ^ at(4, low >> 24);
            sum ^= at(3, high) ^ at(2, high >> 8) ^ at(1, high >> 16) ^ at(0, high >> 24);
        }
        for &byte in rest {
            sum = at(0, sum ^ u32::from(byte)) ^ (sum >> 8);
        }
        !sum
    }

    fn tables() -> Tables {
        let mut tables = [[0; 256]; 8];
        for (byte, place) in (0_u32..).zip(&mut tables[0]) {
            *place = byte;
            for _ in 0..8 {
                *place = (*place >> 1) ^ (POLYNOMIAL & (*place & 1).wrapping_neg());
            }
        }
        for further in 1..8 {
            for byte in 0..256 {
                let before = tables[further - 1][byte];
                tables[further][byte] = tables[0][(before & 0xff) as usize] ^ (before >> 8);
            }
        }
        tables
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::{crc32, made_tables};

    #[test]
    fn both_give_the_same_sum() {
        assert_eq!(made_tables::crc32(b"123456789"), 0xcbf4_3926);
        let bytes: Vec<u8> = (0..1000_u32).map(|at| ((at * at) >> 3) as u8).collect();
        for len in 0..bytes.len() {
            assert_eq!(made_tables::crc32(&bytes[..len]), crc32(&bytes[..len]), "{len} bytes");
        }
    }
}
