//! tmp
macro_rules! commands {
    ($($(#[doc = $doc:literal])+ $Variant:ident = $code:literal, $name:literal;)+) => {
        /// A command cycle that the interface knows.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Command {
            $($(#[doc = $doc])+ $Variant = $code),+
        }

        impl Command {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$Variant),+];

            /// What it is called.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$Variant => $name),+ }
            }
        }

        impl TryFrom<u8> for Command {
            type Error = u8;
            /// The byte itself if there is no such command.
            fn try_from(code: u8) -> Result<Self, u8> {
                match code {
                    $($code => Ok(Self::$Variant),)+
                    _ => Err(code),
                }
            }
        }
    };
}

commands! {
    /// Opens a read; address cycles follow.
    Read = 0x00, "Read";
    /// The array reads the page or pages addressed.
    ReadConfirm = 0x30, "Read confirm";
    /// The page read goes to the cache register while the array reads the next one (Read Cache
    /// Sequential), or the one addressed (Read Cache Random).
    ReadCache = 0x31, "Read Cache";
    /// The last page of a cache read goes to the cache register (Read Cache End).
    ReadCacheEnd = 0x3F, "Read Cache End";
    /// Queues a page for a multi-plane read (Multi-plane Read).
    ReadQueue = 0x32, "Multi-plane Read queue";
    /// The array reads into the data register, to be programmed from there (Copyback Read).
    CopybackRead = 0x35, "Copyback Read confirm";
    /// Opens a choice of column; column cycles follow (Change Read Column).
    ChangeReadColumn = 0x05, "Change Read Column";
    /// Opens a choice of plane and column; address cycles follow (Change Read Column Enhanced).
    ChangeReadColumnEnhanced = 0x06, "Change Read Column Enhanced";
    /// Ends a choice of plane or column.
    ChangeReadColumnConfirm = 0xE0, "Change Read Column confirm";
    /// Opens a program; address cycles and data follow (Page Program).
    Program = 0x80, "Page Program";
    /// The array programs the page or pages.
    ProgramConfirm = 0x10, "Page Program confirm";
    /// The array programs, and the cache registers take the next pages meanwhile (Page Cache Program).
    ProgramCache = 0x15, "Page Cache Program confirm";
    /// Queues a page for a multi-plane program (Multi-plane Page Program).
    ProgramQueue = 0x11, "Multi-plane Program queue";
    /// Opens a program of the page that a copyback read left in the data register.
    CopybackProgram = 0x85, "Copyback Program";
    /// Opens an erase; row cycles follow (Block Erase).
    Erase = 0x60, "Block Erase";
    /// The array erases the block or blocks.
    EraseConfirm = 0xD0, "Block Erase confirm";
    /// Queues a block for a multi-plane erase (Multi-plane Block Erase).
    EraseQueue = 0xD1, "Multi-plane Block Erase queue";
    /// Asks for the status byte (Read Status).
    ReadStatus = 0x70, "Read Status";
    /// Stops and forgets everything (Reset).
    Reset = 0xFF, "Reset";
    /// Lays a program aside.
    ProgramSuspend = 0x84, "Program Suspend";
    /// Goes on with a suspended program.
    ProgramResume = 0x13, "Program Resume";
    /// Lays an erase aside.
    EraseSuspend = 0x61, "Erase Suspend";
    /// Goes on with a suspended erase.
    EraseResume = 0xD2, "Erase Resume";
}

impl Command {
    /// The byte on the bus.
    pub const fn code(self) -> u8 {
        self as u8
    }
}
