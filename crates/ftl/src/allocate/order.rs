//! The 24 orders in which consecutive pages are striped over channels, ways, dies and planes.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use wordline_nand::Plane;

/// Numbers of channels, ways, dies and planes of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dimensions {
    /// Channels of the device. Count.
    pub channels: u32,
    /// Packages per channel. Count.
    pub ways: u32,
    /// Dies per package. Count.
    pub dies: u32,
    /// Planes per die. Count.
    pub planes: u32,
}

impl Dimensions {
    /// Returns the number of planes of the device.
    pub const fn total(&self) -> u32 {
        self.channels * self.ways * self.dies * self.planes
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Axis {
    Channel,
    Way,
    Die,
    Plane,
}

/// Permutation of channel (C), way (W), die (D) and plane (P). The first letter changes fastest:
/// CWDP stripes pages over channels first, then ways, dies and planes (Jung 2013, section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order([Axis; 4]);

impl Default for Order {
    fn default() -> Self {
        Self([Axis::Channel, Axis::Way, Axis::Die, Axis::Plane])
    }
}

impl Order {
    /// Returns all planes of a device in this order, each once.
    pub fn planes(self, dimensions: Dimensions) -> Vec<Plane> {
        (0..dimensions.total())
            .map(|turn| self.plane(turn, dimensions))
            .collect()
    }

    fn plane(self, turn: u32, dimensions: Dimensions) -> Plane {
        let Dimensions {
            channels,
            ways,
            dies,
            planes,
        } = dimensions;
        let [mut channel, mut way, mut die, mut plane] = [0; 4];
        let mut rest = turn;
        for axis in self.0 {
            let (place, extent) = match axis {
                Axis::Channel => (&mut channel, channels),
                Axis::Way => (&mut way, ways),
                Axis::Die => (&mut die, dies),
                Axis::Plane => (&mut plane, planes),
            };
            *place = rest % extent;
            rest /= extent;
        }
        Plane(((channel * ways + way) * dies + die) * planes + plane)
    }

    /// Returns all 24 orders, in alphabetical order.
    pub fn all() -> Vec<Self> {
        let letters = ['C', 'D', 'P', 'W'];
        let mut orders = Vec::new();
        for code in 0..256 {
            let word: String = (0..4)
                .map(|digit| letters[(code >> (6 - 2 * digit)) & 3])
                .collect();
            orders.extend(word.parse::<Self>());
        }
        orders
    }
}

impl FromStr for Order {
    type Err = String;
    fn from_str(word: &str) -> Result<Self, String> {
        let axis = |letter| match letter {
            'C' => Some(Axis::Channel),
            'W' => Some(Axis::Way),
            'D' => Some(Axis::Die),
            'P' => Some(Axis::Plane),
            _ => None,
        };
        let axes: Option<Vec<Axis>> = word.chars().map(axis).collect();
        let axes: Option<[Axis; 4]> = axes.and_then(|axes| axes.try_into().ok());
        match axes {
            Some(axes) if (1..4).all(|i| !axes[..i].contains(&axes[i])) => Ok(Self(axes)),
            _ => Err(format!(
                "`{word}` is not an order; write each of C (channel), W (way), D (die) and P (plane) once, such as CWDP"
            )),
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for axis in self.0 {
            f.write_str(match axis {
                Axis::Channel => "C",
                Axis::Way => "W",
                Axis::Die => "D",
                Axis::Plane => "P",
            })?;
        }
        Ok(())
    }
}

impl Serialize for Order {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Order {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

impl JsonSchema for Order {
    fn schema_name() -> Cow<'static, str> {
        "Order".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<String> = Self::all().iter().map(ToString::to_string).collect();
        json_schema!({
            "description": "Order of channel (C), way (W), die (D) and plane (P), fastest first.",
            "enum": names,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIMENSIONS: Dimensions = Dimensions {
        channels: 2,
        ways: 3,
        dies: 2,
        planes: 4,
    };

    #[test]
    fn each_of_the_24_orders_visits_every_plane_once() {
        let orders = Order::all();
        assert_eq!(orders.len(), 24);
        for order in orders {
            let mut planes = order.planes(DIMENSIONS);
            planes.sort();
            assert!(
                planes.into_iter().eq((0..DIMENSIONS.total()).map(Plane)),
                "{order}"
            );
        }
    }

    #[test]
    fn first_letter_of_the_order_changes_fastest() {
        let start = |word: &str| -> Vec<u32> {
            let planes = word.parse::<Order>().unwrap().planes(DIMENSIONS);
            planes.iter().take(4).map(|plane| plane.0).collect()
        };
        // Consecutive channels are 24 planes apart, ways 8, dies 4 and planes 1.
        assert_eq!(start("CWDP"), [0, 24, 8, 32]);
        assert_eq!(start("WCDP"), [0, 8, 16, 24]);
        assert_eq!(start("DPCW"), [0, 4, 1, 5]);
        assert_eq!(start("PDWC"), [0, 1, 2, 3]);
    }

    #[test]
    fn words_that_are_not_an_order_are_rejected() {
        for word in ["", "CWD", "CWDD", "CWDPP", "cwdp", "CWDX"] {
            assert!(word.parse::<Order>().is_err(), "{word}");
        }
    }
}
