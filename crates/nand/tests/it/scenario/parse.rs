//! Parser of Markdown scenarios. Errors name file and line.

use wordline_kernel::Time;
use wordline_nand::die::Row;
use wordline_nand::{Die, Layout, Operation, Stage};

use super::{Ask, Asked, Given, Item, Nand, Scenario, Strip, Wanted, What, fault, place, text};

/// Header of a timeline.
const COLUMNS: [&str; 5] = ["from ns", "until ns", "die", "stage", "what"];
const ARRAY: [Stage; 3] = [Stage::Ton, Stage::Tin, Stage::Ber];

/// Lines with their numbers, from 1.
type Lines<'a> = Vec<(usize, &'a str)>;

/// Parses a scenario. `file` is its name in messages.
pub fn scenario(file: &str, markdown: &str) -> Result<Scenario, String> {
    let lines: Lines = (1..).zip(markdown.lines()).collect();
    if !markdown.starts_with("# ") {
        return Err(fault(file, 1, "a scenario starts with its title, `# ...`"));
    }
    let nand = config(file, &lines)?;
    let layout = Layout::new(&nand.geometry, 1).filter(|layout| layout.pages() > 0);
    let layout = layout.ok_or_else(|| {
        fault(
            file,
            1,
            "the part has no pages, or too many; change its geometry",
        )
    })?;
    let (given, asked) = operations(file, &lines, &layout)?;
    let timeline = timeline(file, &lines, &layout)?;
    Ok(Scenario {
        file: file.to_owned(),
        nand,
        layout,
        given,
        asked,
        timeline,
    })
}

/// Parses the initial pages and the operations.
fn operations(
    file: &str,
    lines: &Lines,
    layout: &Layout,
) -> Result<(Vec<Given>, Vec<Asked>), String> {
    let (mut given, mut asked) = (Vec::new(), Vec::new());
    for (line, text) in fence(file, lines, "operations")? {
        let place = |what| fault(file, line, what);
        if text.trim().is_empty() {
            continue;
        }
        let (when, rest) = head(text).map_err(place)?;
        let (verb, die, rest) = subject(rest, layout.dies).map_err(place)?;
        if let When::Before = when {
            if !verb.is_empty() {
                return Err(place(format!(
                    "`given` accepts only pages; remove `{verb}`"
                )));
            }
            let pages = all_rows(rest, layout).map_err(place)?.concat();
            given.push(Given { line, die, pages });
            continue;
        }
        let at = if let When::At(time) = when {
            Some(time)
        } else {
            None
        };
        let what = ask(verb, rest, layout).map_err(place)?;
        if at.is_none() && matches!(what, Ask::Transactions(_)) {
            return Err(place(
                "a transaction needs a time; write `at 5 us`".to_owned(),
            ));
        }
        asked.push(Asked {
            line,
            at,
            die,
            what,
        });
    }
    let by_hand = |asked: &Asked| matches!(asked.what, Ask::Cycles(_));
    let mut kinds = asked
        .iter()
        .skip_while(|it| by_hand(it) == by_hand(&asked[0]));
    if let Some(other) = kinds.next() {
        return Err(fault(
            file,
            other.line,
            "commands and transactions are mixed; use one of the two",
        ));
    }
    if asked.is_empty() {
        return Err(fault(file, 1, "there are no operations; add some"));
    }
    Ok((given, asked))
}

/// Returns the lines inside the code fence of this language, or an error unless there is exactly
/// one.
fn fence<'a>(file: &str, lines: &Lines<'a>, language: &str) -> Result<Lines<'a>, String> {
    let opening = format!("```{language}");
    let mut openings = lines.iter().filter(|(_, text)| *text == opening);
    let missing = || fault(file, 1, format!("there is no {opening} block; add one"));
    let &(first, _) = openings.next().ok_or_else(missing)?;
    if let Some(&(line, _)) = openings.next() {
        return Err(fault(
            file,
            line,
            format!("there is a second {opening} block; remove it"),
        ));
    }
    let inside = lines.iter().skip(first).copied();
    Ok(inside.take_while(|(_, text)| *text != "```").collect())
}

