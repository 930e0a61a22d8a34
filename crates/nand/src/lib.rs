//! The NAND flash device: geometry, timing, command chains, array state.
