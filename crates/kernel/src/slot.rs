//! Policy slots: one file per policy, and one line in the list of its family.

use schemars::{Schema, SchemaGenerator, json_schema};

/// Policy, as described in the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyInfo {
    /// Configuration key of the family, such as `ftl.gc.victim`.
    pub family: &'static str,
    /// Question that the family answers.
    pub question: &'static str,
    /// Configuration tag, such as `d-choices`; also the name of the file and the docs anchor.
    pub name: &'static str,
    /// Doc comment of the policy's parameters: what, why, units, source.
    pub description: String,
    /// Publication of the policy, or empty.
    pub paper: &'static str,
}

/// Source of a policy. Implemented by the parameters of every policy.
pub trait Cited {
    /// Author, title, venue and year; empty for a policy without a publication.
    const PAPER: &'static str;
}

/// Declares a family: the configuration enum (externally tagged, also accepted as a bare name if
/// every parameter has its default), its list of members, and its JSON schema.
///
/// ```
/// # use serde::{Deserialize, Serialize};
/// # use schemars::JsonSchema;
/// /// First come, first served.
/// #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
/// #[serde(default, deny_unknown_fields)]
/// pub struct Fifo {}
/// impl wordline_kernel::slot::Cited for Fifo { const PAPER: &'static str = ""; }
///
/// wordline_kernel::family! {
///     /// Which request is served next?
///     pub enum Order at "queue.order" {
///         "fifo" => Fifo(Fifo),
///     }
/// }
/// let order: Order = serde_json::from_str("\"fifo\"").unwrap();
/// assert_eq!(order, Order::Fifo(Fifo {}));
/// ```
#[macro_export]
macro_rules! family {
    (
        $(#[doc = $question:literal])+
        pub enum $Family:ident at $path:literal {
            $($tag:literal => $Variant:ident($Parameters:ty)),+ $(,)?
        }
    ) => {
        $(#[doc = $question])+
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        pub enum $Family {
            $(
                #[doc = concat!("`", $tag, "`")]
                #[serde(rename = $tag)]
                $Variant($Parameters),
            )+
        }

        impl $Family {
            /// Configuration key of this family.
            pub const PATH: &'static str = $path;
            /// Question that this family answers.
            pub const QUESTION: &'static str = concat!($($question),+).trim_ascii();
            /// Configuration tags of all members.
            pub const NAMES: &'static [&'static str] = &[$($tag),+];
            /// Returns the configuration tag of this member.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$Variant(_) => $tag),+ }
            }
            /// Returns the publication of this member, or an empty string.
            pub fn paper(&self) -> &'static str {
                match self {
                    $(Self::$Variant(_) => <$Parameters as $crate::slot::Cited>::PAPER),+
                }
            }
            /// Returns a description of each member, for the reference pages.
            pub fn members() -> Vec<$crate::slot::PolicyInfo> {
                vec![$($crate::slot::PolicyInfo {
                    family: $path,
                    question: Self::QUESTION,
                    name: $tag,
                    description: $crate::slot::description(<$Parameters as schemars::JsonSchema>::json_schema),
                    paper: <$Parameters as $crate::slot::Cited>::PAPER,
                }),+]
            }
            /// Returns every member with default parameters, for tests of the whole family.
            pub fn defaults() -> Vec<Self> {
                vec![$(Self::$Variant(<$Parameters>::default())),+]
            }
        }

        impl<'de> serde::Deserialize<'de> for $Family {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if !deserializer.is_human_readable() {
                    // A checkpoint stores the index of the member in the list instead of its name.
                    #[derive(serde::Deserialize)]
                    enum Written { $($Variant($Parameters)),+ }
                    return Ok(match Written::deserialize(deserializer)? {
                        $(Written::$Variant(parameters) => Self::$Variant(parameters)),+
                    });
                }
                struct Choice;
                impl<'de> serde::de::Visitor<'de> for Choice {
                    type Value = $Family;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        write!(f, "one of {}", $Family::NAMES.join(", "))
                    }
                    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<$Family, E> {
                        match name {
                            $($tag => Ok($Family::$Variant(<$Parameters>::default())),)+
                            _ => Err(E::unknown_variant(name, $Family::NAMES)),
                        }
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$Family, A::Error> {
                        use serde::de::Error;
                        let Some(name) = map.next_key::<String>()? else {
                            return Err(A::Error::custom(format!(
                                "an empty table; name one of {}", $Family::NAMES.join(", "))));
                        };
                        let choice = match name.as_str() {
                            $($tag => $Family::$Variant(map.next_value()?),)+
                            _ => return Err(A::Error::unknown_variant(&name, $Family::NAMES)),
                        };
                        match map.next_key::<String>()? {
                            None => Ok(choice),
                            Some(second) => Err(A::Error::custom(format!(
                                "both `{name}` and `{second}` are given; keep one"))),
                        }
                    }
                }
                deserializer.deserialize_any(Choice)
            }
        }

        impl schemars::JsonSchema for $Family {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($Family).into()
            }
            fn schema_id() -> std::borrow::Cow<'static, str> {
                $path.into()
            }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let members = vec![$(($tag, generator.subschema_for::<$Parameters>())),+];
                $crate::slot::family_schema($Family::QUESTION, members)
            }
        }
    };
}

