//! Tests of live devices.

mod protocol;
