//! What the Rust sources say: the live tools' names, and every string literal outside of tests.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use ignore::WalkBuilder;
use proc_macro2::{LineColumn, TokenStream, TokenTree};
use registry::LiveName;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprStruct, Item, ItemMod, Lit, Member, Meta, spanned::Spanned as _};

use crate::project::Project;

/// Where the sources are that end up in a program: the package, its build script, the chores.
const PLACES: [&str; 4] = ["src", "build.rs", "registry/src", "xtask/src"];

/// What was found in the sources.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// Every name of a live tool, in the order of the sources.
    pub(crate) live: Vec<LiveName>,
    /// Every string literal outside of tests and documentation.
    pub(crate) literals: Vec<Literal>,
    /// How many files were read.
    pub(crate) files: usize,
}

/// A string literal: `"…"`, `b"…"` or `c"…"`, raw or not.
#[derive(Debug)]
pub(crate) struct Literal {
    /// What it means. Bytes that are not UTF-8 are replaced: no name holds any.
    pub(crate) value: String,
    /// Where it stands, as `file:line:column`.
    pub(crate) place: String,
}

/// Reads the project's Rust sources.
///
/// # Errors
/// A file cannot be read or parsed; a live tool's name or aliases are not plain literals.
pub(crate) fn read(project: &Project) -> Result<Sources> {
    let mut sources = Sources::default();
    let mut tests: Vec<PathBuf> = Vec::new();
    let mut found = Vec::new();
    for path in rust_files(project)? {
        let text = fs::read_to_string(&path)
            .with_context(|| format!("failed to read `{}`", project.shown(&path)))?;
        let file = syn::parse_file(&text).map_err(|error| {
            let LineColumn { line, column } = error.span().start();
            let path = project.shown(&path);
            anyhow::anyhow!("failed to parse `{path}:{line}:{}`: {error}", column + 1)
        })?;
        let mut reader = Reader::new(project, &path);
        reader.visit_file(&file);
        if let Some(fault) = reader.fault {
            return Err(fault);
        }
        let Reader {
            live,
            literals,
            test_files,
            ..
        } = reader;
        sources.files += 1;
        tests.extend(test_files);
        found.push((path, live, literals));
    }
    for (path, live, literals) in found {
        if !tests.iter().any(|test| path.starts_with(test)) {
            sources.live.extend(live);
            sources.literals.extend(literals);
        }
    }
    Ok(sources)
}

