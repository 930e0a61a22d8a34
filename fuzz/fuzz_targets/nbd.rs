//! Sends arbitrary bytes to the server side of NBD: the negotiation, then commands. There must be no
//! panic, the output must stay short, and each accepted range must be on the device.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wordline_serve::protocol::{
    Export, Extent, HEADER_BYTES, Handshake, MAX_PAYLOAD, Operation, Received, Replies, Stage,
    Terms,
};

/// Size of the device. Bytes.
const CAPACITY: u64 = 1 << 40;
/// Longest answer to an option. Bytes.
const LONGEST: usize = 256;

/// Negotiates. Returns the number of bytes handled, and the terms if the transmission begins.
fn negotiate(input: &[u8]) -> (usize, Option<Terms>) {
    let export = Export {
        bytes: CAPACITY,
        description: "a device".to_owned(),
    };
    let mut out = Vec::new();
    let mut handshake = Handshake::start(&mut out);
    let mut at = 0;
    loop {
        out.clear();
        let handled = handshake.advance(&export, &input[at..], &mut out);
        assert!(out.len() <= LONGEST, "the answer is short");
        assert!(handled <= input.len() - at, "only input is handled");
        at += handled;
        if handled == 0 {
            break;
        }
    }
    let begins = handshake.stage() == Stage::Transmission;
    (at, begins.then(|| handshake.terms()))
}

/// Decodes a command, and encodes its replies. Returns the length of its payload; `None` if the
/// connection ends.
fn execute(header: &[u8; HEADER_BYTES], terms: Terms) -> Option<usize> {
    let (replies, mut out) = (Replies::new(terms), Vec::new());
    let fits = |offset: u64, bytes: u32| {
        let end = offset.checked_add(bytes.into());
        assert!(end.is_some_and(|end| end <= CAPACITY), "the range fits");
    };
    let payload = match Received::decode(header, terms, CAPACITY) {
        Received::Command(command) => {
            fits(command.offset, command.bytes);
            replies.read(command.cookie, command.offset, command.bytes, &mut out);
            replies.done(command.cookie, &mut out);
            match command.operation {
                Operation::Write => {
                    assert!(command.bytes <= MAX_PAYLOAD, "a payload is bounded");
                    command.bytes
                }
                _ => 0,
            }
        }
        Received::Query(query) => {
            fits(query.offset, query.bytes);
            let extent = Extent {
                bytes: query.bytes,
                is_hole: true,
            };
            replies.extents(query.cookie, &[extent], &mut out);
            0
        }
        Received::Refused {
            cookie,
            fault,
            payload,
        } => {
            replies.failed(cookie, fault, &mut out);
            payload
        }
        Received::Disconnect | Received::Garbage => return None,
    };
    assert!(out.len() <= LONGEST, "the reply is short");
    Some(payload as usize)
}

fuzz_target!(|input: &[u8]| {
    let (mut at, terms) = negotiate(input);
    let Some(terms) = terms else { return };
    while let Some(header) = input[at..].first_chunk() {
        let Some(payload) = execute(header, terms) else {
            return;
        };
        at = at.saturating_add(HEADER_BYTES + payload).min(input.len());
    }
});
