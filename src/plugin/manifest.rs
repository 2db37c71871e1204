//! What a package says of itself: the manifests that are understood, and what is taken from them.

use super::name::{PluginName, PluginVersion};
use super::package::{PackageFault, Survey, read_file, refused};
use super::{PluginError, Result};
use crate::disk::DiskError;
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// The longest manifest, in bytes.
pub const MANIFEST_LIMIT: u64 = 1 << 20;

/// The version of a package that does not tell one.
const NO_VERSION: &str = "0.0.0";

/// The kinds of manifest, in the order they are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// `vak-plugin.json`.
    Vak,
    /// `.claude-plugin/plugin.json`.
    Claude,
    /// `.codex-plugin/plugin.json`.
    Codex,
    /// `plugin.json`.
    Plain,
    /// `.cursor-plugin/plugin.json`.
    Cursor,
    /// `gemini-extension.json`.
    Gemini,
    /// A `SKILL.md` and no manifest.
    Skill,
}

const FORMATS: [(Format, &str); 7] = [
    (Format::Vak, "vak-plugin.json"),
    (Format::Claude, ".claude-plugin/plugin.json"),
    (Format::Codex, ".codex-plugin/plugin.json"),
    (Format::Plain, "plugin.json"),
    (Format::Cursor, ".cursor-plugin/plugin.json"),
    (Format::Gemini, "gemini-extension.json"),
    (Format::Skill, "SKILL.md"),
];

/// What a manifest says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) format: Format,
    pub(super) name: PluginName,
    pub(super) version: PluginVersion,
    pub(super) description: Option<String>,
    pub(super) license: Option<String>,
    pub(super) publisher: Option<String>,
    /// What the package offers, as its files tell.
    pub(super) capabilities: Vec<&'static str>,
    pub(super) warnings: Vec<String>,
}

/// Reads the first manifest that a package has.
pub(super) fn read(package: &Survey) -> Result<Manifest> {
    let found = FORMATS
        .iter()
        .find(|(_, path)| package.files.iter().any(|file| file == Path::new(path)));
    let Some(&(format, path)) = found else {
        return Err(refused(package.dir.path(), PackageFault::NoManifest));
    };
    let text = read_text(package, Path::new(path))?;
    let fields = match format {
        Format::Skill => Fields::from_skill(&text, package.dir.path()),
        _ => Fields::from_json(&text).map_err(|why| not_one(package, path, why))?,
    };
    manifest(package, format, fields).map_err(|why| not_one(package, path, why))
}

fn not_one(package: &Survey, path: &str, why: String) -> PluginError {
    let path = PathBuf::from(path);
    refused(package.dir.path(), PackageFault::Manifest { path, why })
}

fn read_text(package: &Survey, path: &Path) -> Result<String> {
    let bytes = match read_file(&package.dir, path, MANIFEST_LIMIT) {
        Err(PluginError::Disk(DiskError::TooLarge { found, limit, .. })) => {
            let path = path.to_owned();
            let fault = PackageFault::ManifestTooLarge { path, found, limit };
            return Err(refused(package.dir.path(), fault));
        }
        other => other?,
    };
    let text = String::from_utf8(bytes).map_err(|_| {
        let path = path.to_owned();
        let why = "it is not UTF-8".to_owned();
        refused(package.dir.path(), PackageFault::Manifest { path, why })
    })?;
    // Some editors begin a file with it; it says nothing.
    Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
}

fn manifest(
    package: &Survey,
    format: Format,
    fields: Fields,
) -> std::result::Result<Manifest, String> {
    let name = fields.name.ok_or("it has no `name`")?;
    let name = PluginName::parse(&name).map_err(|fault| format!("the name {name:?}: {fault}"))?;
    let mut warnings = Vec::new();
    let version = fields.version.unwrap_or_else(|| {
        warnings.push(format!(
            "the manifest has no version; `{NO_VERSION}` is assumed"
        ));
        NO_VERSION.to_owned()
    });
    let version = PluginVersion::parse(&version)
        .map_err(|fault| format!("the version {version:?}: {fault}"))?;
    Ok(Manifest {
        format,
        name,
        version,
        description: fields.description,
        license: fields.license,
        publisher: fields.publisher,
        capabilities: capabilities(&package.files),
        warnings,
    })
}

/// The fields of a manifest that are read, before they are checked.
#[derive(Debug, Default)]
struct Fields {
    name: Option<String>,
    version: Option<String>,
    description: Option<String>,
    license: Option<String>,
    publisher: Option<String>,
}

impl Fields {
    fn from_json(text: &str) -> std::result::Result<Fields, String> {
        let object: Map<String, Value> =
            serde_json::from_str(text).map_err(|error| error.to_string())?;
        let field = |key: &str| match object.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(format!("`{key}` is not a string")),
        };
        Ok(Fields {
            name: field("name")?,
            version: field("version")?,
            description: field("description")?,
            license: object.get("license").and_then(person_or_text),
            publisher: ["publisher", "author"]
                .into_iter()
                .find_map(|key| object.get(key).and_then(person_or_text)),
        })
    }

    /// A skill's frontmatter; one without a name is called as its directory is.
    fn from_skill(text: &str, package: &Path) -> Fields {
        let field = |key| frontmatter_field(text, key);
        let directory = || {
            let path = package.canonicalize().ok()?;
            Some(path.file_name()?.to_str()?.to_owned())
        };
        Fields {
            name: field("name").or_else(directory),
            version: field("version"),
            description: field("description"),
            license: field("license"),
            publisher: field("author"),
        }
    }
}

/// A person or licence is a text, or an object with a name.
fn person_or_text(value: &Value) -> Option<String> {
    let named = ["name", "type"].into_iter().find_map(|key| value.get(key));
    named.unwrap_or(value).as_str().map(str::to_owned)
}

/// The value of a `key: value` line of the frontmatter. Only that form is read: what a skill means is
/// decided elsewhere, this is a label for the registry.
fn frontmatter_field(text: &str, key: &str) -> Option<String> {
    let mut lines = text.lines();
    if lines.next()?.trim_end() != "---" {
        return None;
    }
    let value = lines
        .take_while(|line| line.trim_end() != "---")
        .find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix(':'))?
        .trim();
    let unquoted = ['"', '\'']
        .into_iter()
        .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    let value = unquoted.unwrap_or(value);
    (!value.is_empty() && !value.starts_with(['|', '>'])).then(|| value.to_owned())
}

/// What the files of a package are for.
fn capabilities(files: &[PathBuf]) -> Vec<&'static str> {
    const CAPABILITIES: [&str; 5] = ["skills", "commands", "agents", "hooks", "mcp"];
    let is_there = |wanted: &&str| files.iter().any(|file| capability(file) == Some(*wanted));
    CAPABILITIES.into_iter().filter(is_there).collect()
}

fn capability(file: &Path) -> Option<&'static str> {
    let name = file.file_name()?;
    let below = |directory: &str| {
        file.parent()
            .is_some_and(|dir| dir.iter().any(|step| step == directory))
    };
    let is_markdown = file.extension().is_some_and(|extension| extension == "md");
    if name.eq_ignore_ascii_case("SKILL.md") {
        Some("skills")
    } else if name.eq_ignore_ascii_case("hooks.json") {
        Some("hooks")
    } else if name.eq_ignore_ascii_case(".mcp.json") {
        Some("mcp")
    } else if is_markdown && below("commands") {
        Some("commands")
    } else if is_markdown && below("agents") {
        Some("agents")
    } else {
        None
    }
}
