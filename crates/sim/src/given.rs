//! What a run says of a policy that was given to it as code, and is not part of the program.

/// The key that names the policy.
const KEY: &str = "buffer.replacement";

/// Stands above it.
const CODE: &str = "# Not in this file: the policy was given to the run as code. Give it again, or name another.\n";

/// An override that names a policy in place of the one that was given; nobody asks it.
pub(crate) fn unnamed() -> (String, String) {
    (KEY.to_owned(), "\"lru\"".to_owned())
}

/// A note that the configuration does not repeat the run.
pub(crate) fn note(policy: &str) -> String {
    format!(
        "Who left the DRAM buffer was chosen by the policy {policy}, which was given to the run as code: the configuration alone does not repeat it."
    )
}

/// A complete configuration in which the policy is named that was given; read again it is refused,
/// unless a policy is given again.
pub(crate) fn stated(resolved: &str, policy: &str) -> String {
    let mut stated = String::with_capacity(resolved.len() + 256);
    let mut inside = false;
    for line in resolved.lines() {
        if line.starts_with('[') {
            inside = line.trim_matches(['[', ']']).starts_with(KEY);
        }
        if inside {
            continue;
        }
        stated.push_str(line);
        stated.push('\n');
        if line == "[buffer]" {
            stated.push_str(CODE);
            stated.extend(["replacement = \"given:", policy, "\"\n"]);
        }
    }
    stated
}
