//! Writing requests.

use std::io::{self, Write};

use crate::Request;
use crate::losses::{Losses, moves_data};

/// Writes requests in one format.
pub trait Render: Send {
    /// What stands before the first request.
    fn head(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
    /// One request; what is lost is counted.
    fn request(
        &mut self,
        out: &mut dyn Write,
        request: &Request,
        losses: &mut Losses,
    ) -> io::Result<()>;
    /// What stands behind the last request.
    fn tail(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a line for each request that moves data; the others are counted as left out.
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
