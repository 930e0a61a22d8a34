//! What a run says of a policy that was given to it as code, and is not part of the program.

/// The key that names the policy.
const KEY: &str = "buffer.replacement";

/// Stands above it.
const CODE: &str = "# Not in this file: the policy was given to the run as code. Give it again, or name another.\n";

/// How the line begins that names the policy.
const LINE: &str = "replacement = \"given:";

/// A configuration without the policy that was given to a former run: another is given now.
pub(crate) fn unnamed(config: &str) -> String {
    let lines = config.lines();
    let kept = lines.map(|line| if line.starts_with(LINE) { "" } else { line });
    kept.flat_map(|line| [line, "\n"]).collect()
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
            stated.extend([LINE, policy, "\"\n"]);
        }
    }
    stated
}
