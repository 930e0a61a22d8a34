//! Tests of the protocol against its specification (`doc/proto.md` of NetworkBlockDevice/nbd).

use proptest::prelude::*;
use wordline_serve::protocol::{
    Command, Export, Extent, Fault, HEADER_BYTES, Handshake, MAX_EXTENTS, MAX_PAYLOAD, Operation,
    Query, Received, Replies, Stage, Terms,
};

const BYTES: u64 = 1 << 40;
const FIXED: u32 = 1;
const NO_ZEROES: u32 = 2;
const ERROR: u32 = 1 << 31;

fn export() -> Export {
    Export {
        bytes: BYTES,
        description: "d4".to_owned(),
    }
}

/// Transmission flags: has flags, flush, FUA, TRIM, write zeroes, several connections.
const FLAGS: [u8; 2] = [0x01, 0x6d];

fn option(number: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"IHAVEOPT".to_vec();
    bytes.extend(number.to_be_bytes());
    bytes.extend((data.len() as u32).to_be_bytes());
    bytes.extend(data);
    bytes
}

/// Returns the data of NBD_OPT_INFO and NBD_OPT_GO.
fn selection(name: &[u8], asked: &[u16]) -> Vec<u8> {
    let mut data = (name.len() as u32).to_be_bytes().to_vec();
    data.extend(name);
    data.extend((asked.len() as u16).to_be_bytes());
    for one in asked {
        data.extend(one.to_be_bytes());
    }
    data
}

fn option_reply(number: u32, kind: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x00, 0x03, 0xe8, 0x89, 0x04, 0x55, 0x65, 0xa9];
    bytes.extend(number.to_be_bytes());
    bytes.extend(kind.to_be_bytes());
    bytes.extend((data.len() as u32).to_be_bytes());
    bytes.extend(data);
    bytes
}

/// Returns the stage after `messages`, and the output without the greeting.
fn negotiate(flags: u32, messages: &[Vec<u8>]) -> (Stage, Vec<u8>) {
    let (handshake, out) = negotiated(flags, messages);
    (handshake.stage(), out)
}

fn negotiated(flags: u32, messages: &[Vec<u8>]) -> (Handshake, Vec<u8>) {
    let mut out = Vec::new();
    let mut handshake = Handshake::start(&mut out);
    assert_eq!(out, b"NBDMAGICIHAVEOPT\x00\x03");
    out.clear();
    let mut input = flags.to_be_bytes().to_vec();
    input.extend(messages.concat());
    let mut at = 0;
    loop {
        match handshake.advance(&export(), &input[at..], &mut out) {
            0 => return (handshake, out),
            handled => at += handled,
        }
    }
}

#[test]
fn go_selects_the_export_and_states_the_block_sizes() {
    let (stage, out) = negotiate(FIXED | NO_ZEROES, &[option(7, &selection(b"", &[2]))]);
    assert_eq!(stage, Stage::Transmission);
    let export = [&[0, 0], &BYTES.to_be_bytes()[..], &FLAGS].concat();
    let sizes = [0, 3, 0, 0, 0, 1, 0, 0, 16, 0, 2, 0, 0, 0];
    let expected = [
        option_reply(7, 3, &export),
        option_reply(7, 3, &sizes),
        option_reply(7, 3, b"\0\x02d4"),
        option_reply(7, 1, &[]),
    ];
    assert_eq!(out, expected.concat());
}

#[test]
fn info_continues_the_negotiation() {
    let messages = [option(6, &selection(b"", &[])), option(2, &[])];
    let (stage, out) = negotiate(FIXED, &messages);
    assert_eq!(stage, Stage::Closed);
    assert!(out.ends_with(&[option_reply(6, 1, &[]), option_reply(2, 1, &[])].concat()));
}

