//! Detects text encodings that no format uses.

/// Returns the name, as used by `iconv`, of a text's encoding if it does not use single bytes. The
/// encoding is detected by its byte-order mark, or if nearly all letters are ASCII with zero bytes
/// between them.
pub(crate) fn encoding(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => return Some("UTF-32"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => return Some("UTF-16"),
        _ => {}
    }
    let written = |width: usize, place: usize| {
        let letters = bytes.chunks_exact(width);
        let all = letters.len();
        let plain = letters.filter(|letter| {
            let mut others = letter.iter().enumerate().filter(|(at, _)| *at != place);
            is_written(letter[place]) && others.all(|(_, &byte)| byte == 0)
        });
        all >= MIN_LETTERS && 10 * plain.count() >= 9 * all
    };
    [
        ("UTF-16LE", 2, 0),
        ("UTF-16BE", 2, 1),
        ("UTF-32LE", 4, 0),
        ("UTF-32BE", 4, 3),
    ]
    .into_iter()
    .find_map(|(name, width, place)| written(width, place).then_some(name))
}

/// Minimum number of letters that distinguishes text from numbers.
const MIN_LETTERS: usize = 8;

fn is_written(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_any_encoding_is_distinguished_from_numbers() {
        let text = "128166372003061629,hm,0,Read,4096,512,1\n";
        let wide = |little: bool| -> Vec<u8> {
            let units = text.encode_utf16();
            units
                .flat_map(|unit| {
                    if little {
                        unit.to_le_bytes()
                    } else {
                        unit.to_be_bytes()
                    }
                })
                .collect()
        };
        let mark = |mark: &[u8], text: Vec<u8>| [mark, &text].concat();
        assert_eq!(encoding(&wide(true)), Some("UTF-16LE"));
        assert_eq!(encoding(&wide(false)), Some("UTF-16BE"));
        assert_eq!(encoding(&mark(b"\xff\xfe", wide(true))), Some("UTF-16"));
        let long: Vec<u8> = text
            .chars()
            .flat_map(|c| u32::from(c).to_le_bytes())
            .collect();
        assert_eq!(encoding(&long), Some("UTF-32LE"));
        assert_eq!(encoding(text.as_bytes()), None);
        let keys: Vec<u8> = (40..120_u32).flat_map(u32::to_le_bytes).collect();
        assert_eq!(encoding(&keys[..4]), None, "too few letters");
        let keys: Vec<u8> = (900_000..900_080_u32).flat_map(u32::to_le_bytes).collect();
        assert_eq!(encoding(&keys), None);
    }
}
