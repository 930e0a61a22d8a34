//! Macros that declare sections of the summary as lists of metrics.

/// Declares a section of the summary: its type, whose schema has the doc comments of the metrics,
/// and the function that computes the metrics from the given inputs.
///
/// ```ignore
/// section! {
///     /// Counts of a door.
///     #[schemars(rename = "Doors")]
///     pub struct DoorSummary by new(doors: &Doors);
///     /// Doors opened.
///     opened: u64 = doors.opened;
/// }
/// ```
macro_rules! section {
    (
        $(#[$about:meta])*
        pub struct $name:ident by $make:ident($($given:ident: $of:ty),+);
        $($(#[doc = $sentence:tt])+ $key:ident: $type:ty = $value:expr;)+
    ) => {
        $(#[$about])*
        pub struct $name {
            $($(#[doc = $sentence])+ pub $key: $type,)+
        }

        impl $name {
            pub(super) fn $make($($given: $of),+) -> Self {
                Self { $($key: $value,)+ }
            }
        }
    };
}

/// Declares a section of the summary, and columns of the series, from a table of metrics
/// (`recorder/figures.rs`). The head names the type of the counters, the type of the devices' state
/// at the end, and the prefix of the column names.
macro_rules! figures {
    (
        {
            $(#[$about:meta])*
            $name:ident of $from:ty, $at_end:ty; columns $prefix:literal
        }
        $counts:ident $_now:ident $end:ident;
        $(
            $(
                figure $figure:ident $(on $_event:ident $_fields:tt => $_amount:expr,)?
                $(summary $sentence:literal)? $(series $words:literal)?
            )?
            $(
                count $_count:ident: $_of:ty $(, on $_counted:ident $_counted_fields:tt => $_added:expr)?,
                $_what:literal
            )?
            $(summary $key:ident: $type:ty = $value:expr, $meaning:literal)?
            $(series $column:ident = $shown:expr, $meaning_in_series:literal)?
        ;)+
    ) => {
        $(#[$about])*
        pub struct $name {
            $(
                $($(#[doc = $sentence] pub $figure: u64,)?)?
                $(#[doc = $meaning] pub $key: $type,)?
            )+
        }

        impl $name {
            fn of($counts: &$from, $end: &$at_end) -> Self {
                Self {
                    $(
                        $($($figure: figure!($counts.$figure, $sentence),)?)?
                        $($key: $value,)?
                    )+
                }
            }
            /// Returns the columns of the series, with one row per entry of `rows`.
            pub(crate) fn columns(rows: &[&$from]) -> Vec<Column> {
                vec![
                    $(
                        $($((
                            heading(concat!($prefix, stringify!($figure)), $words),
                            values(rows, |$counts| $counts.$figure),
                        ),)?)?
                        $((
                            heading(concat!($prefix, stringify!($column)), $meaning_in_series),
                            values(rows, |$counts| $shown),
                        ),)?
                    )+
                ]
            }
        }
    };
}

/// Expands to a counter and drops its description.
macro_rules! figure {
    ($value:expr, $_sentence:literal) => {
        $value
    };
}
