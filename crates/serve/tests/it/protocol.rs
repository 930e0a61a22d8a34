//! The protocol, from its specification (`doc/proto.md` of NetworkBlockDevice/nbd).

use proptest::prelude::*;
use wordline_serve::protocol::{
    Command, Export, Fault, HEADER_BYTES, Handshake, MAX_PAYLOAD, Operation, Received, Stage, reply,
};

const BYTES: u64 = 1 << 40;
const FIXED: u32 = 1;
const NO_ZEROES: u32 = 2;

fn export() -> Export {
    Export {
        bytes: BYTES,
        description: "d4".to_owned(),
    }
}

/// Has flags, flush, FUA, TRIM, write zeroes, several connections.
const FLAGS: [u8; 2] = [0x01, 0x6d];

fn option(number: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"IHAVEOPT".to_vec();
    bytes.extend(number.to_be_bytes());
    bytes.extend((data.len() as u32).to_be_bytes());
    bytes.extend(data);
    bytes
}

/// Data of NBD_OPT_INFO and NBD_OPT_GO.
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
    let mut out = Vec::new();
    let mut handshake = Handshake::start(&mut out);
    assert_eq!(out, b"NBDMAGICIHAVEOPT\x00\x03");
    out.clear();
    let mut input = flags.to_be_bytes().to_vec();
    input.extend(messages.concat());
    let mut at = 0;
    loop {
        match handshake.advance(&export(), &input[at..], &mut out) {
            0 => return (handshake.stage(), out),
            handled => at += handled,
        }
    }
}

#[test]
fn go_selects_the_export_and_states_the_block_sizes() {
    let (stage, out) = negotiate(FIXED | NO_ZEROES, &[option(7, &selection(b"", &[2]))]);
    assert_eq!(stage, Stage::Transmission);
    let export = [&[0, 0], &BYTES.to_be_bytes()[..], &FLAGS].concat();
    let sizes = [0, 3, 0, 0, 2, 0, 0, 0, 16, 0, 2, 0, 0, 0];
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
fn export_name_answers_with_zeroes_unless_the_client_does_without() {
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
    const ERROR: u32 = 1 << 31;
    // STARTTLS, STRUCTURED_REPLY and an unknown option; an unknown name; a wrong length; a list with
    // data.
    let cases = [
        (5, vec![], ERROR + 1),
        (8, vec![], ERROR + 1),
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
fn faulty_clients_are_disconnected() {
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
        assert_eq!(Received::decode(&header, BYTES), Received::Command(command));
    }
    let disconnect = Received::decode(&header(0, 2, 0, 0), BYTES);
    assert_eq!(disconnect, Received::Disconnect);
    let mut garbage = header(0, 0, 0, 512);
    garbage[0] = 0;
    assert_eq!(Received::decode(&garbage, BYTES), Received::Garbage);
}

#[test]
fn invalid_commands_are_refused() {
    const FAR: u32 = MAX_PAYLOAD + 512;
    let cases = [
        (0, 0, 0, FAR, Fault::Invalid),
        (0, 1, 0, FAR, Fault::Invalid),
        (0, 0, 100, 512, Fault::Invalid),
        (0, 1, 512, 100, Fault::Invalid),
        (0, 0, 0, 0, Fault::Invalid),
        (0, 3, 0, 512, Fault::Invalid),
        (0, 5, 0, 512, Fault::Invalid),
        (0, 99, 0, 512, Fault::Invalid),
        (1 << 4, 6, 0, 512, Fault::Invalid),
        (1 << 2, 0, 0, 512, Fault::Invalid),
        (0, 0, BYTES, 512, Fault::Invalid),
        (0, 4, BYTES, 512, Fault::Invalid),
        (0, 1, BYTES - 512, 1024, Fault::NoSpace),
        (0, 6, u64::MAX - 511, 1024, Fault::NoSpace),
    ];
    for (flags, kind, offset, bytes, fault) in cases {
        let refused = Received::Refused {
            cookie: 77,
            fault,
            payload: if kind == 1 { bytes } else { 0 },
        };
        let header = header(flags, kind, offset, bytes);
        assert_eq!(Received::decode(&header, BYTES), refused, "{header:?}");
    }
}

#[test]
fn replies_carry_error_and_cookie() {
    let ok = [0x67, 0x44, 0x66, 0x98, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 77];
    assert_eq!(reply(77, None), ok);
    for (fault, number) in [
        (Fault::Io, 5),
        (Fault::Invalid, 22),
        (Fault::NoSpace, 28),
        (Fault::ShuttingDown, 108),
    ] {
        assert_eq!(reply(77, Some(fault))[4..8], [0, 0, 0, number]);
    }
}

proptest! {
    /// Any input is handled in bounded steps and with bounded output, and equally in parts.
    #[test]
    fn any_input_is_handled(
        options in prop::collection::vec((0u32..12, prop::collection::vec(any::<u8>(), 0..40)), 0..6),
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

    /// A command that is accepted is within the device.
    #[test]
    fn accepted_commands_fit(bytes in any::<[u8; 24]>(), kind in 0u16..8) {
        let mut all = header(0, kind, 0, 0);
        all[4..28].copy_from_slice(&bytes);
        all[6..8].copy_from_slice(&kind.to_be_bytes());
        if let Received::Command(command) = Received::decode(&all, BYTES) {
            prop_assert!(command.offset + u64::from(command.bytes) <= BYTES);
        }
    }
}
