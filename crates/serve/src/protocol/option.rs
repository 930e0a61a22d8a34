//! Options of the negotiation, and their replies.

use super::context::{ALLOCATION, Contexts, NAME};
use super::{Export, MAX_PAYLOAD, Terms, counted, first};

const REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;

const EXPORT_NAME: u32 = 1;
const ABORT: u32 = 2;
const LIST: u32 = 3;
const INFO: u32 = 6;
const GO: u32 = 7;
const STRUCTURED_REPLY: u32 = 8;
const LIST_META_CONTEXT: u32 = 9;
const SET_META_CONTEXT: u32 = 10;

const ACK: u32 = 1;
const SERVER: u32 = 2;
const REPLY_INFO: u32 = 3;
const META_CONTEXT: u32 = 4;
const ERR_UNSUP: u32 = (1 << 31) + 1;
const ERR_POLICY: u32 = (1 << 31) + 2;
const ERR_INVALID: u32 = (1 << 31) + 3;
const ERR_UNKNOWN: u32 = (1 << 31) + 6;

const INFO_EXPORT: u16 = 0;
const INFO_DESCRIPTION: u16 = 2;
const INFO_BLOCK_SIZE: u16 = 3;

/// Preferred granularity of requests. Bytes.
const PREFERRED: u32 = 4096;

const ONLY_ONE: &str = "the only export has an empty name; leave out the name";

/// Result of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answered {
    /// The negotiation continues.
    Continue,
    /// The transmission begins.
    Transmit,
    /// The connection ends.
    Close,
}

/// Answers an option, which may change the terms.
pub(super) fn answer(
    export: &Export,
    terms: &mut Terms,
    (option, data): (u32, &[u8]),
    out: &mut Vec<u8>,
) -> Answered {
    match option {
        EXPORT_NAME if data.is_empty() => {
            out.extend(export.bytes.to_be_bytes());
            out.extend(terms.flags().to_be_bytes());
            out.extend(&[0; 124][..if terms.no_zeroes { 0 } else { 124 }]);
            return Answered::Transmit;
        }
        // This option has no error reply.
        EXPORT_NAME => return Answered::Close,
        ABORT => {
            reply(option, ACK, &[], out);
            return Answered::Close;
        }
        LIST if data.is_empty() => {
            // The length of the name, which is empty.
            let server = [&[0; 4], export.description.as_bytes()].concat();
            reply(option, SERVER, &server, out);
            reply(option, ACK, &[], out);
        }
        LIST => refuse(option, ERR_INVALID, "NBD_OPT_LIST must have no data", out),
        INFO | GO => return select(export, *terms, (option, data), out),
        STRUCTURED_REPLY if data.is_empty() => {
            terms.structured_replies = true;
            reply(option, ACK, &[], out);
        }
        STRUCTURED_REPLY => {
            refuse(
                option,
                ERR_INVALID,
                "NBD_OPT_STRUCTURED_REPLY must have no data",
                out,
            );
        }
        LIST_META_CONTEXT | SET_META_CONTEXT => contexts(terms, option, data, out),
        _ => refuse(option, ERR_UNSUP, "the option is not supported", out),
    }
    Answered::Continue
}

/// Answers an option of a client that may not use the device.
pub(super) fn refuse_all(option: u32, message: &str, out: &mut Vec<u8>) -> Answered {
    match option {
        // This option has no error reply.
        EXPORT_NAME => return Answered::Close,
        ABORT => {
            reply(option, ACK, &[], out);
            return Answered::Close;
        }
        _ => refuse(option, ERR_POLICY, message, out),
    }
    Answered::Continue
}

/// Answers `NBD_OPT_LIST_META_CONTEXT` and `NBD_OPT_SET_META_CONTEXT`. The latter replaces an
/// earlier selection, even if it fails.
fn contexts(terms: &mut Terms, option: u32, data: &[u8], out: &mut Vec<u8>) {
    let is_selection = option == SET_META_CONTEXT;
    if is_selection {
        terms.allocation = false;
    }
    if !terms.structured_replies {
        let fault = "metadata contexts need structured replies";
        return refuse(option, ERR_INVALID, fault, out);
    }
    let Some(contexts) = Contexts::decode(data) else {
        let fault = "the length of the name or of a query is wrong";
        return refuse(option, ERR_INVALID, fault, out);
    };
    if !contexts.export.is_empty() {
        return refuse(option, ERR_UNKNOWN, ONLY_ONE, out);
    }
    if is_selection {
        terms.allocation = contexts.selects();
    }
    let (number, is_found) = if is_selection {
        (ALLOCATION, terms.allocation)
    } else {
        (0, contexts.lists())
    };
    if is_found {
        let context = [&number.to_be_bytes(), NAME].concat();
        reply(option, META_CONTEXT, &context, out);
    }
    reply(option, ACK, &[], out);
}

/// Answers `NBD_OPT_INFO` and `NBD_OPT_GO`.
fn select(
    export: &Export,
    terms: Terms,
    (option, data): (u32, &[u8]),
    out: &mut Vec<u8>,
) -> Answered {
    let Some((name, asked)) = selection(data) else {
        let fault = "the length of the name or of the list is wrong";
        refuse(option, ERR_INVALID, fault, out);
        return Answered::Continue;
    };
    if !name.is_empty() {
        refuse(option, ERR_UNKNOWN, ONLY_ONE, out);
        return Answered::Continue;
    }
    let mut info = |kind: u16, content: &[u8]| {
        let whole = [&kind.to_be_bytes(), content].concat();
        reply(option, REPLY_INFO, &whole, out);
    };
    let flags = terms.flags().to_be_bytes();
    info(
        INFO_EXPORT,
        &[&export.bytes.to_be_bytes()[..], &flags].concat(),
    );
    let sizes = [1, PREFERRED, MAX_PAYLOAD].map(u32::to_be_bytes);
    info(INFO_BLOCK_SIZE, &sizes.concat());
    if asked.contains(&INFO_DESCRIPTION) {
        info(INFO_DESCRIPTION, export.description.as_bytes());
    }
    reply(option, ACK, &[], out);
    match option {
        GO => Answered::Transmit,
        _ => Answered::Continue,
    }
}

/// Splits the data of `NBD_OPT_INFO` and `NBD_OPT_GO` into the name and the requested information.
/// Returns `None` if the lengths are wrong.
fn selection(data: &[u8]) -> Option<(&[u8], Vec<u16>)> {
    let (name, rest) = counted(data)?;
    let count = usize::from(u16::from_be_bytes(first(rest)?));
    let asked = &rest[2..];
    if asked.len() != 2 * count {
        return None;
    }
    let pairs = asked.as_chunks::<2>().0.iter();
    Some((name, pairs.map(|pair| u16::from_be_bytes(*pair)).collect()))
}

fn refuse(option: u32, error: u32, fault: &str, out: &mut Vec<u8>) {
    reply(option, error, fault.as_bytes(), out);
}

/// Appends a reply to an option.
fn reply(option: u32, kind: u32, data: &[u8], out: &mut Vec<u8>) {
    out.extend(REPLY_MAGIC.to_be_bytes());
    for number in [option, kind, data.len() as u32] {
        out.extend(number.to_be_bytes());
    }
    out.extend(data);
}
