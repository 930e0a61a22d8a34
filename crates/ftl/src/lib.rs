//! The flash translation layer: mapping, allocation, garbage collection, wear levelling.
