//! The device as the host interface sees it: the DRAM buffer, if there is one, and the controller.

use wordline_block::{Op, Request, Ticket};
use wordline_dram_buffer::PageRequest;
use wordline_ftl::Mapping;
use wordline_kernel::Time;

use super::tickets::Tickets;
use crate::buffered::Buffered;
use crate::controller::{Controller, Done};
use crate::error::{DeviceError, Result};
use crate::event::{Context, Kind};
use crate::observation::{DeviceProbe, Observation};
use wordline_host_link::{self as host, Act, Connect, Connection};

/// Device side of the host interface.
pub(super) struct DeviceSide<'a, 'c, M, P> {
    pub(super) cx: &'a mut Context<'c, P>,
    pub(super) controller: &'a mut Controller<M>,
    pub(super) buffer: Option<&'a mut Buffered>,
    pub(super) tickets: &'a mut Tickets,
    pub(super) error: Option<DeviceError>,
}

impl<M: Mapping, P: DeviceProbe> Act for DeviceSide<'_, '_, M, P> {
    #[inline]
    fn schedule(&mut self, at: Time, event: host::Event) {
        self.cx.schedule(at, Kind::Host(event));
    }
    #[inline]
    fn begin(&mut self, _now: Time, ticket: Ticket) {
        self.tickets.begun += 1;
        let in_flight = self.tickets.begun;
        self.cx.observe(Observation::Admitted { in_flight });
        let request = self.tickets.outstanding[ticket as usize].request;
        let begun = match &mut self.buffer {
            None => self.controller.begin(self.cx, ticket, &request),
            Some(buffered)
                if matches!(request.op, Op::Write | Op::Trim) && self.controller.is_read_only() =>
            {
                self.controller.count_refused(&request);
                buffered.refuse(self.cx.now, ticket);
                Ok(())
            }
            Some(buffered) => {
                let freed = match request.op {
                    Op::Trim => {
                        let bytes = self.controller.trim_frees(self.cx, &request);
                        Request {
                            offset: bytes.start,
                            bytes: bytes.end - bytes.start,
                            ..request
                        }
                    }
                    _ => request,
                };
                if request.op == Op::Write {
                    self.controller.trim_run_written(&request);
                }
                buffered.begin(self.cx, ticket, &freed, self.controller)
            }
        };
        if let Err(error) = begun {
            self.error.get_or_insert(error);
        }
    }
    #[inline]
    fn complete(&mut self, _now: Time, ticket: Ticket) {
        self.tickets.begun -= 1;
        self.tickets.complete.push(ticket);
    }
}

impl<M: Mapping, P: DeviceProbe> DeviceSide<'_, '_, M, P> {
    /// Passes requests of the buffer to the flash, and finished flash requests back to the buffer,
    /// until there are none of either.
    #[cold]
    fn pump(&mut self) -> Result<()> {
        while let Some(buffered) = &mut self.buffer {
            if let Some(request) = buffered.next_request() {
                self.request_page(request)?;
            } else if self.controller.done().is_empty() {
                self.controller.end_trims(self.cx);
                break;
            } else {
                let done = std::mem::take(self.controller.done());
                self.flash_done(&done)?;
            }
        }
        Ok(())
    }

    /// Completes the requests that the buffer has finished, and continues with those that the
    /// interface starts as a result.
    #[cold]
    pub(super) fn finish_in_buffer(&mut self, connection: &mut Connection) {
        loop {
            if let Err(error) = self.pump() {
                self.error.get_or_insert(error);
                break;
            }
            let now = self.cx.now;
            let Some(ticket) = self.buffer.as_mut().and_then(|one| one.next_done(now)) else {
                break;
            };
            connection.finished(now, ticket, self);
        }
        if let Some(buffered) = &mut self.buffer {
            buffered.rest(self.cx, self.controller);
        }
    }

    /// Passes finished flash requests to the buffer.
    fn flash_done(&mut self, done: &[Done]) -> Result<()> {
        let Some(buffered) = &mut self.buffer else {
            return Ok(());
        };
        for done in done {
            let beside = self.controller.take_beside(done.ticket);
            if buffered.flash_done(self.cx, (done, beside), self.controller)? {
                self.tickets.vacant.push(done.ticket);
            }
        }
        Ok(())
    }

    /// Passes a request of the buffer to the flash.
    fn request_page(&mut self, request: PageRequest) -> Result<()> {
        let now = self.cx.now;
        let ticket = self.tickets.issue(
            now,
            Request {
                stream: 0,
                op: Op::Read,
                fua: false,
                offset: 0,
                bytes: 0,
                arrival: now,
            },
        );
        if let Some(buffered) = &mut self.buffer {
            buffered.requested(now, ticket, request);
        }
        self.controller.begin_page(self.cx, ticket, &request)
    }
}
