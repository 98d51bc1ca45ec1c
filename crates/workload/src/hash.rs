//! The two hashes that fio's sequences depend on.

/// Multiplication by fio's 64-bit golden ratio; spreads neighbouring values over the whole range.
#[inline(always)]
pub(crate) fn spread(value: u64) -> u64 {
    value.wrapping_mul(0x61c8_8646_80b5_83eb)
}

/// Bob Jenkins' lookup3 hash in the variant fio applies to file names: of each full block of
/// twelve bytes only every fourth one counts. The zipf, pareto and normal distributions are
/// seeded with it, so that files of one job differ.
pub fn name_hash(name: &[u8]) -> u32 {
    let start = 0x61c8_8647u32.wrapping_add(name.len() as u32);
    let (mut a, mut b, mut c) = (start, start, start);
    let mut rest = name;
    while rest.len() > 12 {
        a = a.wrapping_add(u32::from(rest[0]));
        b = b.wrapping_add(u32::from(rest[4]));
        c = c.wrapping_add(u32::from(rest[8]));
        for (x, y, z) in [(4, 6, 8), (16, 19, 4)] {
            a = a.wrapping_sub(c) ^ c.rotate_left(x);
            c = c.wrapping_add(b);
            b = b.wrapping_sub(a) ^ a.rotate_left(y);
            a = a.wrapping_add(c);
            c = c.wrapping_sub(b) ^ b.rotate_left(z);
            b = b.wrapping_add(a);
        }
        rest = &rest[12..];
    }
    if rest.is_empty() {
        return c;
    }
    let mut tail = [0; 12];
    tail[..rest.len()].copy_from_slice(rest);
    let word = |i: usize| u32::from_le_bytes([tail[i], tail[i + 1], tail[i + 2], tail[i + 3]]);
    a = a.wrapping_add(word(0));
    b = b.wrapping_add(word(4));
    c = c.wrapping_add(word(8));
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}
