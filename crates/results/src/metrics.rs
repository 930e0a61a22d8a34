//! Descriptions of the summary's metrics, read from the JSON schema of [`Summary`].
//!
//! A metric is declared once, as a field with a doc comment. Its unit is part of its name.

use serde_json::{Map, Value};

use crate::summary::Summary;
use crate::unit::unit;

/// Metric of the summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Path in `summary.json`, with dots between the keys. `{op}` stands for `all`, `read` and
    /// `write`.
    pub name: String,
    /// Unit according to the name. Empty for counts, ratios and strings, and for the percentages,
    /// minutes and data units of `smart`, whose descriptions state the unit.
    pub unit: &'static str,
    /// Description of the metric.
    pub description: String,
}

/// Returns the JSON schema of `summary.json`.
pub fn schema() -> Value {
    schemars::schema_for!(Summary).to_value()
}

/// Returns every metric of a summary, in its order. A table of streams or members that has the same
/// keys as a table of the whole run is listed as a single entry.
pub fn all() -> Vec<Metric> {
    let schema = schema();
    let mut told = Walk {
        schema: &schema,
        tables: Vec::new(),
        metrics: Vec::new(),
    };
    for (_, property) in properties(&schema).into_iter().flatten() {
        let target = told.resolve(property);
        let inner = [&target["items"], &target["properties"]["all"]];
        let tables = inner.map(|inner| properties(told.resolve(inner)));
        told.tables
            .extend(tables.into_iter().chain([properties(target)]).flatten());
    }
    told.table(properties(&schema), "", true);
    told.metrics
}

fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}

struct Walk<'a> {
    schema: &'a Value,
    /// Tables of the whole run.
    tables: Vec<&'a Map<String, Value>>,
    metrics: Vec<Metric>,
}

impl<'a> Walk<'a> {
    /// Resolves a property to its schema: follows references, and drops the `null` alternative of
    /// an optional property.
    fn resolve(&self, property: &'a Value) -> &'a Value {
        if let Some(name) = property["$ref"].as_str() {
            return self.resolve(self.schema.pointer(&name[1..]).unwrap_or(property));
        }
        match property["anyOf"].as_array().map(Vec::as_slice) {
            Some([only, null]) if null["type"] == "null" => self.resolve(only),
            _ => property,
        }
    }

    /// Resolves a property to its schema. If the property has one value each for all requests, for
    /// reads and for writes, returns the schema of a single value and `true`.
    fn by_op(&self, property: &'a Value) -> (bool, &'a Value) {
        let target = self.resolve(property);
        match properties(target) {
            Some(keys) if keys.keys().eq(["all", "read", "write"]) => {
                (true, self.resolve(&keys["all"]))
            }
            _ => (false, target),
        }
    }

    fn table(&mut self, table: Option<&'a Map<String, Value>>, prefix: &str, whole: bool) {
        for (key, property) in table.into_iter().flatten() {
            match key.as_str() {
                "read" | "write" => {}
                "all" => self.figure(&format!("{prefix}{{op}}"), property, whole),
                _ => self.figure(&format!("{prefix}{key}"), property, whole),
            }
        }
    }

    fn figure(&mut self, name: &str, property: &'a Value, whole: bool) {
        let (by_op, target) = self.by_op(property);
        let (list, target) = match target.get("items") {
            Some(items) => ("[]", self.resolve(items)),
            None => ("", target),
        };
        let op = if by_op { ".{op}" } else { "" };
        let table = properties(target);
        let inner = table.filter(|table| whole || !self.is_told(table));
        if inner.is_some() {
            let whole = whole && list.is_empty();
            return self.table(inner, &format!("{name}{op}{list}."), whole);
        }
        let (name, unit) = match table {
            Some(_) => (name.to_owned(), ""),
            None => (format!("{name}{op}{list}"), unit(name)),
        };
        let description = property["description"].as_str().unwrap_or_default();
        self.metrics.push(Metric {
            name,
            unit,
            description: description.into(),
        });
    }

    /// Returns `true` if a table of the whole run has all the keys of `table`, with the same
    /// meanings.
    fn is_told(&self, table: &Map<String, Value>) -> bool {
        let has = |whole: &&Map<String, Value>| {
            table
                .iter()
                .all(|(key, property)| whole.get(key) == Some(property))
        };
        self.tables.iter().any(has)
    }
}

#[cfg(test)]
mod tests {
    use super::all;

    #[test]
    fn metric_names_are_unique_and_descriptions_end_with_a_full_stop() {
        let all = all();
        assert!(all.len() > 190, "the schema has too few metrics");
        for (index, metric) in all.iter().enumerate() {
            assert!(
                all[..index].iter().all(|other| other.name != metric.name),
                "{}",
                metric.name
            );
            assert!(metric.description.ends_with('.'), "{}", metric.name);
        }
    }
}
