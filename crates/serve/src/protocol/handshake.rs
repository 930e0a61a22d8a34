//! Negotiation phase of the protocol.

use super::option::{Answered, answer, refuse_all};
use super::{Export, Terms, first};

const GREETING: &[u8; 16] = b"NBDMAGICIHAVEOPT";
const OPTION_MAGIC: u64 = u64::from_be_bytes(*b"IHAVEOPT");

const FIXED_NEWSTYLE: u16 = 1 << 0;
const NO_ZEROES: u16 = 1 << 1;

/// Size of an option's header: magic number, option and length of its data. Bytes.
const OPTION_HEADER: usize = 16;
/// Maximum length of the data of an option: a name, whose limit is 4096 bytes, and a list. Bytes.
const MAX_OPTION: u32 = 8192;
/// Maximum number of options before the transmission. Count.
const MAX_OPTIONS: u32 = 64;

/// Stage of a connection in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The server waits for the flags of the client.
    Flags,
    /// The server waits for an option.
    Options,
    /// The negotiation succeeded: commands follow.
    Transmission,
    /// The connection ends once all output is sent.
    Closed,
}

/// Negotiation with a client.
#[derive(Clone, Debug)]
pub struct Handshake {
    stage: Stage,
    terms: Terms,
    options: u32,
    refusal: Option<&'static str>,
}

impl Handshake {
    /// Starts a negotiation, and appends the greeting to `out`.
    pub fn start(out: &mut Vec<u8>) -> Self {
        out.extend(GREETING);
        out.extend((FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes());
        Self {
            stage: Stage::Flags,
            terms: Terms::default(),
            options: 0,
            refusal: None,
        }
    }
    /// Starts a negotiation that refuses the client with `message`, and appends the greeting to
    /// `out`.
    pub fn refuse(message: &'static str, out: &mut Vec<u8>) -> Self {
        Self {
            refusal: Some(message),
            ..Self::start(out)
        }
    }
    /// Returns the stage of the connection.
    pub fn stage(&self) -> Stage {
        self.stage
    }
    /// Returns the terms, which are final when the transmission begins.
    pub fn terms(&self) -> Terms {
        self.terms
    }
    /// Handles the next complete message at the start of `input`, and appends the answer to `out`.
    /// Returns the number of bytes handled; 0 if the message is incomplete or the negotiation has
    /// ended.
    pub fn advance(&mut self, export: &Export, input: &[u8], out: &mut Vec<u8>) -> usize {
        match self.stage {
            Stage::Flags => self.flags(input),
            Stage::Options => self.option(export, input, out),
            Stage::Transmission | Stage::Closed => 0,
        }
    }
    fn flags(&mut self, input: &[u8]) -> usize {
        let Some(flags) = first(input).map(u32::from_be_bytes) else {
            return 0;
        };
        let known = u32::from(FIXED_NEWSTYLE | NO_ZEROES);
        let is_fixed = flags & u32::from(FIXED_NEWSTYLE) != 0;
        self.terms.no_zeroes = flags & u32::from(NO_ZEROES) != 0;
        self.stage = if is_fixed && flags & !known == 0 {
            Stage::Options
        } else {
            Stage::Closed
        };
        4
    }
    fn option(&mut self, export: &Export, input: &[u8], out: &mut Vec<u8>) -> usize {
        let Some(header) = first::<OPTION_HEADER>(input) else {
            return 0;
        };
        let number = |from: usize| first(&header[from..]).map_or(0, u32::from_be_bytes);
        let magic = u64::from(number(0)) << 32 | u64::from(number(4));
        let (option, length) = (number(8), number(12));
        if magic != OPTION_MAGIC || length > MAX_OPTION || self.options == MAX_OPTIONS {
            self.stage = Stage::Closed;
            return OPTION_HEADER;
        }
        let end = OPTION_HEADER + length as usize;
        let Some(data) = input.get(OPTION_HEADER..end) else {
            return 0;
        };
        self.options += 1;
        let answered = match self.refusal {
            Some(message) => refuse_all(option, message, out),
            None => answer(export, &mut self.terms, (option, data), out),
        };
        self.stage = match answered {
            Answered::Continue => Stage::Options,
            Answered::Transmit => Stage::Transmission,
            Answered::Close => Stage::Closed,
        };
        end
    }
}
