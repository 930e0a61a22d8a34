//! Writers of requests in a format.

use std::io::{self, Write};

use crate::Request;
use crate::conversion_losses::{Losses, moves_data};

/// Writer of requests in one format.
pub trait Render: Send {
    /// Writes the header of the format, if it has one.
    fn head(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
    /// Writes a request. Counts the information that is lost.
    fn request(
        &mut self,
        out: &mut dyn Write,
        request: &Request,
        losses: &mut Losses,
    ) -> io::Result<()>;
    /// Writes the trailer after the last request.
    fn tail(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// Writer of a line for each request that moves data. It counts the other requests as dropped.
pub(super) struct DataLines<F>(pub(super) F);

impl<F> Render for DataLines<F>
where
    F: Fn(&mut dyn Write, &Request, &mut Losses) -> io::Result<()> + Send,
{
    fn request(
        &mut self,
        out: &mut dyn Write,
        request: &Request,
        losses: &mut Losses,
    ) -> io::Result<()> {
        if moves_data(request, losses) {
            return self.0(out, request, losses);
        }
        Ok(())
    }
}
