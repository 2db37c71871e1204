//! `vak scan --explain`: what the list of retired tools says of a name.

use super::super::out::Out;
use super::super::{STRONG, Status, write_json};
use super::ScanFormat;
use super::excerpt::shown_text;
use crate::tools::{self, RetiredTool};
use serde::Serialize;
use std::io::{self, Write as _};

#[derive(Serialize)]
struct Explanation<'n> {
    schema: u32,
    name: &'n str,
    retired: Option<&'static RetiredTool>,
    /// The live tool it leads to; the name itself if it leads nowhere.
    canonical: &'n str,
}

pub(super) fn run(name: &str, format: ScanFormat, out: &mut Out) -> anyhow::Result<Status> {
    let explanation = Explanation {
        schema: 1,
        name,
        retired: tools::retired_tool(name),
        canonical: tools::canonical_tool_name(name),
    };
    match format {
        ScanFormat::Human => explanation.write(out)?,
        ScanFormat::Json => write_json(out, &explanation)?,
        _ => anyhow::bail!("`--explain` has no such format\nhint: use `human` or `json`"),
    }
    Ok(Status::Clean)
}

impl Explanation<'_> {
    fn write(&self, out: &mut Out) -> io::Result<()> {
        let name = shown_text(self.name);
        let canonical = shown_text(self.canonical);
        let Some(row) = self.retired else {
            return if self.canonical == self.name {
                writeln!(out, "{STRONG}`{name}`{STRONG:#} is not retired")
            } else {
                writeln!(
                    out,
                    "{STRONG}`{name}`{STRONG:#} is not retired; it means `{canonical}`"
                )
            };
        };
        let (name, version) = (row.name, row.retired_in);
        writeln!(
            out,
            "{STRONG}`{name}`{STRONG:#} was retired in {version}; use `{canonical}`"
        )?;
        if row.replacement != self.canonical {
            let first = row.replacement;
            writeln!(
                out,
                "its replacement was `{first}`, which is retired as well"
            )?;
        }
        match row.hint {
            Some(hint) => writeln!(out, "hint: {hint}"),
            None => Ok(()),
        }
    }
}
