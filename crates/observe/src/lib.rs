//! Observation sinks: histograms, time series, Arrow and Parquet tables.
