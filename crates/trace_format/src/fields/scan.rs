//! Finds the ends of fields and converts digits, eight bytes at a time.

/// Maximum number of decimal digits that always fit into 64 bits.
pub(super) const SAFE: usize = 19;

/// Returns a byte repeated eight times.
const fn eight_of(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Returns the position of the first byte that ends a field or may do so: a separator or a line
/// feed; between blanks, any byte up to the space.
#[inline(always)]
pub(super) fn field_end<const SEPARATOR: u8>(text: &[u8]) -> Option<usize> {
    // The highest bit is set for bytes below `limit`. In bytes above the first of them, it may be
    // set as well.
    let below =
        |bytes: u64, limit: u8| bytes.wrapping_sub(eight_of(limit)) & !bytes & eight_of(128);
    let mut at = 0;
    while let Some(bytes) = text[at..].first_chunk() {
        let bytes = u64::from_le_bytes(*bytes);
        let ends = if SEPARATOR == b' ' {
            below(bytes, b' ' + 1)
        } else {
            below(bytes ^ eight_of(SEPARATOR), 1) | below(bytes ^ eight_of(b'\n'), 1)
        };
        if ends != 0 {
            return Some(at + ends.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    let ends = |byte: u8| match SEPARATOR {
        b' ' => byte <= b' ',
        _ => byte == SEPARATOR || byte == b'\n',
    };
    let found = text[at..].iter().position(|&byte| ends(byte));
    found.map(|found| at + found)
}

/// Returns the number in the decimal digits at the start of a text, and their count. The number is
/// wrong if it exceeds 64 bits.
#[inline(always)]
pub(super) fn digits(text: &[u8]) -> (u64, usize) {
    let (mut value, mut length) = (0_u64, 0);
    while let Some(bytes) = text[length..].first_chunk() {
        let bytes = u64::from_le_bytes(*bytes) ^ eight_of(b'0');
        let others = (bytes.wrapping_add(eight_of(6)) | bytes) & eight_of(0xf0);
        let count = others.trailing_zeros() as usize / 8;
        if count == 8 {
            value = value.wrapping_mul(100_000_000).wrapping_add(joined(bytes));
            length += 8;
            continue;
        }
        let bytes = bytes << 8 << (56 - 8 * count); // leading zeros
        value = value.wrapping_mul(TENS[count]).wrapping_add(joined(bytes));
        return (value, length + count);
    }
    while let Some(digit) = text.get(length).map(|byte| byte.wrapping_sub(b'0'))
        && digit < 10
    {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        length += 1;
    }
    (value, length)
}

/// Converts eight digits to a number. The first digit is in the lowest byte. Digits are joined to
/// pairs, pairs to groups of four, and these to the number.
#[inline(always)]
fn joined(digits: u64) -> u64 {
    let pairs = digits.wrapping_mul(10 << 8 | 1) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100 << 16 | 1) >> 16 & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(10_000 << 32 | 1) >> 32
}

/// Powers of ten, by exponent.
const TENS: [u64; SAFE + 1] = {
    let mut tens = [1; SAFE + 1];
    let mut power = 1;
    while power <= SAFE {
        tens[power] = tens[power - 1] * 10;
        power += 1;
    }
    tens
};

/// Parses the digits, with at most one point, at the start of a text. Returns the result of
/// [`parse_decimal`](super::parse_decimal) and the length of the digits in bytes. `None` if the
/// number needs all rules of that function.
#[inline(always)]
pub(super) fn plain_decimal(text: &[u8], places: u32) -> Option<(u64, usize)> {
    let places = places as usize;
    let (whole, whole_digits) = digits(text);
    let (fraction, fraction_digits, point) = match &text[whole_digits..] {
        [b'.', behind @ ..] => {
            let (fraction, length) = digits(behind);
            (fraction, length, 1)
        }
        _ => (0, 0, 0),
    };
    let length = whole_digits + point + fraction_digits;
    if length == point || whole_digits > SAFE || fraction_digits > SAFE {
        return None;
    }
    let fraction = if fraction_digits <= places {
        fraction * TENS[places - fraction_digits]
    } else {
        let digits = fraction / TENS[fraction_digits - places - 1];
        digits / 10 + u64::from(digits % 10 >= 5)
    };
    let value = whole.checked_mul(TENS[places])?.checked_add(fraction)?;
    Some((value, length))
}
