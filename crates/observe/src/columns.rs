//! Tables as lists of columns.

use crate::{Heading, Values};

/// Column: its heading, and a value for each row.
pub type Column = (Heading, Values);

/// Returns the values of a column, one per row. Their type is the type of the column.
pub fn values<R, T>(rows: &[R], value: impl FnMut(&R) -> T) -> Values
where
    Values: From<Vec<T>>,
{
    rows.iter().map(value).collect::<Vec<T>>().into()
}

/// Builds the columns of a table as a `Vec` of [`Column`], one line per column: name, unit,
/// description, and the value of a row. The rows are a slice.
///
/// ```
/// use wordline_observe::{Table, columns};
///
/// let squares: Vec<u32> = (0..10).collect();
/// let table = Table::new(columns! { &squares;
///     side, "m", "Length of a side", |side| *side;
///     area, "m2", "Area of the square", |side| f64::from(side * side);
/// });
/// assert_eq!(table?.rows(), 10);
/// # Ok::<(), wordline_observe::ObserveError>(())
/// ```
#[macro_export]
macro_rules! columns {
    ($rows:expr; $($name:ident, $unit:literal, $meaning:literal, $value:expr;)+) => {
        vec![$((
            $crate::Heading::new(stringify!($name), $unit, $meaning),
            $crate::values($rows, $value),
        )),+]
    };
}
