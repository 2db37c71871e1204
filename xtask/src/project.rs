//! Where the project is, which version it has, and the list as it stands in the work tree.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use anyhow::{Context as _, Result, bail};
use semver::Version;
use toml_edit::DocumentMut;

/// The project whose chores these are.
#[derive(Debug)]
pub(crate) struct Project {
    /// The directory of the workspace's `Cargo.toml`.
    pub(crate) root: PathBuf,
    /// The version of the package `vak`.
    pub(crate) package: Version,
}

impl Project {
    /// The project that the working directory is in: the nearest directory, upwards, that holds a workspace.
    pub(crate) fn find() -> Result<Project> {
        let start = env::current_dir().context("failed to find the working directory")?;
        for directory in start.ancestors() {
            let manifest = directory.join("Cargo.toml");
            if let Some(text) = read_if_there(&manifest)? {
                let manifest: DocumentMut = String::from_utf8_lossy(&text)
                    .parse()
                    .with_context(|| format!("failed to parse `{}`", manifest.display()))?;
                if manifest.contains_key("workspace") {
                    return Project::at(directory, &manifest);
                }
            }
        }
        bail!(
            "found no workspace at or above `{}`\nhint: run it inside the project",
            start.display()
        )
    }

    fn at(root: &Path, manifest: &DocumentMut) -> Result<Project> {
        let version = manifest
            .get("package")
            .and_then(|package| package.get("version"))
            .and_then(|version| version.as_str())
            .context("`Cargo.toml` has no `package.version`")?;
        Ok(Project {
            root: root.to_owned(),
            package: version
                .parse()
                .with_context(|| format!("`{version}` in `Cargo.toml` is not a version"))?,
        })
    }

    /// The path of the list.
    pub(crate) fn list_path(&self) -> PathBuf {
        self.root.join(registry::FILE)
    }

    /// The bytes of the list.
    pub(crate) fn read_list(&self) -> io::Result<Vec<u8>> {
        fs::read(self.list_path())
    }

    /// A path as messages show it: relative to the root, with `/`.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let path = path.strip_prefix(&self.root).unwrap_or(path);
        let parts: Vec<_> = path
            .components()
            .map(|part| part.as_os_str().to_string_lossy())
            .collect();
        parts.join("/")
    }
}

fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("failed to read `{}`", path.display())),
    }
}
