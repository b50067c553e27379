//! Just enough of the protobuf wire format to walk a chat.

/// A field's value; groups and the 4- and 8-byte kinds are passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'b> {
    Number(u64),
    Bytes(&'b [u8]),
}

/// The fields of a message, in order, up to the first that is malformed.
pub fn fields(bytes: &[u8]) -> Fields<'_> {
    Fields { rest: bytes }
}

/// See [`fields`].
pub struct Fields<'b> {
    rest: &'b [u8],
}

impl<'b> Iterator for Fields<'b> {
    type Item = (u64, Value<'b>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let tag = self.varint()?;
            let field = tag >> 3;
            match tag & 7 {
                0 => return Some((field, Value::Number(self.varint()?))),
                1 => drop(self.take(8)?),
                2 => {
                    let len = usize::try_from(self.varint()?).ok()?;
                    return Some((field, Value::Bytes(self.take(len)?)));
                }
                5 => drop(self.take(4)?),
                _ => return None,
            }
        }
    }
}

impl<'b> Fields<'b> {
    fn varint(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let (first, rest) = self.rest.split_first()?;
            self.rest = rest;
            number |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn take(&mut self, len: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }
}

/// The first field of this number that holds bytes.
pub fn bytes(message: &[u8], field: u64) -> Option<&[u8]> {
    fields(message).find_map(|(f, v)| match v {
        Value::Bytes(b) if f == field => Some(b),
        _ => None,
    })
}

/// The first field of this number that holds a number.
pub fn number(message: &[u8], field: u64) -> Option<u64> {
    fields(message).find_map(|(f, v)| match v {
        Value::Number(n) if f == field => Some(n),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_up_to_what_is_malformed() {
        let message = [0x0a, 2, b'h', b'i', 0x10, 0xac, 0x02, 0x1d, 1, 2, 3, 4, 0x22, 9, b'x'];
        let all: Vec<_> = fields(&message).collect();
        assert_eq!(all, [(1, Value::Bytes(b"hi")), (2, Value::Number(300))]);
        assert_eq!(
            (bytes(&message, 1), number(&message, 2), bytes(&message, 4)),
            (Some(&b"hi"[..]), Some(300), None)
        );
        for odd in
            [&[0xff; 20][..], &[0x0b], &[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], &[]]
        {
            assert_eq!(fields(odd).count(), 0);
        }
    }
}