#[test]
fn export_name_reply_ends_with_zeroes_unless_the_client_declines_them() {
    let short = [&BYTES.to_be_bytes()[..], &FLAGS].concat();
    let expected = (Stage::Transmission, short.clone());
    assert_eq!(negotiate(FIXED | NO_ZEROES, &[option(1, b"")]), expected);
    let long = [short, vec![0; 124]].concat();
    assert_eq!(
        negotiate(FIXED, &[option(1, b"")]),
        (Stage::Transmission, long)
    );
}

#[test]
fn list_names_the_export() {
    let (stage, out) = negotiate(FIXED, &[option(3, &[])]);
    assert_eq!(stage, Stage::Options);
    let expected = [option_reply(3, 2, b"\0\0\0\0d4"), option_reply(3, 1, &[])];
    assert_eq!(out, expected.concat());
}

#[test]
fn refused_options_leave_the_negotiation_open() {
    // STARTTLS and an unknown option; an unknown name; a wrong length; data of options that have
    // none.
    let cases = [
        (5, vec![], ERROR + 1),
        (8, vec![1], ERROR + 3),
        (4711, vec![1; 100], ERROR + 1),
        (7, selection(b"other", &[]), ERROR + 6),
        (7, vec![0, 0, 0, 9, 1], ERROR + 3),
        (6, vec![], ERROR + 3),
        (3, vec![1], ERROR + 3),
    ];
    for (number, data, error) in cases {
        let (stage, out) = negotiate(FIXED, &[option(number, &data)]);
        assert_eq!(stage, Stage::Options, "option {number}");
        let answer: Vec<u8> = [number, error]
            .iter()
            .flat_map(|n| n.to_be_bytes())
            .collect();
        assert_eq!(out[8..16], answer, "option {number}");
    }
}

#[test]
fn refused_clients_get_the_reason() {
    let mut out = Vec::new();
    let mut handshake = Handshake::refuse("full", &mut out);
    out.clear();
    let messages = [option(8, &[]), option(7, &selection(b"", &[]))].concat();
    let input = [&FIXED.to_be_bytes()[..], &messages].concat();
    let mut at = 0;
    for _ in 0..3 {
        at += handshake.advance(&export(), &input[at..], &mut out);
    }
    let expected = [8, 7].map(|number| option_reply(number, ERROR + 2, b"full"));
    assert_eq!(out, expected.concat());
    assert_eq!(handshake.stage(), Stage::Options);
    for (number, answer) in [(2, option_reply(2, 1, &[])), (1, vec![])] {
        let (mut last, mut out) = (handshake.clone(), Vec::new());
        last.advance(&export(), &option(number, &[]), &mut out);
        assert_eq!((last.stage(), out), (Stage::Closed, answer));
    }
}

#[test]
fn clients_that_break_the_protocol_are_disconnected() {
    assert_eq!(negotiate(0, &[]).0, Stage::Closed);
    assert_eq!(negotiate(FIXED | 1 << 2, &[]).0, Stage::Closed);
    assert_eq!(negotiate(FIXED, &[option(1, b"other")]).0, Stage::Closed);
    assert_eq!(negotiate(FIXED, &[vec![b'x'; 16]]).0, Stage::Closed);
    let mut long = option(9, &[]);
    long[12..].copy_from_slice(&8193u32.to_be_bytes());
    assert_eq!(negotiate(FIXED, &[long]).0, Stage::Closed);
    assert_eq!(
        negotiate(FIXED, &vec![option(3, &[]); 64]).0,
        Stage::Options
    );
    assert_eq!(negotiate(FIXED, &vec![option(3, &[]); 65]).0, Stage::Closed);
}

/// Returns the data of NBD_OPT_LIST_META_CONTEXT and NBD_OPT_SET_META_CONTEXT.
fn contexts(name: &[u8], queries: &[&str]) -> Vec<u8> {
    let mut data = (name.len() as u32).to_be_bytes().to_vec();
    data.extend(name);
    data.extend((queries.len() as u32).to_be_bytes());
    for query in queries {
        data.extend((query.len() as u32).to_be_bytes());
        data.extend(query.as_bytes());
    }
    data
}

