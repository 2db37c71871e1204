//! A line of somebody's file, made fit for a terminal: nothing in it can move the cursor or hide, and the
//! mark stands under what it marks.

use std::ops::Range;
use std::path::Path;
use unicode_width::UnicodeWidthChar as _;

/// Every how many columns a tab stops.
const TAB: usize = 4;
/// Stands for what was left out of a long line.
const ELLIPSIS: char = '…';

/// A line to show, and the columns of it to mark.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) text: String,
    pub(crate) mark: Range<usize>,
}

/// A character and how many columns it takes.
#[derive(Debug, Clone, Copy)]
struct Cell {
    character: char,
    width: usize,
}

/// Lays out a line in at most `width` columns; `mark` is in bytes of `line`. Of a longer line the part
/// around the mark is shown.
pub(crate) fn lay_out(line: &str, mark: &Range<usize>, width: usize) -> Shown {
    let mut cells = Vec::with_capacity(line.len());
    let mut marked = 0..0;
    let mut column = 0;
    for (at, character) in line.char_indices() {
        if at == mark.start {
            marked.start = cells.len();
        }
        if at < mark.end {
            marked.end = cells.len() + 1;
        }
        let cell = Cell::of(character, column);
        column += cell.width;
        cells.push(cell);
    }
    let window = window(&cells, &marked, width);
    let before = (window.start > 0).then_some(ELLIPSIS);
    let after = (window.end < cells.len()).then_some(ELLIPSIS);
    let lead = columns(&cells[window.start..marked.start.max(window.start)]);
    let start = lead + usize::from(before.is_some());
    let end = start + columns(&cells[marked.start..marked.end.min(window.end)]);
    let mut text = String::with_capacity(line.len());
    text.extend(before);
    cells[window]
        .iter()
        .for_each(|cell| cell.push_to(&mut text));
    text.extend(after);
    Shown {
        text,
        mark: start..end,
    }
}

/// Which cells are shown: all if they fit, else the mark, a third of the rest before it and as much as
/// fits behind.
fn window(cells: &[Cell], marked: &Range<usize>, width: usize) -> Range<usize> {
    if columns(cells) <= width {
        return 0..cells.len();
    }
    // An ellipsis at each end takes a column.
    let width = width.saturating_sub(2);
    let mark = columns(&cells[marked.clone()]);
    let lead = cells[..marked.start].iter().rev();
    let start = marked.start - count_fitting(lead, width.saturating_sub(mark) / 3);
    let end = start + count_fitting(cells[start..].iter(), width);
    let spare = width.saturating_sub(columns(&cells[start..end]));
    let start = start - count_fitting(cells[..start].iter().rev(), spare);
    start..end
}

fn count_fitting<'c>(cells: impl Iterator<Item = &'c Cell>, width: usize) -> usize {
    cells
        .scan(0, |used, cell| {
            *used += cell.width;
            (*used <= width).then_some(())
        })
        .count()
}

fn columns(cells: &[Cell]) -> usize {
    cells.iter().map(|cell| cell.width).sum()
}

impl Cell {
    fn of(character: char, column: usize) -> Cell {
        match character {
            '\t' => Cell {
                character,
                width: TAB - column % TAB,
            },
            // These only change how their neighbours look; without them, widths add up.
            '\u{200d}' | '\u{fe00}'..='\u{fe0f}' => Cell {
                character,
                width: 0,
            },
            _ => {
                let character = harmless(character);
                let width = character.width().unwrap_or(1);
                Cell { character, width }
            }
        }
    }

    fn push_to(self, text: &mut String) {
        match self.character {
            '\t' => text.extend(std::iter::repeat_n(' ', self.width)),
            '\u{200d}' | '\u{fe00}'..='\u{fe0f}' => {}
            character => text.push(character),
        }
    }
}

/// The character itself, or a visible sign for one that a terminal would obey or not show.
fn harmless(character: char) -> char {
    match character {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        '\u{80}'..='\u{9f}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{e0000}'..='\u{e007f}' => '\u{fffd}',
        other => other,
    }
}

/// Any text, on one line, made fit for a terminal.
pub(crate) fn shown_text(text: &str) -> String {
    text.chars().map(harmless).collect()
}

/// Any text, its lines kept, made fit for a terminal.
pub(crate) fn shown_lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(shown_text).collect();
    lines.join("\n")
}

/// A path, made fit for a terminal.
pub(crate) fn shown_path(path: &Path) -> String {
    shown_text(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::lay_out;

    /// The line with its mark beneath, as people see it.
    #[track_caller]
    fn check(line: &str, name: &str, width: usize, expected: &str) {
        let start = line.find(name).unwrap();
        let shown = lay_out(line, &(start..start + name.len()), width);
        let caret = "^".repeat(shown.mark.len());
        let seen = format!(
            "{}\n{:start$}{caret}",
            shown.text,
            "",
            start = shown.mark.start
        );
        assert_eq!(seen, expected);
    }

    #[test]
    fn the_mark_stands_under_the_name() {
        check("call `x_y` now", "x_y", 80, "call `x_y` now\n      ^^^");
        check("x_y", "x_y", 80, "x_y\n^^^");
        check("\tcall\tx_y", "x_y", 80, "    call    x_y\n            ^^^");
        check("漢字 x_y", "x_y", 80, "漢字 x_y\n     ^^^");
        check("e\u{301} x_y", "x_y", 80, "e\u{301} x_y\n  ^^^");
        check(
            "👩\u{200d}💻❤\u{fe0f} x_y",
            "x_y",
            80,
            "👩💻❤ x_y\n      ^^^",
        );
    }

    #[test]
    fn a_long_line_is_clipped_around_the_mark() {
        let line = format!("{}x_y{}", "a".repeat(50), "b".repeat(50));
        check(&line, "x_y", 21, "…aaaaax_ybbbbbbbbbbb…\n      ^^^");
        check(&line[40..], "x_y", 21, "…aaaaax_ybbbbbbbbbbb…\n      ^^^");
        check(
            &line[..56],
            "x_y",
            21,
            "…aaaaaaaaaaaaax_ybbb\n              ^^^",
        );
        check(&line[48..], "x_y", 21, "aax_ybbbbbbbbbbbbbb…\n  ^^^");
        check(&line, "x_y", 4, "…x_…\n ^^");
        check(&line, "x_y", 0, "……\n ");
    }

    #[test]
    fn nothing_in_a_line_reaches_the_terminal_as_a_command() {
        check(
            "\u{1b}]0;pwned\u{7} \u{9b}2J\u{202e} x_y\u{7f}\r",
            "x_y",
            80,
            "␛]0;pwned␇ \u{fffd}2J\u{fffd} x_y␡␍\n                ^^^",
        );
    }
}
