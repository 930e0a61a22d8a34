//! Host architectures: location of the FTL, and what is between the CPU and the store.

pub mod bridge;
pub mod direct;
pub mod flash_software;

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Where does the FTL run, and what is between the CPU and the store?
            pub enum Architecture at "host_side.architecture" {
                $($tag => $Variant($file::$Variant)),+
            }
        }
    };
}

members! {
    "direct" => Direct(direct),
    "bridge" => Bridge(bridge),
    "flash-software" => FlashSoftware(flash_software),
}

impl Default for Architecture {
    fn default() -> Self {
        Self::Direct(direct::Direct::default())
    }
}
