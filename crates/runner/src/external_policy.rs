//! Records in the results that a replacement policy was passed to the run as code.

/// Key that names the policy.
const KEY: &str = "buffer.replacement";

/// Comment above the policy in the configuration.
const CODE: &str = "# The policy is not in this file, because it was passed to the run as code. Pass it again, or name another.\n";

/// Start of the line that names the policy.
const LINE: &str = "replacement = \"given:";

/// Removes the policy of an earlier run from a configuration; the caller passes another one.
pub(crate) fn unnamed(config: &str) -> String {
    let lines = config.lines();
    let kept = lines.map(|line| if line.starts_with(LINE) { "" } else { line });
    kept.flat_map(|line| [line, "\n"]).collect()
}

/// Returns the note that the configuration does not reproduce the run.
pub(crate) fn note(policy: &str) -> String {
    format!(
        "The replacement policy {policy} of the DRAM buffer was passed to the run as code, so the configuration alone does not reproduce it (buffer.replacement)."
    )
}

/// Returns the complete configuration with the name of the policy. It is rejected when read again,
/// unless a policy is passed again.
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
            stated.extend([LINE, policy, "\"\n"]);
        }
    }
    stated
}
