//! Compares striped address maps with the definition of RAID-0, sector by sector, and concatenated
//! ones with values worked out by hand.

use wordline_array::{AddressMap, Extent};
use wordline_kernel::Rng;

const GRAIN: u64 = 512;

fn split(map: &AddressMap, offset: u64, bytes: u64) -> Vec<Extent> {
    let mut extents = Vec::new();
    map.split(offset, bytes, &mut extents);
    extents
}

/// Returns the member of each sector of the extents and the sector's offset in it, in sorted order.
fn grains(extents: &[Extent]) -> Vec<(u32, u64)> {
    let mut all = Vec::new();
    for extent in extents {
        assert!(extent.bytes > 0 && extent.bytes.is_multiple_of(GRAIN));
        let places = (0..extent.bytes).step_by(GRAIN as usize);
        all.extend(places.map(|place| (extent.member, extent.offset + place)));
    }
    all.sort_unstable();
    all
}

/// Maps sectors by the definition of RAID-0: stripe s is on member s mod n, in row s / n.
fn by_definition(stripe: u64, members: u64, offset: u64, bytes: u64) -> Vec<(u32, u64)> {
    let places = (offset..offset + bytes).step_by(GRAIN as usize);
    let mut all: Vec<_> = places
        .map(|place| {
            let number = place / stripe;
            let inside = number / members * stripe + place % stripe;
            ((number % members) as u32, inside)
        })
        .collect();
    all.sort_unstable();
    all
}

#[test]
fn stripes_match_the_definition_of_raid_0() {
    let mut random = Rng::new(1, "stripes");
    for _ in 0..20_000 {
        let members = 1 + random.below(7);
        let stripe = GRAIN * (1 + random.below(12));
        let sizes: Vec<u64> = (0..members)
            .map(|_| GRAIN * (12 + random.below(200)))
            .collect();
        let map = AddressMap::striped(stripe, &sizes);
        let user = map.user_bytes() / GRAIN;
        let offset = random.below(user);
        let bytes = GRAIN * (1 + random.below((user - offset).min(100)));
        let offset = GRAIN * offset;
        let extents = split(&map, offset, bytes);
        assert_eq!(
            grains(&extents),
            by_definition(stripe, members, offset, bytes),
            "{map:?}, {bytes} bytes at {offset}"
        );
        for (place, extent) in extents.iter().enumerate() {
            let inside = extent.offset + extent.bytes <= sizes[extent.member as usize];
            assert!(inside, "{extent:?} of {sizes:?}");
            let again = extents[..place]
                .iter()
                .any(|one| one.member == extent.member);
            assert!(!again, "more than one part for a member: {extents:?}");
        }
    }
}

#[test]
fn an_aligned_stripe_touches_one_member_and_the_next_stripe_another() {
    let map = AddressMap::striped(4096, &[1 << 20; 3]);
    for stripe in 0..map.user_bytes() / 4096 {
        let extents = split(&map, stripe * 4096, 4096);
        let expected = Extent {
            member: (stripe % 3) as u32,
            offset: stripe / 3 * 4096,
            bytes: 4096,
        };
        assert_eq!(extents, [expected]);
    }
}

/// All addressable bytes map to different bytes of the members.
#[test]
fn every_byte_of_equal_members_is_used_once() {
    for (stripe, size, members) in [(512, 4096, 3), (1024, 4096, 5), (4096, 4096, 2)] {
        let map = AddressMap::striped(stripe, &vec![size; members]);
        assert_eq!(map.user_bytes(), size * members as u64);
        let mut all = grains(&split(&map, 0, map.user_bytes()));
        assert_eq!(all.len() as u64, map.user_bytes() / GRAIN);
        all.dedup();
        assert_eq!(all.len() as u64, map.user_bytes() / GRAIN);
    }
}

#[test]
fn a_single_member_keeps_its_addresses_and_whole_capacity() {
    let size = 10 * 4096 + 512;
    let map = AddressMap::striped(4096, &[size]);
    assert_eq!(map.user_bytes(), size);
    let all = Extent {
        member: 0,
        offset: 512,
        bytes: size - 512,
    };
    assert_eq!(split(&map, 512, size - 512), [all]);
}

#[test]
fn concatenated_members_follow_one_another() {
    let map = AddressMap::concatenated(&[4096, 8192, 512]);
    assert_eq!(map.user_bytes(), 12_800);
    let of = |member, offset, bytes| Extent {
        member,
        offset,
        bytes,
    };
    assert_eq!(split(&map, 0, 4096), [of(0, 0, 4096)]);
    assert_eq!(split(&map, 4096, 512), [of(1, 0, 512)]);
    assert_eq!(
        split(&map, 512, 12_288),
        [of(0, 512, 3584), of(1, 0, 8192), of(2, 0, 512)]
    );
}

/// The member and the offset of a byte are those of a request of one byte.
#[test]
fn a_byte_is_at_the_place_of_its_request() {
    let maps = [
        AddressMap::striped(1024, &[8192, 4096, 8192]),
        AddressMap::striped(4096, &[10_752]),
        AddressMap::concatenated(&[4096, 8192, 512]),
    ];
    for map in maps {
        for offset in (0..map.user_bytes()).step_by(256) {
            let extent = split(&map, offset, 1)[0];
            assert_eq!(map.at(offset), Some((extent.member, extent.offset)));
        }
        assert_eq!(map.at(map.user_bytes()), None);
    }
}
