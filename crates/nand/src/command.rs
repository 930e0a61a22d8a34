//! tmp
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Command { Read, ReadConfirm, QueueRead, CacheRead, CacheReadEnd, CopyReadConfirm, Program, ProgramConfirm, CacheProgramConfirm, QueueProgram, CopyProgram, Erase, EraseConfirm, QueueErase, Status, SelectOutput, SelectOutputConfirm, SuspendProgram, SuspendErase, ResumeProgram, ResumeErase }
impl Command { #[allow(missing_docs)] pub const fn code(self) -> u8 { self as u8 } }
