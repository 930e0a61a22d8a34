//! Decompresses files: plain, gzip, Zstandard, xz and bzip2, detected by their first bytes.

use std::io::{self, BufRead, BufReader, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use liblzma::bufread::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};
use twox_hash::XxHash3_64;

use crate::interruption::{Stop, Stopped};

const CHUNK: usize = 64 * 1024;
/// Memory limit for decoding an xz archive. `xz -9` needs 65 MiB. Bytes.
const XZ_MEMORY: u64 = 256 << 20;

/// Compression of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Uncompressed.
    Plain,
    /// gzip, with one or several members.
    Gzip,
    /// Zstandard.
    Zstd,
    /// xz.
    Xz,
    /// bzip2.
    Bzip2,
}

impl Compression {
    fn of(start: &[u8]) -> Self {
        match start {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            // Magic number of a block: the digits of pi. An empty archive has only the magic number
            // of its end: the digits of the square root of pi.
            [
                b'B',
                b'Z',
                b'h',
                b'1'..=b'9',
                0x31,
                0x41,
                0x59,
                0x26,
                0x53,
                0x59,
                ..,
            ]
            | [
                b'B',
                b'Z',
                b'h',
                b'1'..=b'9',
                0x17,
                0x72,
                0x45,
                0x38,
                0x50,
                0x90,
                ..,
            ] => Self::Bzip2,
            _ => Self::Plain,
        }
    }
    /// Returns the name of a file with this compression, for error messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "file",
            Self::Gzip => "gzip archive",
            Self::Zstd => "Zstandard archive",
            Self::Xz => "xz archive",
            Self::Bzip2 => "bzip2 archive",
        }
    }
}

/// Bytes as stored on disk, counted and hashed while they are read.
struct Raw {
    inner: Box<dyn Read + Send>,
    bytes: u64,
    hash: XxHash3_64,
    stop: Option<Stop>,
    stopped: bool,
    /// Whether reading the bytes from disk failed, regardless of their content.
    failed: bool,
}

impl Raw {
    /// Checks whether the user wants to stop reading. Returns an error if so.
    fn look(&mut self) -> io::Result<()> {
        self.stopped |= self.stop.as_ref().is_some_and(|stop| stop());
        if self.stopped {
            return Err(Stopped::error());
        }
        Ok(())
    }
}

impl Read for Raw {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.look()?;
        let read = self.inner.read(buffer);
        let again = |error: &io::Error| error.kind() == io::ErrorKind::Interrupted;
        self.failed |= read.as_ref().is_err_and(|error| !again(error));
        let length = read?;
        if length == 0 {
            // Checked here as well, because nothing after the end of the file checks it.
            self.look()?;
        }
        self.bytes += length as u64;
        std::hash::Hasher::write(&mut self.hash, &buffer[..length]);
        Ok(length)
    }
}

type Buffered = BufReader<Raw>;

enum Decoder {
    Plain(Buffered),
    Gzip(MultiGzDecoder<Buffered>),
    Zstd(zstd::Decoder<'static, Buffered>),
    Xz(XzDecoder<Buffered>),
    Bzip2(MultiBzDecoder<Buffered>),
}

/// Stream of decompressed bytes of a file.
pub struct Decompressed {
    decoder: Decoder,
    compression: Compression,
}

impl Decompressed {
    /// Creates a decoder of a stream, whose compression is detected from its first bytes. Reading
    /// fails when `stop` returns `true`.
    pub(crate) fn new(inner: Box<dyn Read + Send>, stop: Option<Stop>) -> io::Result<Self> {
        let raw = Raw {
            inner,
            bytes: 0,
            hash: XxHash3_64::new(),
            stop,
            stopped: false,
            failed: false,
        };
        let mut buffered = BufReader::with_capacity(CHUNK, raw);
        let compression = Compression::of(buffered.fill_buf()?);
        let decoder = match compression {
            Compression::Plain => Decoder::Plain(buffered),
            Compression::Gzip => Decoder::Gzip(MultiGzDecoder::new(buffered)),
            Compression::Zstd => Decoder::Zstd(zstd::Decoder::with_buffer(buffered)?),
            Compression::Xz => {
                let stream = Stream::new_stream_decoder(XZ_MEMORY, CONCATENATED)?;
                Decoder::Xz(XzDecoder::new_stream(buffered, stream))
            }
            Compression::Bzip2 => Decoder::Bzip2(MultiBzDecoder::new(buffered)),
        };
        Ok(Self {
            decoder,
            compression,
        })
    }

    /// Returns the compression, as detected from the first bytes.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    fn raw(&self) -> &Raw {
        match &self.decoder {
            Decoder::Plain(buffered) => buffered.get_ref(),
            Decoder::Gzip(decoder) => decoder.get_ref().get_ref(),
            Decoder::Zstd(decoder) => decoder.get_ref().get_ref(),
            Decoder::Xz(decoder) => decoder.get_ref().get_ref(),
            Decoder::Bzip2(decoder) => decoder.get_ref().get_ref(),
        }
    }

    /// Returns `true` if the user stopped reading.
    pub fn stopped(&self) -> bool {
        self.raw().stopped
    }

    /// Returns `true` if reading from disk failed, so that the content of the file is unknown.
    pub fn failed(&self) -> bool {
        self.raw().failed
    }

    /// Returns the number of bytes read from disk.
    pub fn bytes(&self) -> u64 {
        self.raw().bytes
    }

    /// Returns the hash (XXH3, 64 bits) of the bytes read from disk.
    pub fn digest(&self) -> u64 {
        std::hash::Hasher::finish(&self.raw().hash)
    }
}

impl Read for Decompressed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.decoder {
            Decoder::Plain(buffered) => buffered.read(buffer),
            Decoder::Gzip(decoder) => decoder.read(buffer),
            Decoder::Zstd(decoder) => decoder.read(buffer),
            Decoder::Xz(decoder) => decoder.read(buffer),
            Decoder::Bzip2(decoder) => decoder.read(buffer),
        }
    }
}

/// Returns the text of an I/O error on one line. The two most frequent errors have special texts.
pub fn plain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string().replace(['\n', '\r'], " "),
    }
}