#[test]
fn structured_replies_are_negotiated() {
    let go = option(7, &selection(b"", &[]));
    let (handshake, out) = negotiated(FIXED, &[option(8, &[]), go]);
    let terms = Terms {
        structured_replies: true,
        ..Terms::default()
    };
    assert_eq!(handshake.terms(), terms);
    assert!(out.starts_with(&option_reply(8, 1, &[])));
    let structured = [&[0, 0], &BYTES.to_be_bytes()[..], &[0x01, 0xed]].concat();
    let info = option_reply(7, 3, &structured);
    assert!(out.windows(info.len()).any(|part| part == info));
}

#[test]
fn contexts_are_listed_and_selected() {
    const NAME: &str = "base:allocation";
    let found = |option: u32, number: u32| {
        let context = [&number.to_be_bytes(), NAME.as_bytes()].concat();
        [
            option_reply(option, 4, &context),
            option_reply(option, 1, &[]),
        ]
        .concat()
    };
    let none = |option: u32| option_reply(option, 1, &[]);
    // Option, queries, reply, and whether the context is selected.
    let cases: [(u32, &[&str], Vec<u8>, bool); 7] = [
        (9, &[], found(9, 0), false),
        (9, &["base:"], found(9, 0), false),
        (9, &["x:y", NAME, NAME], found(9, 0), false),
        (9, &["qemu:dirty-bitmap:x"], none(9), false),
        (10, &[NAME, "x:y"], found(10, 1), true),
        (10, &["base:"], none(10), false),
        (10, &[], none(10), false),
    ];
    for (number, queries, reply, is_selected) in cases {
        let messages = [option(8, &[]), option(number, &contexts(b"", queries))];
        let (handshake, out) = negotiated(FIXED, &messages);
        assert_eq!(
            out,
            [option_reply(8, 1, &[]), reply].concat(),
            "{queries:?}"
        );
        assert_eq!(handshake.terms().allocation, is_selected, "{queries:?}");
    }
}

#[test]
fn invalid_context_queries_are_refused() {
    let wrong = contexts(b"", &["base:allocation"]);
    let short = [&wrong[..7], &[9][..], &wrong[8..]].concat();
    let cases = [
        (vec![option(10, &wrong)], 3),
        (vec![option(8, &[]), option(9, &contexts(b"x", &[]))], 6),
        (vec![option(8, &[]), option(9, &short)], 3),
        (
            vec![
                option(8, &[]),
                option(9, &[wrong.clone(), vec![0]].concat()),
            ],
            3,
        ),
        (vec![option(8, &[]), option(9, &[])], 3),
        // A selection that fails replaces the selection before it.
        (
            vec![option(8, &[]), option(10, &wrong), option(10, &short)],
            3,
        ),
    ];
    for (messages, error) in cases {
        let (handshake, out) = negotiated(FIXED, &messages);
        assert_eq!(handshake.stage(), Stage::Options);
        assert!(!handshake.terms().allocation);
        let kind = (ERROR + error).to_be_bytes();
        assert!(out.windows(4).any(|part| part == kind), "{messages:?}");
    }
}

/// Terms with structured replies and block status.
const ALL: Terms = Terms {
    no_zeroes: true,
    structured_replies: true,
    allocation: true,
};

fn header(flags: u16, kind: u16, offset: u64, bytes: u32) -> [u8; HEADER_BYTES] {
    let mut header = vec![0x25, 0x60, 0x95, 0x13];
    header.extend(flags.to_be_bytes());
    header.extend(kind.to_be_bytes());
    header.extend(77u64.to_be_bytes());
    header.extend(offset.to_be_bytes());
    header.extend(bytes.to_be_bytes());
    let mut array = [0; HEADER_BYTES];
    array.copy_from_slice(&header);
    array
}

