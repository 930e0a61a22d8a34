//! Python types of the summary, generated from its JSON schema.

use std::fmt::Write;

use serde_json::Value;

use crate::metrics;

/// Maximum line length of the generated module. Characters.
const WIDTH: usize = 100;

/// Returns the source of the module `wordline.summary`: a `TypedDict` for each table.
pub fn module() -> String {
    let schema = metrics::schema();
    let mut module = Module {
        schema: &schema,
        names: Vec::new(),
        text: "\"\"\"Types of a summary, generated from its JSON schema. `wordline.metrics()`\n\
               describes each metric; the names contain the units.\"\"\"\n\n\
               from typing import Literal, TypedDict\n"
            .into(),
    };
    module.class("Summary", &schema);
    module.text
}

struct Module<'a> {
    schema: &'a Value,
    /// Names of the classes written so far.
    names: Vec<&'a str>,
    text: String,
}

impl<'a> Module<'a> {
    /// Writes the class of a table, after the classes that it refers to.
    fn class(&mut self, name: &'a str, table: &'a Value) {
        if self.names.contains(&name) {
            return;
        }
        self.names.push(name);
        let properties = table["properties"].as_object().into_iter().flatten();
        let fields: Vec<_> = properties
            .map(|(key, property)| (key.as_str(), self.kind(property)))
            .collect();
        let description = table["description"].as_str().unwrap_or_default();
        let name = &cap_words(name);
        // A Python keyword cannot name a field in class syntax.
        let text = if fields.iter().any(|(key, _)| *key == "class") {
            functional(name, description, &fields)
        } else {
            class(name, description, &fields)
        };
        let _ = write!(self.text, "\n\n{text}");
    }

    /// Returns the Python type of a property.
    fn kind(&mut self, property: &'a Value) -> String {
        if let Some(pointer) = property["$ref"].as_str() {
            let name = pointer.rsplit('/').next().unwrap_or_default();
            let target = self.schema.pointer(&pointer[1..]).unwrap_or(property);
            if target.get("properties").is_none() {
                return self.kind(target);
            }
            self.class(name, target);
            return cap_words(name);
        }
        let words = |of: &[&Value]| {
            let words: Option<Vec<_>> = of.iter().map(|word| word.as_str()).collect();
            words.map(|words| format!("Literal[\"{}\"]", words.join("\", \"")))
        };
        for alternatives in ["anyOf", "oneOf"] {
            if let Some(all) = property[alternatives].as_array() {
                let constants: Vec<_> = all.iter().map(|one| &one["const"]).collect();
                return words(&constants).unwrap_or_else(|| {
                    let kinds: Vec<_> = all.iter().map(|one| self.kind(one)).collect();
                    kinds.join(" | ")
                });
            }
        }
        let choice = property["enum"].as_array();
        if let Some(literal) = choice.and_then(|all| words(&all.iter().collect::<Vec<_>>())) {
            return literal;
        }
        match &property["type"] {
            Value::Array(kinds) => {
                let kinds = kinds.iter().map(|kind| self.simple(kind, property));
                kinds.collect::<Vec<_>>().join(" | ")
            }
            kind => self.simple(kind, property),
        }
    }

    fn simple(&mut self, kind: &Value, property: &'a Value) -> String {
        match kind.as_str().unwrap_or_default() {
            "integer" => "int".into(),
            "number" => "float".into(),
            "string" => "str".into(),
            "boolean" => "bool".into(),
            "array" => format!("list[{}]", self.kind(&property["items"])),
            _ => "None".into(),
        }
    }
}

/// Converts a schema name to a Python class name: `Nullable_doubleByOp` becomes
/// `NullableDoubleByOp`.
fn cap_words(name: &str) -> String {
    let words = name.split('_').map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_uppercase() + rest
    });
    words.collect()
}

fn class(name: &str, description: &str, fields: &[(&str, String)]) -> String {
    let line = wrapped(&format!("\"\"\"{description}\"\"\""));
    let mut text = format!("class {name}(TypedDict):\n{line}\n\n");
    for (key, kind) in fields {
        let _ = writeln!(text, "    {key}: {kind}");
    }
    text
}

/// Wraps the text of a docstring into indented lines of at most `WIDTH` characters.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::from("   ")];
    for word in text.split_whitespace() {
        if lines
            .last()
            .is_some_and(|line| line.len() + 1 + word.len() > WIDTH)
        {
            lines.push(String::from("   "));
        }
        if let Some(line) = lines.last_mut() {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines.join("\n")
}

fn functional(name: &str, description: &str, fields: &[(&str, String)]) -> String {
    let mut text = format!("# {description}\n{name} = TypedDict(\n    \"{name}\",\n    {{\n");
    for (key, kind) in fields {
        let _ = writeln!(text, "        \"{key}\": {kind},");
    }
    text + "    },\n)\n"
}
