//! Pages as text: `plane 0 block 3 page 5`, `planes 0+1 block 3 pages 0-7`, `plane 0 block 3`.

use wordline_nand::Layout;
use wordline_nand::die::Row;

/// Parses the pages of a die, row by row. The pages of a row have the same offset in their blocks.
/// A block without a page stands for its page 0.
pub fn rows(words: &str, layout: &Layout) -> Result<Vec<Vec<Row>>, String> {
    let words: Vec<&str> = words.split_whitespace().collect();
    let (planes, rest) = field(&words, "plane", '+')?
        .ok_or("the address must start with its plane; write `plane 0`")?;
    let (blocks, rest) = field(rest, "block", '+')?.unwrap_or((vec![0], rest));
    let (pages, rest) = field(rest, "page", '-')?.unwrap_or((vec![0], rest));
    if let Some(word) = rest.first() {
        return Err(format!("`{word}` is not part of an address; remove it"));
    }
    if blocks.len() != 1 && blocks.len() != planes.len() {
        return Err("give one block, or one per plane".to_owned());
    }
    let (first, last) = match pages[..] {
        [page] => (page, page),
        [first, last] if first <= last => (first, last),
        _ => return Err("write a range of pages as first-last".to_owned()),
    };
    let row = |page| {
        let place = |(nth, &plane): (usize, &u32)| Row {
            plane,
            block: blocks[if blocks.len() == 1 { 0 } else { nth }],
            page,
        };
        planes.iter().enumerate().map(place).collect()
    };
    let rows: Vec<Vec<Row>> = (first..=last).map(row).collect();
    let beyond = |row: &&Row| {
        row.plane >= layout.planes_per_die
            || row.block >= layout.blocks_per_plane
            || row.page >= layout.pages_per_block
    };
    match rows.iter().flatten().find(beyond) {
        Some(row) => Err(format!("{} is out of range", words_of(&[*row], true))),
        None => Ok(rows),
    }
}

/// Parses the address of a single page.
pub fn page(words: &str, layout: &Layout) -> Result<Row, String> {
    match rows(words, layout)?[..] {
        [ref row] if row.len() == 1 => Ok(row[0]),
        _ => Err(format!("`{words}` is more than one page; write one")),
    }
}

type Field<'a> = (Vec<u32>, &'a [&'a str]);

fn field<'a>(words: &'a [&'a str], name: &str, between: char) -> Result<Option<Field<'a>>, String> {
    let [word, numbers, rest @ ..] = words else {
        return Ok(None);
    };
    if word.strip_suffix('s').unwrap_or(word) != name {
        return Ok(None);
    }
    let number = |text: &str| {
        text.parse()
            .map_err(|_| format!("`{text}` is not the number of a {name}; write a whole number"))
    };
    let numbers: Result<Vec<u32>, String> = numbers.split(between).map(number).collect();
    Ok(Some((numbers?, rest)))
}

/// Formats the pages or blocks of a row in the notation of scenarios.
pub fn words_of(row: &[Row], pages: bool) -> String {
    let list = |name, numbers: Vec<u32>| {
        let plural = if numbers.len() > 1 { "s" } else { "" };
        let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
        format!("{name}{plural} {}", numbers.join("+"))
    };
    let mut blocks: Vec<u32> = row.iter().map(|row| row.block).collect();
    if blocks.iter().all(|block| *block == blocks[0]) {
        blocks.truncate(1);
    }
    let planes = row.iter().map(|row| row.plane).collect();
    let words = format!("{} {}", list("plane", planes), list("block", blocks));
    match row.first().filter(|_| pages) {
        Some(row) => format!("{words} page {}", row.page),
        None => words,
    }
}
