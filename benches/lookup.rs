//! What it costs to look a name up: the compiled-in table against a `HashMap`, a linear scan and a flat `match`,
//! in lists of 2 to 10,000 rows.
//!
//! Everyone gets the name folded in the same way first (trimmed, lower-cased, `-` as `_`). The table alone goes on
//! to the live tools' aliases where the name is not retired, as `canonical_tool_name` does.
//!
//!     cargo bench --bench lookup --no-default-features --features bench-tables

use std::collections::HashMap;
use std::sync::LazyLock;

use divan::{AllocProfiler, Bencher, black_box};
use registry::sample;
use vak::tools::{MAX_NAME, Table, fold};

/// Counts allocations; the report shows them wherever there are any.
#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// How many names a measurement goes round, so that it does not measure one name's luck. A sample goes round once.
const NAMES: usize = 1024;

/// What kind of name is looked up.
#[derive(Debug, Clone, Copy)]
enum Name {
    Known,
    OtherCase,
    Unknown,
    LongUnknown,
}

const KINDS: [Name; 4] = [
    Name::Known,
    Name::OtherCase,
    Name::Unknown,
    Name::LongUnknown,
];

impl Name {
    /// Names of this kind, for a list of `rows` rows.
    fn names(self, rows: usize) -> Vec<String> {
        // A stride without a factor in common with the sizes reaches every part of the list.
        let row = |at: usize| sample::name(at * 7919 % rows);
        (0..NAMES)
            .map(|at| match self {
                Name::Known => row(at),
                Name::OtherCase => row(at).to_ascii_uppercase().replace('_', "-"),
                Name::Unknown => format!("{}_x", row(at)),
                Name::LongUnknown => row(at).repeat(64),
            })
            .collect()
    }
}

/// Measures one look-up at a time, going round the names.
fn measure(bencher: Bencher<'_, '_>, rows: usize, kind: Name, look_up: impl Fn(&str) -> usize) {
    let names = kind.names(rows);
    // The first touch of each row is the operating system's cost, not the look-up's.
    names.iter().for_each(|name| {
        black_box(look_up(name));
    });
    let mut at = 0;
    bencher.bench_local(|| {
        at = (at + 1) % NAMES;
        look_up(black_box(&names[at]))
    });
}

/// Folds a name and asks a peer for it.
fn folded(name: &str, look_up: impl Fn(&str) -> Option<&'static str>) -> usize {
    let mut buffer = [0; MAX_NAME];
    fold(name, &mut buffer)
        .and_then(look_up)
        .map_or(0, str::len)
}

/// A module per size: the generated table, and its peers.
macro_rules! size {
    ($module:ident, $rows:literal, $table:literal) => {
        #[expect(
            unreachable_pub,
            reason = "the generated table is public where it belongs"
        )]
        mod $module {
            use super::*;
            use vak::tools::{RetiredTool, live};

            include!(concat!(env!("OUT_DIR"), $table));

            static TABLE: Table = Table::new(&ROWS, &RETIRED_TOOLS, &LIVE_REPLACEMENTS);

            /// Every folded name with its live tool.
            fn pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
                RETIRED_TOOLS.keys().copied().zip(LIVE_REPLACEMENTS)
            }

            static MAP: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| pairs().collect());

            #[divan::bench(args = KINDS, sample_size = NAMES as u32)]
            fn table(bencher: Bencher<'_, '_>, kind: Name) {
                measure(bencher, $rows, kind, |name| TABLE.canonical(name).len());
            }

            #[divan::bench(args = KINDS, sample_size = NAMES as u32)]
            fn hash_map(bencher: Bencher<'_, '_>, kind: Name) {
                let map = &*MAP;
                measure(bencher, $rows, kind, |name| {
                    folded(name, |name| map.get(name).copied())
                });
            }

            #[divan::bench(args = KINDS, sample_size = NAMES as u32)]
            fn linear_scan(bencher: Bencher<'_, '_>, kind: Name) {
                let rows: Vec<_> = pairs().collect();
                let find = |name: &str| rows.iter().find(|row| row.0 == name).map(|row| row.1);
                measure(bencher, $rows, kind, |name| folded(name, find));
            }
        }
    };
}

size!(rows_00002, 2, "/table_2.rs");
size!(rows_00100, 100, "/table_100.rs");
size!(rows_01000, 1_000, "/table_1000.rs");
size!(rows_10000, 10_000, "/table_10000.rs");

/// A module per size: one `match` on the names. The largest is what this benchmark takes so long to compile for.
macro_rules! flat {
    ($module:ident, $rows:literal, $source:literal) => {
        mod $module {
            use super::*;

            include!(concat!(env!("OUT_DIR"), $source));

            #[divan::bench(args = KINDS, sample_size = NAMES as u32)]
            fn flat_match(bencher: Bencher<'_, '_>, kind: Name) {
                measure(bencher, $rows, kind, |name| folded(name, flat));
            }
        }
    };
}

flat!(flat_00002, 2, "/flat_2.rs");
flat!(flat_00100, 100, "/flat_100.rs");
flat!(flat_01000, 1_000, "/flat_1000.rs");
flat!(flat_10000, 10_000, "/flat_10000.rs");