fn config(file: &str, lines: &Lines) -> Result<Nand, String> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Device {
        nand: Nand,
    }
    let lines = fence(file, lines, "toml")?;
    let texts: Vec<&str> = lines.iter().map(|(_, text)| *text).collect();
    let source = texts.join("\n");
    let device: Result<Device, toml::de::Error> = toml::from_str(&source);
    device.map(|device| device.nand).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start.min(source.len()));
        let nth = source[..start].matches('\n').count();
        let line = lines.get(nth).map_or(1, |(line, _)| *line);
        fault(file, line, error.message())
    })
}

#[derive(Clone, Copy)]
enum When {
    Before,
    At(Time),
    Then,
}

/// Parses `given`, `at 5 us` or `then`. Returns the time and the rest of the line.
fn head(text: &str) -> Result<(When, &str), String> {
    if let Some(rest) = text.strip_prefix("given ") {
        return Ok((When::Before, rest.trim()));
    }
    if let Some(rest) = text.strip_prefix("then ") {
        return Ok((When::Then, rest.trim()));
    }
    let rest = text
        .strip_prefix("at ")
        .ok_or("the line must start with `given`, `at` or `then`")?;
    let mut words = rest.splitn(3, ' ');
    let (number, unit) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let number = number
        .parse()
        .map_err(|_| format!("`{number}` is not a time; write a whole number"))?;
    let time = match unit {
        "ns" => Time::from_ns(number),
        "us" => Time::from_us(number),
        "ms" => Time::from_ms(number),
        _ => {
            return Err(format!(
                "`{unit}` is not a unit of time; write ns, us or ms"
            ));
        }
    };
    Ok((When::At(time), words.next().unwrap_or("").trim()))
}

/// Splits a line into the words before `die 0:`, the die, and the rest.
fn subject(text: &str, dies: u32) -> Result<(&str, Die, &str), String> {
    let (before, rest) = text
        .split_once(':')
        .ok_or("the line names no die; write `die 0:`")?;
    let words = before
        .trim()
        .rsplit_once(' ')
        .ok_or("the line names no die; write `die 0:`")?;
    let verb = words
        .0
        .strip_suffix("die")
        .ok_or("the line names no die; write `die 0:`")?;
    let die: u32 = words
        .1
        .parse()
        .map_err(|_| "the die is not a number; write `die 0:`")?;
    if die >= dies {
        return Err(format!(
            "die {die} is out of range; use a number below {dies}"
        ));
    }
    Ok((verb.trim(), Die(die), rest.trim()))
}

fn all_rows(text: &str, layout: &Layout) -> Result<Vec<Vec<Row>>, String> {
    let rows: Result<Vec<_>, String> = text.split(',').map(|it| place::rows(it, layout)).collect();
    Ok(rows?.concat())
}

fn ask(verb: &str, rest: &str, layout: &Layout) -> Result<Ask, String> {
    if verb == "commands" {
        return Ok(Ask::Cycles(items(rest, layout)?));
    }
    let (several, single) = verb
        .strip_prefix("multi-plane ")
        .map_or((false, verb), |verb| (true, verb));
    let (cache, name) = single
        .strip_prefix("cache ")
        .map_or((false, single), |name| (true, name));
    let operation = Operation::ALL.into_iter().find(|it| it.name() == name);
    let operation = operation
        .ok_or_else(|| format!("`{verb}` is not an operation; write one such as `read`"))?;
    let (sources, targets) = match rest.split_once(" to ") {
        Some((sources, targets)) => (sources, all_rows(targets, layout)?),
        None => (rest, Vec::new()),
    };
    let rows = all_rows(sources, layout)?;
    if rows.iter().any(|row| (row.len() > 1) != several) {
        return Err("`multi-plane` must be given exactly if there are several planes".to_owned());
    }
    let moves = operation == Operation::Move;
    if targets.len() != if moves { rows.len() } else { 0 } {
        return Err("a move needs one target per row; other operations have none".to_owned());
    }
    if cache {
        return Ok(Ask::Transactions(vec![Wanted {
            operation,
            rows,
            targets,
        }]));
    }
    let single = |(nth, row)| Wanted {
        operation,
        rows: vec![row],
        targets: targets.get(nth).cloned().into_iter().collect(),
    };
    let rows = rows.into_iter().enumerate();
    Ok(Ask::Transactions(rows.map(single).collect()))
}