/// Implements a trait for an enum whose variants contain implementations of the trait: each method
/// calls the method of the current variant. A method is given by its signature, including
/// attributes; a method with a body is kept unchanged.
///
/// ```
/// trait Order {
///     fn push(&mut self, request: u32);
///     fn waiting(&self) -> usize;
///     fn is_empty(&self) -> bool;
/// }
/// struct Fifo(Vec<u32>);
/// impl Order for Fifo {
///     fn push(&mut self, request: u32) { self.0.push(request) }
///     fn waiting(&self) -> usize { self.0.len() }
///     fn is_empty(&self) -> bool { self.0.is_empty() }
/// }
/// enum Queue { Fifo(Fifo) }
///
/// wordline_kernel::forward! {
///     impl Order for Queue by [Fifo] {
///         #[inline]
///         fn push(&mut self, request: u32);
///         fn waiting(&self) -> usize;
///         fn is_empty(&self) -> bool { self.waiting() == 0 }
///     }
/// }
/// let mut queue = Queue::Fifo(Fifo(vec![]));
/// queue.push(7);
/// assert_eq!((queue.waiting(), queue.is_empty()), (1, false));
/// ```
#[macro_export]
macro_rules! forward {
    (impl $Trait:ident for $Type:ident by $variants:tt { $($items:tt)* }) => {
        impl $Trait for $Type {
            $crate::forward! { @items $Trait $variants $($items)* }
        }
    };
    (@items $Trait:ident $variants:tt) => {};
    (@items $Trait:ident $variants:tt type $Name:ident = $Type:ty; $($rest:tt)*) => {
        type $Name = $Type;
        $crate::forward! { @items $Trait $variants $($rest)* }
    };
    (
        @items $Trait:ident $variants:tt
        $(#[$attribute:meta])*
        fn $method:ident $(<$($Generic:ident),+>)? $signature:tt $(-> $Output:ty)?;
        $($rest:tt)*
    ) => {
        $(#[$attribute])*
        fn $method $(<$($Generic),+>)? $signature $(-> $Output)? {
            $crate::forward! { @call $Trait $variants $method $signature }
        }
        $crate::forward! { @items $Trait $variants $($rest)* }
    };
    (
        @items $Trait:ident $variants:tt
        $(#[$attribute:meta])*
        fn $method:ident $(<$($Generic:ident),+>)? $signature:tt $(-> $Output:ty)? $body:block
        $($rest:tt)*
    ) => {
        $(#[$attribute])*
        fn $method $(<$($Generic),+>)? $signature $(-> $Output)? $body
        $crate::forward! { @items $Trait $variants $($rest)* }
    };
    (@call $Trait:ident $variants:tt $method:ident (&mut $self:ident $(, $argument:ident: $Type:ty)* $(,)?)) => {
        $crate::forward! { @match $self $variants $Trait $method member (member $(, $argument)*) }
    };
    (@call $Trait:ident $variants:tt $method:ident (&$self:ident $(, $argument:ident: $Type:ty)* $(,)?)) => {
        $crate::forward! { @match $self $variants $Trait $method member (member $(, $argument)*) }
    };
    (@call $Trait:ident $variants:tt $method:ident ($self:ident $(, $argument:ident: $Type:ty)* $(,)?)) => {
        $crate::forward! { @match $self $variants $Trait $method member (member $(, $argument)*) }
    };
    (@match $self:ident [$($Variant:ident),+ $(,)?] $Trait:ident $method:ident $member:ident $arguments:tt) => {
        match $self {
            $(Self::$Variant($member) => $Trait::$method $arguments),+
        }
    };
}

/// Returns the JSON schema of a family, from the configuration tag of each member and the schema of
/// its parameters. The schema accepts a tag alone, or a table with one member.
pub fn family_schema(question: &str, members: Vec<(&'static str, Schema)>) -> Schema {
    let tags: Vec<&str> = members.iter().map(|(tag, _)| *tag).collect();
    let tables = members.into_iter().map(|(tag, parameters)| {
        json_schema!({
            "type": "object",
            "properties": { tag: parameters },
            "required": [tag],
            "additionalProperties": false,
        })
    });
    let mut choices = vec![json_schema!({ "enum": tags })];
    choices.extend(tables);
    json_schema!({ "description": question, "oneOf": choices })
}

/// Returns the doc comment of a policy's parameters from `schema_of`, which returns their JSON
/// schema.
pub fn description(schema_of: fn(&mut SchemaGenerator) -> Schema) -> String {
    let schema = schema_of(&mut SchemaGenerator::default());
    let text = schema.get("description").and_then(|text| text.as_str());
    text.unwrap_or_default().to_owned()
}
