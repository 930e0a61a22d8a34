//! First come, first served (FCFS).

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::slot::Cited;

use super::{Order, Waiting};
use crate::extent::Extent;

/// Serves requests in the order of their arrival.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fcfs {}

impl Cited for Fcfs {
    const PAPER: &'static str = "";
}

/// Waiting requests, in order of arrival.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State(VecDeque<Waiting>);

impl State {
    pub(super) fn new(_policy: &Fcfs) -> Self {
        Self(VecDeque::new())
    }
}

impl Order for State {
    fn push(&mut self, waiting: Waiting) {
        self.0.push_back(waiting);
    }
    fn next(
        &mut self,
        _now: Time,
        _served: Extent,
        _cost: impl Fn(&Waiting) -> Time,
    ) -> Option<Waiting> {
        self.0.pop_front()
    }
    fn waiting(&self) -> usize {
        self.0.len()
    }
}
