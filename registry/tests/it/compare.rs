//! What one version of the list did to the rows of another.

use registry::{Row, compare};

/// Rows from `name` or `name version replacement hint`, one a line.
fn rows(text: &str) -> Vec<Row> {
    text.split(',')
        .map(str::trim)
        .filter(|row| !row.is_empty())
        .enumerate()
        .map(|(at, row)| {
            let mut words = row.split(' ');
            Row {
                name: words.next().unwrap().to_owned(),
                retired_in: words.next().unwrap_or("1.0.0").parse().unwrap(),
                replacement: words.next().unwrap_or("bash").to_owned(),
                hint: words.next().map(str::to_owned),
                line: at + 1,
            }
        })
        .collect()
}

/// Compares two lists; `expected` has the violations, then the added rows after `+`, the reworded after `~`.
fn check(base: &str, now: &str, expected: &str) {
    let comparison = compare(&rows(base), &rows(now));
    let violations = comparison.violations.iter().map(ToString::to_string);
    let added = comparison.added.iter().map(|row| format!("+{}", row.name));
    let reworded = comparison
        .reworded
        .iter()
        .map(|row| format!("~{}", row.name));
    let found: Vec<String> = violations.chain(added).chain(reworded).collect();
    assert_eq!(found.join("; "), expected, "{base} → {now}");
}

#[test]
fn only_growth_is_allowed() {
    check("a,b", "a,b", "");
    check("", "a,b", "+a; +b");
    check("a,b", "a,b,c", "+c");
    // Two branches that both appended merge in either order.
    check("a,b", "a,x,b", "+x");
    check("a,b", "x,a,b", "+x");
    check("a,b", "b", "the row of `a` was removed");
    check(
        "a,b",
        "",
        "the row of `a` was removed; the row of `b` was removed",
    );
    check("a,b", "a,c 2.0.0", "the row of `b` was removed; +c");
    check("a,b", "a,c", "the row of `b` was renamed to `c`");
    check("a,b", "A,b", "the row of `a` was renamed to `A`");
    check(
        "a,b",
        "c,d",
        "the row of `a` was renamed to `c`; the row of `b` was renamed to `d`",
    );
    check("a 1.0.0", "a 1.0.1", "`retired_in` of `a` was changed");
    check("a 1.0.0", "a 1.0.0+x", "`retired_in` of `a` was changed");
    check(
        "a 1.0.0 bash",
        "a 1.0.0 read",
        "`replacement` of `a` was changed",
    );
    check(
        "a 1.0.0 bash",
        "a 2.0.0 read",
        "`retired_in` and `replacement` of `a` was changed",
    );
    check("a 1.0.0 bash x", "a 1.0.0 bash y", "~a");
    check("a 1.0.0 bash x", "a 1.0.0 bash", "~a");
    check("a 1.0.0 bash", "a 1.0.0 bash y", "~a");
}

#[test]
fn the_fewest_rows_that_can_have_moved_are_named() {
    check("a,b", "b,a", "the row of `a` was moved");
    check("a,b,c,d", "d,a,b,c", "the row of `d` was moved");
    check("a,b,c,d", "b,c,d,a", "the row of `a` was moved");
    check(
        "a,b,c,d",
        "c,d,a,b",
        "the row of `a` was moved; the row of `b` was moved",
    );
    check(
        "a,b,c",
        "x,c,y,b",
        "the row of `a` was removed; the row of `b` was moved; +x; +y",
    );
}

/// A new row that says the same may be of another tool: one version retires many, for the same replacement.
#[test]
fn a_row_was_renamed_only_where_another_stands_in_its_place() {
    check("a,b,c", "a,x,c", "the row of `b` was renamed to `x`");
    check("a,b", "x,b,y", "the row of `a` was renamed to `x`; +y");
    check("a,b", "a,x,y", "the row of `b` was removed; +x; +y");
    check("a,b", "b,x", "the row of `a` was removed; +x");
    check(
        "a,b,c",
        "a,x",
        "the row of `b` was removed; the row of `c` was removed; +x",
    );
    check("a,b", "a,x 1.0.1", "the row of `b` was removed; +x");
}

/// Such a list cannot be built, so there has to be a way out of it.
#[test]
fn of_two_rows_of_one_name_one_may_go() {
    check("a,foo,Foo,b", "a,foo,b", "");
    check("a,foo,Foo,b", "a,Foo,b", "");
    check("foo-x,b,foo_x", "b,foo_x", "");
    check("foo 1.0.0,b,foo 2.0.0", "foo 1.0.0,b", "");
    check("foo 1.0.0,b,foo 2.0.0", "b,foo 2.0.0", "");
    check(
        "a,foo,Foo",
        "a",
        "the row of `foo` was removed; the row of `Foo` was removed",
    );
    check(
        "foo 1.0.0,Foo 2.0.0",
        "foo 3.0.0",
        "`retired_in` of `foo` was changed; the row of `Foo` was removed",
    );
    check("foo,Foo,b", "Foo,foo,b", "the row of `foo` was moved");
}
