//! Submission queues and their arbitration (NVM Express 1.3, section 4.11).

use std::collections::VecDeque;

use super::Class;
use serde::{Deserialize, Serialize};
use wordline_block::Ticket;

/// Queues served in round-robin order. The served queue keeps its turn for up to `burst` commands.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Ring {
    queues: Vec<u32>,
    /// Index of the served queue, and the number of commands left in its turn.
    turn: usize,
    left: u32,
    /// Number of commands in all queues of the ring.
    waiting: usize,
}

impl Ring {
    fn pop(&mut self, lines: &mut [VecDeque<Ticket>], burst: u32) -> Option<Ticket> {
        // The search visits the first queue twice, because that queue may have used up its turn.
        for _ in 0..=self.queues.len() {
            let line = &mut lines[self.queues[self.turn] as usize];
            if self.left > 0
                && let Some(ticket) = line.pop_front()
            {
                self.left -= 1;
                self.waiting -= 1;
                return Some(ticket);
            }
            self.turn = (self.turn + 1) % self.queues.len();
            self.left = burst;
        }
        None
    }
}

/// Number of commands per round, for each weighted class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Weights {
    pub high: u32,
    pub medium: u32,
    pub low: u32,
}

const STRICT: usize = 0;
const WEIGHTED: std::ops::Range<usize> = 1..4;

/// Commands in the submission queues whose doorbells the device has seen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Queues {
    lines: Vec<VecDeque<Ticket>>,
    /// Index of the ring to which each queue belongs.
    ring_of: Vec<usize>,
    /// Ring with strict priority, followed by those of classes high, medium and low.
    rings: [Ring; 4],
    /// Number of commands per round of each ring, and the number left in the current round.
    weights: [u32; 4],
    credits: [u32; 4],
    burst: u32,
}

impl Queues {
    /// Creates empty queues, one for each item of `classes`. Without weights, all queues are served
    /// round robin, regardless of class.
    pub fn new(classes: &[Class], weights: Option<Weights>, burst: u32) -> Self {
        let ring = |class: Class| match (weights, class) {
            (None, _) | (_, Class::Urgent) => STRICT,
            (_, Class::High) => 1,
            (_, Class::Medium) => 2,
            (_, Class::Low) => 3,
        };
        let ring_of: Vec<usize> = classes.iter().copied().map(ring).collect();
        let mut rings: [Ring; 4] = Default::default();
        for (queue, &ring) in ring_of.iter().enumerate() {
            rings[ring].queues.push(queue as u32);
            rings[ring].left = burst.max(1);
        }
        let weights = weights.map_or([1; 4], |weights| {
            [1, weights.high, weights.medium, weights.low].map(|weight| weight.max(1))
        });
        Self {
            lines: vec![VecDeque::new(); classes.len()],
            ring_of,
            rings,
            weights,
            credits: weights,
            burst: burst.max(1),
        }
    }
    /// Appends a command to a queue.
    pub fn push(&mut self, queue: u32, ticket: Ticket) {
        let queue = queue as usize;
        self.lines[queue].push_back(ticket);
        self.rings[self.ring_of[queue]].waiting += 1;
    }
    /// Removes and returns the command to fetch next, or `None` if all queues are empty.
    pub fn pop(&mut self) -> Option<Ticket> {
        let ring = if self.rings[STRICT].waiting > 0 {
            STRICT
        } else {
            self.weighted()?
        };
        self.rings[ring].pop(&mut self.lines, self.burst)
    }
    /// Returns the weighted ring to serve next, or `None` if all are empty. Charges one command to
    /// the ring. A round ends when no ring with commands has credits left.
    fn weighted(&mut self) -> Option<usize> {
        let waits = |ring: &usize| self.rings[*ring].waiting > 0;
        let entitled = |ring: &usize| waits(ring) && self.credits[*ring] > 0;
        let ring = if let Some(ring) = WEIGHTED.clone().find(entitled) {
            ring
        } else {
            let ring = WEIGHTED.clone().find(waits)?;
            self.credits = self.weights;
            ring
        };
        self.credits[ring] -= 1;
        Some(ring)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns queues with `deep` commands each. The ticket of a command is the number of its
    /// queue.
    fn backlog(classes: &[Class], weights: Option<Weights>, burst: u32, deep: usize) -> Queues {
        let mut queues = Queues::new(classes, weights, burst);
        for queue in 0..classes.len() as u32 {
            (0..deep).for_each(|_| queues.push(queue, queue));
        }
        queues
    }

    fn fetched(queues: &mut Queues, count: usize) -> Vec<Ticket> {
        let order: Vec<_> = std::iter::from_fn(|| queues.pop()).take(count).collect();
        assert_eq!(order.len(), count);
        order
    }

    const WEIGHTS: Weights = Weights {
        high: 4,
        medium: 2,
        low: 1,
    };

    #[test]
    fn queues_take_turns_in_bursts() {
        let classes = [Class::Low, Class::Urgent, Class::Medium];
        let mut queues = backlog(&classes, None, 2, 3);
        let order = fetched(&mut queues, 9);
        assert_eq!(
            order,
            [0, 0, 1, 1, 2, 2, 0, 1, 2],
            "round robin ignores classes"
        );
        assert_eq!(queues.pop(), None);
        let order = fetched(&mut backlog(&classes, None, 1, 3), 6);
        assert_eq!(order, [0, 1, 2, 0, 1, 2]);
    }

    #[test]
    fn backlogged_classes_share_by_weight_in_every_round() {
        let classes = [Class::Medium, Class::High, Class::Low, Class::High];
        for burst in [1, 2, 64] {
            let order = fetched(&mut backlog(&classes, Some(WEIGHTS), burst, 700), 700);
            for round in order.chunks(7) {
                let of = |queues: &[u32]| round.iter().filter(|at| queues.contains(at)).count();
                assert_eq!(
                    [of(&[1, 3]), of(&[0]), of(&[2])],
                    [4, 2, 1],
                    "burst {burst}"
                );
            }
            // Of the two queues of a class, one is at most a burst ahead of the other.
            let mut ahead = 0_i32;
            for queue in order {
                ahead += i32::from(queue == 1) - i32::from(queue == 3);
                assert!(ahead.unsigned_abs() <= burst, "burst {burst}");
            }
        }
    }

    #[test]
    fn class_without_commands_yields_its_share() {
        let mut queues = Queues::new(&[Class::High, Class::Low], Some(WEIGHTS), 1);
        (0..6).for_each(|_| queues.push(1, 1));
        assert_eq!(fetched(&mut queues, 3), [1, 1, 1]);
        (0..9).for_each(|_| queues.push(0, 0));
        // The current round, in which the low class has fetched its one command, continues with
        // four commands of the high class.
        let order = fetched(&mut queues, 12);
        assert_eq!(order, [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1]);
    }

    #[test]
    fn urgent_commands_precede_all_others() {
        let classes = [Class::High, Class::Urgent, Class::Urgent];
        let mut queues = backlog(&classes, Some(WEIGHTS), 1, 3);
        assert_eq!(fetched(&mut queues, 7), [1, 2, 1, 2, 1, 2, 0]);
        queues.push(2, 2);
        assert_eq!(fetched(&mut queues, 3), [2, 0, 0]);
    }
}
