//! Rows of text in columns that line up.

use super::super::STRONG;
use super::super::out::Out;
use super::super::scan::excerpt::shown_text;
use std::io::{self, Write as _};
use unicode_width::UnicodeWidthStr;

/// Writes a head and rows. Every cell is made fit for a terminal; the last column is not padded.
pub(super) fn write<const N: usize>(
    out: &mut Out,
    head: [&str; N],
    rows: &[[String; N]],
) -> io::Result<()> {
    let rows: Vec<[String; N]> = rows
        .iter()
        .map(|row| row.each_ref().map(|cell| shown_text(cell)))
        .collect();
    let mut widths = head.map(UnicodeWidthStr::width);
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    writeln!(
        out,
        "{STRONG}{}{STRONG:#}",
        line(&head.map(str::to_owned), &widths)
    )?;
    for row in &rows {
        writeln!(out, "{}", line(row, &widths))?;
    }
    Ok(())
}

fn line<const N: usize>(cells: &[String; N], widths: &[usize; N]) -> String {
    let mut text = String::new();
    for (cell, width) in cells.iter().zip(widths) {
        text.push_str(cell);
        // Two blanks between columns, and no more than the column needs.
        let missing = width - cell.width() + 2;
        text.extend(std::iter::repeat_n(' ', missing));
    }
    text.trim_end().to_owned()
}
