//! MD5, for stores that name a directory by the hash of a path.

const FIRST: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];

/// Left turns of the four steps that each of the four rounds repeats.
const TURNS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// The hash of a text in lower-case hexadecimal digits.
pub fn hex(text: &str) -> String {
    let mut data = text.as_bytes().to_vec();
    let bits = (data.len() as u64).wrapping_mul(8);
    data.push(0x80);
    // The length takes the last eight bytes of a block.
    let padded = (data.len() + 8).next_multiple_of(64) - 8;
    data.resize(padded, 0);
    data.extend_from_slice(&bits.to_le_bytes());
    let state = data.chunks_exact(64).fold(FIRST, block);
    state.iter().flat_map(|word| word.to_le_bytes()).map(|byte| format!("{byte:02x}")).collect()
}

/// The constant of a step: the digits of a sine.
fn constant(step: usize) -> u32 {
    (((step + 1) as f64).sin().abs() * 4_294_967_296.0) as u32
}

fn block(state: [u32; 4], bytes: &[u8]) -> [u32; 4] {
    let mut words = [0u32; 16];
    for (word, four) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = four.iter().rev().fold(0, |n, b| n << 8 | u32::from(*b));
    }
    let mut s = state;
    for step in 0..64 {
        let [a, b, c, d] = s;
        let (mixed, word) = match step / 16 {
            0 => ((b & c) | (!b & d), step),
            1 => ((d & b) | (!d & c), 5 * step + 1),
            2 => (b ^ c ^ d, 3 * step + 5),
            _ => (c ^ (b | !d), 7 * step),
        };
        let sum = a.wrapping_add(mixed).wrapping_add(constant(step)).wrapping_add(words[word % 16]);
        s = [d, b.wrapping_add(sum.rotate_left(TURNS[step / 16][step % 4])), b, c];
    }
    std::array::from_fn(|i| state[i].wrapping_add(s[i]))
}

#[cfg(test)]
mod tests {
    use super::hex;

    #[test]
    fn known_hashes() {
        assert_eq!(hex(""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(hex("abc"), "900150983cd24fb0d6963f7d28e17f72");
        let long = "12345678901234567890123456789012345678901234567890123456789012345678901234567890";
        assert_eq!(hex(long), "57edf4a22be3c955ac49da2e2107b67a");
        let ends = [(55, "ef1772b6dff9a122358552954ad0df65"), (56, "3b0c8ac703f828b04c6c197006d17218")];
        for (len, hash) in ends {
            assert_eq!(hex(&"a".repeat(len)), hash, "{len}");
        }
    }
}
