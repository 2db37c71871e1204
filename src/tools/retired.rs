//! The compiled-in list of retired tools, and the look-up in it.

use phf::OrderedMap;

use super::live::{self, LIVE_TOOLS};
use super::name::{MAX_NAME, fold};

/// A row of the list of retired tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RetiredTool {
    /// The exact name a model might still call.
    pub name: &'static str,
    /// The version of vak that no longer had the tool.
    pub retired_in: &'static str,
    /// What the row names as replacement: a live tool, or another retired one.
    pub replacement: &'static str,
    /// One line for the model and the operator.
    pub hint: Option<&'static str>,
}

// Defines `ROWS`, `RETIRED_TOOLS` and `LIVE_REPLACEMENTS`.
include!(concat!(env!("OUT_DIR"), "/retired_tools.rs"));

/// The list this build was made with.
pub(super) static SHIPPED: Table = Table::new(&ROWS, &RETIRED_TOOLS, &LIVE_REPLACEMENTS);

/// What is generated from one list. A type of its own, so that the benchmark can look up in lists of any size.
#[derive(Debug)]
pub struct Table {
    rows: &'static [RetiredTool],
    index: &'static OrderedMap<&'static str, &'static RetiredTool>,
    live_replacements: &'static [&'static str],
}

impl Table {
    /// Puts together what the renderer generates; all three in the order of the list.
    pub const fn new(
        rows: &'static [RetiredTool],
        index: &'static OrderedMap<&'static str, &'static RetiredTool>,
        live_replacements: &'static [&'static str],
    ) -> Table {
        Table {
            rows,
            index,
            live_replacements,
        }
    }

    /// Every row, in the order of the list.
    pub fn rows(&self) -> &'static [RetiredTool] {
        self.rows
    }

    /// The row of a retired tool, by any spelling of its name.
    pub fn retired_tool(&self, name: &str) -> Option<&'static RetiredTool> {
        let mut buffer = [0; MAX_NAME];
        self.index.get(fold(name, &mut buffer)?).copied()
    }

    /// The live tool that `name` means, or `name` itself.
    pub fn canonical<'a>(&self, name: &'a str) -> &'a str {
        let mut buffer = [0; MAX_NAME];
        let Some(folded) = fold(name, &mut buffer) else {
            return name;
        };
        let retired = self.index.get_index(folded);
        retired
            .and_then(|row| self.live_replacements.get(row).copied())
            .or_else(|| live::resolve(folded))
            .unwrap_or(name)
    }
}

/// The name of the live tool `name`. The generated source asks for it in constants, so that a replacement that
/// leads nowhere stops the compilation with the words of `otherwise`.
#[expect(
    clippy::panic,
    reason = "it is evaluated by the compiler, whose error message it becomes"
)]
pub const fn live(name: &str, otherwise: &str) -> &'static str {
    let mut at = 0;
    while at < LIVE_TOOLS.len() {
        if equal(LIVE_TOOLS[at].name, name) {
            return LIVE_TOOLS[at].name;
        }
        at += 1;
    }
    panic!("{}", otherwise)
}

/// `==` for strings, which constants cannot use yet.
const fn equal(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}
