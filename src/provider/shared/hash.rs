//! Hashes by which stores name the directory of a project, in lower-case hexadecimal digits.

use md5::Md5;
use sha2::{Digest, Sha256};

/// SHA-256 of a text.
pub fn sha256(text: &str) -> String {
    hex(&Sha256::digest(text))
}

/// MD5 of a text.
pub fn md5(text: &str) -> String {
    hex(&Md5::digest(text))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-4 and RFC 1321.
    #[test]
    fn known_hashes() {
        assert_eq!(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(md5("abc"), "900150983cd24fb0d6963f7d28e17f72");
    }
}
