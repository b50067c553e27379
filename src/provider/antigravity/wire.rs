//! Just enough of the protocol buffers' wire format to find a field.

/// The bytes of the first field at this path of numbers: a message in a message, a text at last.
pub fn field<'b>(bytes: &'b [u8], path: &[u64]) -> Option<&'b [u8]> {
    let (first, rest) = path.split_first()?;
    let mut fields = Fields { rest: bytes };
    let inner = fields.find_map(|(number, value)| match value {
        Wire::Bytes(b) if number == *first => Some(b),
        _ => None,
    })?;
    if rest.is_empty() { Some(inner) } else { field(inner, rest) }
}

/// A text at a path.
pub fn text(bytes: &[u8], path: &[u64]) -> Option<String> {
    let text = String::from_utf8_lossy(field(bytes, path)?).into_owned();
    (!text.is_empty()).then_some(text)
}

/// A number in the message at a path.
pub fn number(bytes: &[u8], path: &[u64], number: u64) -> Option<u64> {
    let mut fields = Fields { rest: field(bytes, path)? };
    fields.find_map(|(n, value)| match value {
        Wire::Number(v) if n == number => Some(v),
        _ => None,
    })
}

enum Wire<'b> {
    Number(u64),
    Bytes(&'b [u8]),
    Fixed,
}

/// The fields of a message, up to the first that is none.
struct Fields<'b> {
    rest: &'b [u8],
}

impl<'b> Fields<'b> {
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn take(&mut self, len: u64) -> Option<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(usize::try_from(len).ok()?)?;
        self.rest = rest;
        Some(taken)
    }
}

impl<'b> Iterator for Fields<'b> {
    type Item = (u64, Wire<'b>);

    fn next(&mut self) -> Option<Self::Item> {
        let tag = self.varint()?;
        let value = match tag & 7 {
            0 => Wire::Number(self.varint()?),
            1 => self.take(8).map(|_| Wire::Fixed)?,
            2 => {
                let len = self.varint()?;
                Wire::Bytes(self.take(len)?)
            }
            5 => self.take(4).map(|_| Wire::Fixed)?,
            _ => return None,
        };
        Some((tag >> 3, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_and_rubbish_is_not() {
        // 1: 150, 5: { 1: { 1: 300 } }, 19: { 2: "hi" }
        let m = b"\x08\x96\x01\x2a\x05\x0a\x03\x08\xac\x02\x9a\x01\x04\x12\x02hi";
        assert_eq!(text(m, &[19, 2]).as_deref(), Some("hi"));
        assert_eq!(number(m, &[5, 1], 1), Some(300));
        assert_eq!(field(m, &[7]), None);
        for cut in 0..m.len() {
            let _ = (text(&m[..cut], &[19, 2]), number(&m[..cut], &[5, 1], 1));
        }
        assert_eq!(field(&[0xff; 40], &[1]), None);
        assert_eq!(field(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x", &[1]), None);
    }
}
