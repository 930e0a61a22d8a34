//! Executes a scenario on the event-driven package.

use wordline_nand::die::Row;
use wordline_nand::package::Strip;
use wordline_nand::{Die, Layout, Operation, Package, Plane, Ppn, Resource, Stage, Transaction};

use super::place::words_of;
use super::text::Line;
use super::{Ask, Scenario, Wanted, fault};

/// Commands that start work and end a bus grant.
const CONFIRMS: [u8; 10] = [0x10, 0x11, 0x15, 0x30, 0x31, 0x32, 0x35, 0x3F, 0xD0, 0xD1];

fn page(layout: &Layout, die: Die, row: Row) -> Ppn {
    let plane = Plane(die.0 * layout.planes_per_die + row.plane);
    layout.page(layout.block(plane, row.block), row.page)
}

/// Returns the timeline that the package produces with interleaved dies, one line per strip.
pub fn run(scenario: &Scenario) -> Result<Vec<Line>, String> {
    let say = |line, what: &dyn ToString| fault(&scenario.file, line, what.to_string());
    let part = scenario.nand.part();
    let part = part.ok_or_else(|| say(1, &"the part has too many pages; make it smaller"))?;
    let mut package = Package::new(&part, true);
    package.keep_strips();
    for given in &scenario.given {
        for &row in &given.pages {
            let page = page(&scenario.layout, given.die, row);
            let programmed = package.array_mut().program(page);
            programmed.map_err(|violation| say(given.line, &violation))?;
        }
    }
    let submitted = submit(scenario, &mut package)?;
    let mut done = 0;
    while let Some(completion) = package.next_completion() {
        let (line, _) = submitted[completion.number as usize];
        completion
            .result
            .map_err(|violation| say(line, &violation))?;
        done += 1;
    }
    assert_eq!(done, submitted.len(), "every transaction must complete");
    Ok(lines(package.strips(), &submitted))
}

/// Submits all transactions of the scenario. Returns them with their lines, by number.
fn submit<'a>(
    scenario: &'a Scenario,
    package: &mut Package,
) -> Result<Vec<(usize, &'a Wanted)>, String> {
    let mut submitted = Vec::new();
    for asked in &scenario.asked {
        let say = |what: &dyn ToString| fault(&scenario.file, asked.line, what.to_string());
        let (Some(at), Ask::Transactions(wanted)) = (asked.at, &asked.what) else {
            return Err(say(
                &"a package supports only transactions; remove the commands",
            ));
        };
        let pages = |rows: &[Vec<Row>]| -> Vec<Ppn> {
            let rows = rows.iter().flatten();
            rows.map(|row| page(&scenario.layout, asked.die, *row))
                .collect()
        };
        for wanted in wanted {
            let transaction = Transaction {
                operation: wanted.operation,
                pages: &pages(&wanted.rows),
                targets: &pages(&wanted.targets),
                planes: wanted.rows[0].len() as u32,
            };
            package
                .submit(at, &transaction)
                .map_err(|error| say(&error))?;
            submitted.push((asked.line, wanted));
        }
    }
    Ok(submitted)
}

fn lines(strips: &[Strip], submitted: &[(usize, &Wanted)]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut worked = vec![0; submitted.len()];
    let mut hold: Option<&Strip> = None;
    for strip in strips {
        let (_, wanted) = submitted[strip.transaction as usize];
        if strip.stage.resource() == Resource::Array {
            let nth = &mut worked[strip.transaction as usize];
            let row = row(wanted, *nth);
            *nth += 1;
            let what = words_of(row, strip.stage != Stage::Ber);
            lines.push(line(strip, what));
            hold = None;
            continue;
        }
        let code = strip
            .command
            .map_or(String::new(), |code| format!("{code:02X}h"));
        match lines
            .last_mut()
            .filter(|_| hold.is_some_and(|last| goes_on(last, strip)))
        {
            Some(line) => {
                line.until = strip.until;
                line.stage = format!("{} {}", line.stage, strip.stage.name());
                line.what = [line.what.as_str(), code.as_str()].join(" ").trim().into();
            }
            None => lines.push(line(strip, code)),
        }
        hold = Some(strip);
    }
    lines
}

fn line(strip: &Strip, what: String) -> Line {
    Line {
        from: strip.from,
        until: strip.until,
        die: strip.die,
        stage: strip.stage.name().to_owned(),
        what,
    }
}

/// Returns `true` if two bus stages belong to the same bus grant. A status read starts a new grant,
/// and so does a program of new data.
fn goes_on(last: &Strip, next: &Strip) -> bool {
    let begins = matches!(next.command, Some(0x70 | 0x80));
    let ended = last.command.is_some_and(|code| CONFIRMS.contains(&code));
    last.transaction == next.transaction && last.until == next.from && !begins && !ended
}

/// Returns the pages of the array operation number `nth` of a transaction.
fn row(wanted: &Wanted, nth: usize) -> &[Row] {
    if wanted.operation == Operation::Move && nth == 1 {
        return &wanted.targets[0];
    }
    &wanted.rows[nth]
}
