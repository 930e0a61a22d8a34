//! Stores whose state can be saved.

use wordline_array::{Array, Store};
use wordline_flash_cache::Cached;
use wordline_ftl::Map;
use wordline_hdd::Disk;
use wordline_host_cpu::Host;
use wordline_ssd::Ssd;

use wordline_state_file::{Reader, Writer};

/// Store whose state can be saved to a file.
pub trait Kept: Sized {
    /// Writes the store.
    fn put(&self, to: &mut Writer) -> postcard::Result<()>;
    /// Reads a store.
    fn take(from: &mut Reader) -> postcard::Result<Self>;
}

macro_rules! kept {
    ($($Store:ty),+ $(,)?) => {
        $(
            impl Kept for $Store {
                fn put(&self, to: &mut Writer) -> postcard::Result<()> {
                    to.put(self)
                }
                fn take(from: &mut Reader) -> postcard::Result<Self> {
                    from.take()
                }
            }
        )+
    };
}

kept!(
    Ssd<Map>,
    Array<Ssd<Map>>,
    Cached<Array<Disk>>,
    Array<Disk>,
    Host<Store>,
    Store,
);