#[test]
fn commands_are_decoded() {
    let discard = Operation::Zero { may_discard: true };
    let fill = Operation::Zero { may_discard: false };
    let cases = [
        (0, 0, Operation::Read, false),
        (1, 1, Operation::Write, true),
        (0, 4, Operation::Trim, false),
        (0, 6, discard, false),
        (3, 6, fill, true),
    ];
    for (flags, kind, operation, fua) in cases {
        let command = Command {
            cookie: 77,
            operation,
            fua,
            offset: BYTES - 4096,
            bytes: 4096,
        };
        let header = header(flags, kind, BYTES - 4096, 4096);
        assert_eq!(
            Received::decode(&header, Terms::default(), BYTES),
            Received::Command(command)
        );
    }
    let disconnect = Received::decode(&header(0, 2, 0, 0), ALL, BYTES);
    assert_eq!(disconnect, Received::Disconnect);
    let mut garbage = header(0, 0, 0, 512);
    garbage[0] = 0;
    assert_eq!(Received::decode(&garbage, ALL, BYTES), Received::Garbage);
}

#[test]
fn invalid_commands_are_refused() {
    const FAR: u32 = MAX_PAYLOAD + 512;
    let cases = [
        (0, 0, 0, FAR, Fault::Length),
        (0, 1, 0, FAR, Fault::Length),
        (0, 0, 0, 0, Fault::Length),
        (0, 3, 0, 512, Fault::Length),
        (0, 5, 0, 512, Fault::Unknown),
        (0, 99, 0, 512, Fault::Unknown),
        (1 << 4, 6, 0, 512, Fault::Flags),
        (1 << 2, 0, 0, 512, Fault::Flags),
        (0, 7, 0, 512, Fault::NotNegotiated),
        (0, 0, BYTES, 512, Fault::Beyond),
        (0, 4, BYTES, 512, Fault::Beyond),
        (0, 1, BYTES - 512, 1024, Fault::BeyondSpace),
        (0, 6, u64::MAX - 511, 1024, Fault::BeyondSpace),
    ];
    for (flags, kind, offset, bytes, fault) in cases {
        let refused = Received::Refused {
            cookie: 77,
            fault,
            payload: if kind == 1 { bytes } else { 0 },
        };
        let header = header(flags, kind, offset, bytes);
        assert_eq!(
            Received::decode(&header, Terms::default(), BYTES),
            refused,
            "{header:?}"
        );
    }
}

#[test]
fn block_status_is_decoded() {
    for (flags, extents) in [(0, MAX_EXTENTS), (1 << 3, 1)] {
        let query = Query {
            cookie: 77,
            offset: 512,
            bytes: 4096,
            extents,
        };
        let header = header(flags, 7, 512, 4096);
        let received = Received::decode(&header, ALL, BYTES);
        assert_eq!(received, Received::Query(query));
    }
    for (flags, offset, bytes, fault) in [
        (1 << 2, 0, 512, Fault::Flags),
        (0, 0, 0, Fault::Length),
        (0, u64::MAX - 511, 512, Fault::Beyond),
    ] {
        let refused = Received::Refused {
            cookie: 77,
            fault,
            payload: 0,
        };
        let header = header(flags, 7, offset, bytes);
        assert_eq!(Received::decode(&header, ALL, BYTES), refused);
    }
    let unfragmented = Received::decode(&header(1 << 2, 0, 0, 512), ALL, BYTES);
    assert!(matches!(unfragmented, Received::Command(_)));
}

