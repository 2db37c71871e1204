//! A valid list as the Rust source of the compiled-in table.
//!
//! The shape is chosen for the compiler: constant arrays and one perfect hash, whose cost grows with the
//! number of rows, in place of a `match` on strings, whose cost explodes (10,000 names: minutes).

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use crate::FILE;
use crate::row::{Row, fold};
use crate::validate::List;

/// Renders the source that `src/tools` includes. The same list gives the same bytes, anywhere.
///
/// It defines `ROWS`, the rows in the order of the list; `RETIRED_TOOLS`, which leads from a folded name to
/// its row; and `LIVE_REPLACEMENTS`, the live tool at the end of each row's chain. It expects `RetiredTool`
/// and `const fn live(name, otherwise)` in scope; that function finds a live tool or stops the compilation
/// with the words it was given.
pub fn render(list: &List) -> String {
    let mut source = String::new();
    // Writing to a string cannot fail.
    let _ = write_source(&mut source, list);
    source
}

fn write_source(out: &mut String, list: &List) -> fmt::Result {
    writeln!(
        out,
        "// @generated from `{FILE}` by the build script; do not edit."
    )?;
    writeln!(out, "// `cargo xtask retire` adds a row to the list.\n")?;
    let constants = write_live_tools(out, list)?;
    write_rows(out, list.rows())?;
    write_index(out, list.rows())?;
    write_replacements(out, list, &constants)
}

/// One constant per live tool that a chain ends on; it does not compile unless the tool is live.
fn write_live_tools<'a>(
    out: &mut String,
    list: &'a List,
) -> Result<BTreeMap<&'a str, String>, fmt::Error> {
    let mut first_rows: BTreeMap<&str, &Row> = BTreeMap::new();
    for (row, end) in list.resolved() {
        first_rows.entry(end).or_insert(row);
    }
    let mut constants = BTreeMap::new();
    for (number, (tool, row)) in first_rows.into_iter().enumerate() {
        let constant = constant_name(number, tool);
        let otherwise = format!(
            "{FILE}:{}: the replacements of `{}` end on `{tool}`, which is not a live tool",
            row.line, row.name
        );
        writeln!(
            out,
            "const {constant}: &str = live({tool:?}, {otherwise:?});"
        )?;
        constants.insert(tool, constant);
    }
    Ok(constants)
}

/// `LIVE_0_BASH`: the number keeps two names apart that differ only in what an identifier cannot hold.
fn constant_name(number: usize, tool: &str) -> String {
    let word: String = tool
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter.to_ascii_uppercase()
            } else {
                '_'
            }
        })
        .collect();
    format!("LIVE_{number}_{word}")
}

fn write_rows(out: &mut String, rows: &[Row]) -> fmt::Result {
    writeln!(out, "\n/// Every retired tool, in the order of the list.")?;
    writeln!(out, "static ROWS: [RetiredTool; {}] = [", rows.len())?;
    for row in rows {
        let Row {
            name,
            retired_in,
            replacement,
            hint,
            ..
        } = row;
        let retired_in = retired_in.to_string();
        writeln!(
            out,
            "    RetiredTool {{ name: {name:?}, retired_in: {retired_in:?}, replacement: {replacement:?}, hint: {hint:?} }},"
        )?;
    }
    writeln!(out, "];")
}

fn write_index(out: &mut String, rows: &[Row]) -> fmt::Result {
    let mut index = phf_codegen::OrderedMap::new();
    for (at, row) in rows.iter().enumerate() {
        index.entry(fold(&row.name), format!("&ROWS[{at}]"));
    }
    writeln!(
        out,
        "\n/// Every retired tool by its name, lower-cased and with `-` as `_`, in the order of the list."
    )?;
    writeln!(
        out,
        "pub static RETIRED_TOOLS: ::phf::OrderedMap<&'static str, &'static RetiredTool> = {};",
        index.build()
    )
}

fn write_replacements(
    out: &mut String,
    list: &List,
    constants: &BTreeMap<&str, String>,
) -> fmt::Result {
    writeln!(
        out,
        "\n/// The live tool at the end of each row's chain of replacements, in the order of the list."
    )?;
    let count = list.rows().len();
    writeln!(out, "static LIVE_REPLACEMENTS: [&str; {count}] = [")?;
    for (row, end) in list.resolved() {
        writeln!(out, "    {}, // {}", constants[end], row.name)?;
    }
    writeln!(out, "];")
}