/// Parses cycles such as `80h plane 0 block 0 page 0, in, 10h`.
fn items(text: &str, layout: &Layout) -> Result<Vec<Item>, String> {
    text.split(',')
        .map(|piece| item(piece.trim(), layout))
        .collect()
}

fn item(text: &str, layout: &Layout) -> Result<Item, String> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    match word {
        "in" if rest.is_empty() => return Ok(Item::In),
        "out" => return Ok(Item::Out(place::page(rest, layout)?)),
        _ => {}
    }
    let code = command(word)?;
    let address = (!rest.is_empty()).then(|| place::page(rest, layout));
    Ok(Item::Command(code, address.transpose()?))
}

fn command(word: &str) -> Result<u8, String> {
    let digits = word.strip_suffix('h').filter(|digits| digits.len() == 2);
    let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
    code.ok_or_else(|| format!("`{word}` is not a command; write it like 80h"))
}

fn cells(text: &str) -> Option<Vec<&str>> {
    let inside = text.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(inside.split('|').map(str::trim).collect())
}

fn timeline(file: &str, lines: &Lines, layout: &Layout) -> Result<Vec<Strip>, String> {
    let header = |&(_, text): &(usize, &str)| cells(text).is_some_and(|cells| cells == COLUMNS);
    let mut headers = lines.iter().filter(|line| header(line));
    let missing = || {
        let columns = COLUMNS.join(" | ");
        fault(
            file,
            1,
            format!("there is no timeline; add a table | {columns} |"),
        )
    };
    let &(first, _) = headers.next().ok_or_else(missing)?;
    if let Some(&(line, _)) = headers.next() {
        return Err(fault(file, line, "there is a second timeline; remove it"));
    }
    let mut timeline: Vec<Strip> = Vec::new();
    for &(line, text) in &lines[(first + 1).min(lines.len())..] {
        let Some(cells) = cells(text) else { break };
        let strip = strip(line, &cells, layout).map_err(|what| fault(file, line, what))?;
        if timeline.last().is_some_and(|last| last.from > strip.from) {
            return Err(fault(
                file,
                line,
                "the row starts before the row above it; sort the rows",
            ));
        }
        timeline.push(strip);
    }
    if timeline.is_empty() {
        return Err(fault(file, first, "the timeline is empty; add rows"));
    }
    Ok(timeline)
}

fn strip(line: usize, cells: &[&str], layout: &Layout) -> Result<Strip, String> {
    let &[from, until, die, stage, what] = cells else {
        return Err(format!(
            "the row has {} columns, but must have 5",
            cells.len()
        ));
    };
    let time = |text: &str| {
        let number = text.replace(',', "").parse().map(Time::from_ns);
        number.map_err(|_| format!("`{text}` is not a time; write whole nanoseconds"))
    };
    let strip = Strip {
        line,
        from: time(from)?,
        until: time(until)?,
        die: Die(die
            .parse()
            .map_err(|_| format!("`{die}` is not a die; write its number"))?),
        what: what_of(stage, what, layout)?,
    };
    if strip.from >= strip.until {
        return Err("the row does not end after its start; correct its times".to_owned());
    }
    if strip.die.0 >= layout.dies {
        return Err(format!("die {die} is out of range; use one of the part"));
    }
    Ok(strip)
}

fn what_of(stage: &str, what: &str, layout: &Layout) -> Result<What, String> {
    if stage == "busy" {
        return Ok(What::Busy(command(what)?));
    }
    if let Some(array) = ARRAY.into_iter().find(|array| array.name() == stage) {
        return match &place::rows(what, layout)?[..] {
            [row] => Ok(What::Array(array, row.clone())),
            _ => Err("the array processes one page per plane at a time".to_owned()),
        };
    }
    let items = items(what, layout)?;
    let stages = text::stages(&items);
    if stages != stage {
        return Err(format!("the stages of these cycles must be `{stages}`"));
    }
    Ok(What::Bus(items))
}