/// Every Rust file of the sources, sorted.
fn rust_files(project: &Project) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for place in PLACES.map(|place| project.root.join(place)) {
        if !place.exists() {
            continue;
        }
        for entry in WalkBuilder::new(&place).standard_filters(false).build() {
            let path = entry.context("failed to list the sources")?.into_path();
            if path.extension().is_some_and(|extension| extension == "rs") && path.is_file() {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Collects from one file.
struct Reader<'a> {
    path: &'a Path,
    shown: String,
    live: Vec<LiveName>,
    literals: Vec<Literal>,
    /// The files and directories of modules that exist for tests alone.
    test_files: Vec<PathBuf>,
    fault: Option<anyhow::Error>,
}

impl<'a> Reader<'a> {
    fn new(project: &Project, path: &'a Path) -> Reader<'a> {
        Reader {
            path,
            shown: project.shown(path),
            live: Vec::new(),
            literals: Vec::new(),
            test_files: Vec::new(),
            fault: None,
        }
    }

    fn literal(&mut self, literal: &Lit) {
        let value = match literal {
            Lit::Str(text) => text.value(),
            Lit::ByteStr(bytes) => String::from_utf8_lossy(&bytes.value()).into_owned(),
            Lit::CStr(text) => text.value().to_string_lossy().into_owned(),
            _ => return,
        };
        let LineColumn { line, column } = literal.span().start();
        let place = format!("{}:{line}:{}", self.shown, column + 1);
        self.literals.push(Literal { value, place });
    }

    /// The literals among the tokens of a macro, at any depth.
    fn tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Literal(literal) => self.literal(&Lit::new(literal)),
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }

    /// The names that a `LiveTool { … }` declares.
    fn live_tool(&mut self, definition: &ExprStruct) -> Result<()> {
        let field = |wanted: &str| {
            let is_wanted =
                |member: &Member| matches!(member, Member::Named(name) if name == wanted);
            let field = definition
                .fields
                .iter()
                .find(|field| is_wanted(&field.member));
            let line = definition.span().start().line;
            let shown = &self.shown;
            field.with_context(|| format!("the `LiveTool` at `{shown}:{line}` has no `{wanted}`"))
        };
        let (tool, line) = self.plain_string(&field("name")?.expr)?;
        let mut names = vec![(tool.clone(), line)];
        for alias in self.plain_array(&field("aliases")?.expr)? {
            names.push(self.plain_string(alias)?);
        }
        let shown = &self.shown;
        self.live
            .extend(names.into_iter().map(|(name, line)| LiveName {
                name,
                tool: tool.clone(),
                place: format!("{shown}:{line}"),
            }));
        Ok(())
    }

    fn plain_string(&self, expression: &Expr) -> Result<(String, usize)> {
        let line = expression.span().start().line;
        match expression {
            Expr::Lit(literal) if let Lit::Str(text) = &literal.lit => Ok((text.value(), line)),
            _ => anyhow::bail!(
                "a live tool's name at `{}:{line}` is not a string literal\n\
                 hint: write names and aliases as literals, so that they can be read from the sources",
                self.shown
            ),
        }
    }

    fn plain_array<'e>(&self, expression: &'e Expr) -> Result<impl Iterator<Item = &'e Expr>> {
        let line = expression.span().start().line;
        match expression {
            Expr::Reference(reference) if let Expr::Array(array) = &*reference.expr => {
                Ok(array.elems.iter())
            }
            _ => anyhow::bail!(
                "a live tool's aliases at `{}:{line}` are not written as `&[…]`\n\
                 hint: write names and aliases as literals, so that they can be read from the sources",
                self.shown
            ),
        }
    }

    /// Remembers the files of a module that is only declared here.
    fn test_module(&mut self, module: &ItemMod) {
        let parent = self.path.parent().unwrap_or(self.path);
        let stem = self.path.file_stem().unwrap_or_default();
        let inside = match stem.to_str() {
            Some("mod" | "lib" | "main") => parent.to_owned(),
            _ => parent.join(stem),
        };
        let name = module.ident.to_string();
        self.test_files.push(inside.join(format!("{name}.rs")));
        self.test_files.push(inside.join(name));
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if attributes(item).iter().any(is_test) {
            if let Item::Mod(module) = item
                && module.content.is_none()
            {
                self.test_module(module);
            }
            return;
        }
        visit::visit_item(self, item);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if attribute.path().is_ident("doc") {
            return;
        }
        if let Meta::List(list) = &attribute.meta {
            self.tokens(list.tokens.clone());
        }
        visit::visit_attribute(self, attribute);
    }

    fn visit_expr_struct(&mut self, definition: &'ast ExprStruct) {
        let name = definition.path.segments.last();
        if name.is_some_and(|name| name.ident == "LiveTool")
            && let Err(fault) = self.live_tool(definition)
        {
            self.fault.get_or_insert(fault);
        }
        visit::visit_expr_struct(self, definition);
    }

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        self.tokens(invocation.tokens.clone());
    }

    fn visit_lit(&mut self, literal: &'ast Lit) {
        self.literal(literal);
    }
}

/// Whether an attribute keeps its item out of every build but a test's: `#[test]`, `#[cfg(test)]`,
/// `#[cfg(all(test, …))]`.
fn is_test(attribute: &Attribute) -> bool {
    let Meta::List(list) = &attribute.meta else {
        return attribute.path().is_ident("test");
    };
    attribute.path().is_ident("cfg")
        && list
            .parse_args::<Meta>()
            .is_ok_and(|meta| needs_test(&meta))
}

fn needs_test(condition: &Meta) -> bool {
    match condition {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => {
            let conditions = list.parse_args_with(
                syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated,
            );
            conditions.is_ok_and(|conditions| conditions.iter().any(needs_test))
        }
        _ => false,
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(it) => &it.attrs,
        Item::Enum(it) => &it.attrs,
        Item::ExternCrate(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::ForeignMod(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Macro(it) => &it.attrs,
        Item::Mod(it) => &it.attrs,
        Item::Static(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        Item::Trait(it) => &it.attrs,
        Item::TraitAlias(it) => &it.attrs,
        Item::Type(it) => &it.attrs,
        Item::Union(it) => &it.attrs,
        Item::Use(it) => &it.attrs,
        _ => &[],
    }
}
