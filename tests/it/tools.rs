//! The compiled-in list, the live tools, and what a name resolves to.

use vak::tools::{
    LIVE_TOOLS, MAX_NAME, RETIRED_TOOLS, canonical_tool_name, live_tool, retired_tool,
    retired_tools,
};

/// The list as its file says it, read without the project's own reader.
fn rows_of_the_file() -> Vec<[Option<String>; 4]> {
    let text = include_str!("../../retired_tools.toml");
    let document: toml_edit::DocumentMut = text.parse().unwrap();
    let rows = document["retired"].as_array_of_tables().unwrap();
    rows.iter()
        .map(|row| {
            ["name", "retired_in", "replacement", "hint"].map(|field| {
                row.get(field)
                    .map(|value| value.as_str().unwrap().to_owned())
            })
        })
        .collect()
}

#[test]
fn every_row_of_the_file_reached_the_program_in_order() {
    let compiled: Vec<_> = retired_tools()
        .iter()
        .map(|row| {
            [
                Some(row.name.to_owned()),
                Some(row.retired_in.to_owned()),
                Some(row.replacement.to_owned()),
                row.hint.map(str::to_owned),
            ]
        })
        .collect();
    assert_eq!(compiled, rows_of_the_file());
}

#[test]
fn the_table_and_the_slice_hold_the_same_rows() {
    let by_table: Vec<_> = RETIRED_TOOLS.values().copied().collect();
    assert_eq!(by_table, retired_tools().iter().collect::<Vec<_>>());
    for row in retired_tools() {
        let folded = row.name.to_ascii_lowercase().replace('-', "_");
        assert_eq!(RETIRED_TOOLS.get(folded.as_str()).copied(), Some(row));
    }
}

/// Every way in which a model may spell a name that is still the same name.
fn spellings(name: &str) -> Vec<String> {
    vec![
        name.to_owned(),
        name.to_ascii_uppercase(),
        name.replace('_', "-"),
        name.replace('-', "_"),
        format!("  {name}\n"),
        format!("\u{a0}{name}\t"),
    ]
}

#[test]
fn every_spelling_of_a_retired_name_finds_its_row_and_ends_on_a_live_tool() {
    for row in retired_tools() {
        for spelling in spellings(row.name) {
            assert_eq!(retired_tool(&spelling), Some(row), "{spelling:?}");
            let canonical = canonical_tool_name(&spelling);
            assert!(live_tool(canonical).is_some(), "{spelling:?} → {canonical}");
        }
    }
}

#[test]
fn every_spelling_of_a_live_name_and_its_aliases_leads_to_the_tool() {
    for tool in LIVE_TOOLS {
        for name in tool.aliases.iter().chain([&tool.name]) {
            for spelling in spellings(name) {
                assert_eq!(canonical_tool_name(&spelling), tool.name, "{spelling:?}");
                assert_eq!(retired_tool(&spelling), None, "{spelling:?}");
            }
        }
    }
}

#[test]
fn a_name_belongs_to_one_live_tool() {
    let mut names: Vec<_> = LIVE_TOOLS
        .iter()
        .flat_map(|tool| tool.aliases.iter().chain([&tool.name]))
        .collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn a_look_up_allocates_nothing() {
    let long = "python_eval".repeat(1_000);
    let names = retired_tools()
        .iter()
        .flat_map(|row| spellings(row.name))
        .chain(spellings("read_file"))
        .chain([String::from("frobnicate"), String::new(), long]);
    for name in names {
        let look_up = || (canonical_tool_name(&name), retired_tool(&name));
        let allocations = allocation_counter::measure(|| {
            std::hint::black_box(look_up());
        });
        assert_eq!(allocations.count_total, 0, "{name:?}");
    }
}

#[test]
fn a_name_that_means_no_tool_comes_back_untouched() {
    let longest = "x".repeat(MAX_NAME);
    let long = "python_eval".repeat(100_000);
    let padded = format!("{}python_eval", "_".repeat(MAX_NAME));
    for name in [
        "",
        " ",
        "-",
        "frobnicate",
        " Frobnicate-It ",
        "python_evaluate",
        "ython_eval",
        "python eval",
        "python.eval",
        "pythоn_eval", // a Cyrillic о
        "PYTHON_EVAL\u{301}",
        "python_eval\0",
        "ba\u{17f}h", // ſ lower-cases to s in Unicode, not in ASCII
        &longest,
        &long,
        &padded,
    ] {
        assert_eq!(canonical_tool_name(name), name);
        assert_eq!(retired_tool(name), None);
    }
}