/// Returns the bytes that `encode` appends with `terms`.
fn encoded(terms: Terms, encode: impl Fn(Replies, &mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    encode(Replies::new(terms), &mut out);
    out
}

#[test]
fn simple_replies_carry_error_and_cookie() {
    let simple = Terms::default();
    let ok = [0x67, 0x44, 0x66, 0x98, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 77];
    assert_eq!(encoded(simple, |to, out| to.done(77, out)), ok);
    assert_eq!(encoded(simple, |to, out| to.read(77, 512, 512, out)), ok);
    assert_eq!(encoded(ALL, |to, out| to.done(77, out)), ok);
    for (fault, number) in [
        (Fault::Io, 5),
        (Fault::Flags, 22),
        (Fault::Beyond, 22),
        (Fault::BeyondSpace, 28),
        (Fault::NoSpace, 28),
        (Fault::ShuttingDown, 108),
    ] {
        let failed = encoded(simple, |to, out| to.failed(77, fault, out));
        assert_eq!(failed[4..8], [0, 0, 0, number]);
        assert_eq!(failed.len(), 16);
    }
}

#[test]
fn structured_reply_has_one_chunk() {
    let chunk = |kind: u16, data: &[u8]| {
        let mut bytes = vec![0x66, 0x8e, 0x33, 0xef, 0, 1];
        bytes.extend(kind.to_be_bytes());
        bytes.extend(77u64.to_be_bytes());
        bytes.extend((data.len() as u32).to_be_bytes());
        bytes.extend(data);
        bytes
    };
    let mut read = encoded(ALL, |to, out| to.read(77, 4096, 4, out));
    read.extend(b"data");
    assert_eq!(read, chunk(1, b"\0\0\0\0\0\0\x10\0data"));
    let failed = encoded(ALL, |to, out| to.failed(77, Fault::ShuttingDown, out));
    assert_eq!(
        failed,
        chunk(0x8001, b"\0\0\0\x6c\0\x1bthe server is shutting down")
    );
    let extents = [(4096, false), (512, true)].map(|(bytes, is_hole)| Extent { bytes, is_hole });
    let status = encoded(ALL, |to, out| to.extents(77, &extents, out));
    let expected = [[1, 4096], [0, 512]].concat();
    let expected = [expected, vec![3]].concat();
    let words = expected.iter().flat_map(|word: &u32| word.to_be_bytes());
    assert_eq!(status, chunk(5, &words.collect::<Vec<_>>()));
}

proptest! {
    /// Any input is handled in bounded steps and with bounded output, and gives the same result if
    /// it arrives in parts.
    #[test]
    fn any_input_is_handled_in_bounded_steps_and_output(
        options in prop::collection::vec((0u32..13, prop::collection::vec(any::<u8>(), 0..40)), 0..6),
        noise in prop::collection::vec(any::<u8>(), 0..80),
        cut in 0usize..200,
    ) {
        let mut input = FIXED.to_be_bytes().to_vec();
        for (number, data) in options {
            input.extend(option(number, &data));
        }
        input.extend(noise);
        let mut whole = Vec::new();
        let mut handshake = Handshake::start(&mut whole);
        let mut at = 0;
        loop {
            let handled = handshake.advance(&export(), &input[at..], &mut whole);
            at += handled;
            if handled == 0 { break; }
        }
        prop_assert!(at <= input.len());
        prop_assert!(whole.len() < 4000);
        let mut parts = Vec::new();
        let mut again = Handshake::start(&mut parts);
        let mut from = 0;
        for end in [cut.min(input.len()), input.len()] {
            loop {
                let handled = again.advance(&export(), &input[from..end], &mut parts);
                from += handled;
                if handled == 0 { break; }
            }
        }
        prop_assert_eq!((from, again.stage(), parts), (at, handshake.stage(), whole));
    }

    /// The range of an accepted command is within the device.
    #[test]
    fn accepted_commands_are_within_the_device(bytes in any::<[u8; 24]>(), kind in 0u16..8) {
        let mut all = header(0, kind, 0, 0);
        all[4..28].copy_from_slice(&bytes);
        all[6..8].copy_from_slice(&kind.to_be_bytes());
        if let Received::Command(command) = Received::decode(&all, ALL, BYTES) {
            prop_assert!(command.offset + u64::from(command.bytes) <= BYTES);
        }
    }
}
