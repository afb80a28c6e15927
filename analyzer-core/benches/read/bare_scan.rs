//! The least that a reader of pickles can do: decode opcodes, keep a stack and a memo, and forget everything.

/// What stands on the bare stack.
type Bare = u64;

/// Decodes a pickle of protocol 2 and answers with the number of opcodes; `None` when it is not one.
pub fn bare_scan(bytes: &[u8]) -> Option<usize> {
    let mut stack: Vec<Bare> = Vec::new();
    let mut memo: Vec<Bare> = Vec::new();
    let mut at = 0;
    let mut steps = 0;
    let mut marks: Vec<usize> = Vec::new();
    loop {
        let op = *bytes.get(at)?;
        at += 1;
        steps += 1;
        match op {
            0x80 => at += 1,
            b'}' | b']' | b')' | b'N' | 0x88 | 0x89 => stack.push(u64::from(op)),
            b'(' => marks.push(stack.len()),
            b'u' | b'e' => stack.truncate(marks.pop()?),
            0x86 => {
                stack.pop()?;
                *stack.last_mut()? = 2;
            }
            b'X' => {
                let len = u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?) as usize;
                let text = bytes.get(at + 4..at + 4 + len)?;
                stack.push(core::str::from_utf8(text).ok()?.len() as u64);
                at += 4 + len;
            }
            b'K' => {
                stack.push(u64::from(*bytes.get(at)?));
                at += 1;
            }
            b'M' => {
                stack.push(u64::from(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?)));
                at += 2;
            }
            b'J' => {
                stack.push(i32::from_le_bytes(*bytes.get(at..)?.first_chunk()?) as u64);
                at += 4;
            }
            b'G' => {
                stack.push(u64::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
                at += 8;
            }
            0x8a => {
                let len = usize::from(*bytes.get(at)?);
                let number = bytes.get(at + 1..at + 1 + len)?;
                stack.push(number.first_chunk().map_or(0, |eight| u64::from_le_bytes(*eight)));
                at += 1 + len;
            }
            b'q' | b'r' => {
                let slot = if op == b'q' {
                    at += 1;
                    usize::from(*bytes.get(at - 1)?)
                } else {
                    at += 4;
                    u32::from_le_bytes(*bytes.get(at - 4..)?.first_chunk()?) as usize
                };
                if slot != memo.len() {
                    return None;
                }
                memo.push(*stack.last()?);
            }
            b'h' => {
                stack.push(*memo.get(usize::from(*bytes.get(at)?))?);
                at += 1;
            }
            b'j' => {
                stack.push(*memo.get(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?) as usize)?);
                at += 4;
            }
            b'.' => return (at == bytes.len() && stack.len() == 1).then_some(steps),
            _ => return None,
        }
    }
}
