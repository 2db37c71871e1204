//! What the Rust sources say: the live tools' names, and every string literal outside of tests.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use ignore::WalkBuilder;
use proc_macro2::{LineColumn, TokenStream, TokenTree};
use registry::LiveName;
use syn::visit::{self, Visit};
use syn::{
    Arm, Attribute, Expr, ExprStruct, FieldValue, ImplItem, Item, ItemMod, Lit, Local, Member,
    Meta, Stmt, TraitItem, Variant, spanned::Spanned as _,
};

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
    let mut files = Vec::new();
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
        files.push(reader.read);
    }
    let compiled = compiled(&files);
    let mut sources = Sources {
        files: files.len(),
        ..Sources::default()
    };
    for file in files {
        if compiled.contains(&file.path) {
            sources.live.extend(file.live);
            sources.literals.extend(file.literals);
        }
    }
    Ok(sources)
}

/// The files that end up in a program. A file is one for tests alone if each place that declares it is for tests
/// alone; one that no file declares is compiled, for all that can be told.
fn compiled(files: &[SourceFile]) -> HashSet<PathBuf> {
    let declared: HashSet<&Path> = files
        .iter()
        .flat_map(|file| &file.modules)
        .map(|module| module.path.as_path())
        .collect();
    let by_path: HashMap<&Path, &SourceFile> = files
        .iter()
        .map(|file| (file.path.as_path(), file))
        .collect();
    let mut open: Vec<&Path> = by_path
        .keys()
        .copied()
        .filter(|path| !declared.contains(path))
        .collect();
    let mut compiled = HashSet::new();
    while let Some(path) = open.pop() {
        let Some(file) = by_path.get(path).filter(|file| !file.is_test) else {
            continue;
        };
        if compiled.insert(path.to_owned()) {
            let modules = file.modules.iter().filter(|module| !module.is_test);
            open.extend(modules.map(|module| module.path.as_path()));
        }
    }
    compiled
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

/// What one file says.
#[derive(Debug, Default)]
struct SourceFile {
    /// Its path without links and detours.
    path: PathBuf,
    /// Whether the file itself says that it is for tests alone.
    is_test: bool,
    live: Vec<LiveName>,
    literals: Vec<Literal>,
    modules: Vec<Module>,
}

/// A file that another one declares to be a module of it.
#[derive(Debug)]
struct Module {
    /// Its path without links and detours.
    path: PathBuf,
    /// Whether the declaration is for tests alone.
    is_test: bool,
}

/// Collects from one file.
struct Reader {
    shown: String,
    read: SourceFile,
    /// The file's own directory.
    beside: PathBuf,
    /// Where the files of modules are that are declared at this point of the file.
    directory: PathBuf,
    /// How many modules whose text is here hold this point of the file.
    depth: usize,
    /// Whether this point of the file is for tests alone.
    in_test: bool,
    fault: Option<anyhow::Error>,
}

impl Reader {
    fn new(project: &Project, path: &Path) -> Reader {
        let parent = path.parent().unwrap_or(path);
        let stem = path.file_stem().unwrap_or_default();
        let directory = match stem.to_str() {
            Some("mod" | "lib" | "main" | "build") => parent.to_owned(),
            _ => parent.join(stem),
        };
        Reader {
            shown: project.shown(path),
            read: SourceFile {
                path: path.canonicalize().unwrap_or_else(|_| path.to_owned()),
                ..SourceFile::default()
            },
            beside: parent.to_owned(),
            directory,
            depth: 0,
            in_test: false,
            fault: None,
        }
    }

    /// Reads a part of the file that has these attributes.
    fn part(&mut self, attributes: &[Attribute], read: impl FnOnce(&mut Reader)) {
        let outside = self.in_test;
        self.in_test |= attributes.iter().any(is_test);
        read(self);
        self.in_test = outside;
    }

    fn literal(&mut self, literal: &Lit) {
        let value = match literal {
            Lit::Str(text) => text.value(),
            Lit::ByteStr(bytes) => String::from_utf8_lossy(&bytes.value()).into_owned(),
            Lit::CStr(text) => text.value().to_string_lossy().into_owned(),
            _ => return,
        };
        if self.in_test {
            return;
        }
        let LineColumn { line, column } = literal.span().start();
        let place = format!("{}:{line}:{}", self.shown, column + 1);
        self.read.literals.push(Literal { value, place });
    }

    /// The literals among the tokens of a macro, at any depth, but for documentation.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut is_after_sign = false;
        for token in tokens {
            match token {
                TokenTree::Group(group) if is_after_sign && is_documentation(&group) => {}
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Literal(literal) => self.literal(&Lit::new(literal)),
                TokenTree::Punct(sign) => {
                    is_after_sign = matches!(sign.as_char(), '#' | '!');
                    continue;
                }
                TokenTree::Ident(_) => {}
            }
            is_after_sign = false;
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
        self.read
            .live
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

    /// Remembers the file of a module that is only declared here.
    fn declared(&mut self, module: &ItemMod) {
        let name = module.ident.to_string();
        let paths = match path_attribute(&module.attrs) {
            // Outside of any module whose text is here, the path is one from this file's own directory.
            Some(path) if self.depth == 0 => vec![self.beside.join(path)],
            Some(path) => vec![self.directory.join(path)],
            None => vec![
                self.directory.join(format!("{name}.rs")),
                self.directory.join(name).join("mod.rs"),
            ],
        };
        let is_test = self.in_test;
        let there = paths.iter().filter_map(|path| path.canonicalize().ok());
        let modules = there.map(|path| Module { path, is_test });
        self.read.modules.extend(modules);
    }

    /// Reads a module whose text is here: the files of modules that it declares are in a directory of its own.
    fn inline(&mut self, module: &ItemMod) {
        let name = path_attribute(&module.attrs).unwrap_or_else(|| module.ident.to_string());
        let inside = self.directory.join(name);
        let outside = std::mem::replace(&mut self.directory, inside);
        self.depth += 1;
        visit::visit_item_mod(self, module);
        self.depth -= 1;
        self.directory = outside;
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_file(&mut self, file: &'ast syn::File) {
        self.read.is_test = file.attrs.iter().any(is_test);
        visit::visit_file(self, file);
    }

    fn visit_item(&mut self, item: &'ast Item) {
        self.part(attributes(item), |reader| visit::visit_item(reader, item));
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes: &[Attribute] = match item {
            ImplItem::Const(it) => &it.attrs,
            ImplItem::Fn(it) => &it.attrs,
            ImplItem::Macro(it) => &it.attrs,
            ImplItem::Type(it) => &it.attrs,
            _ => &[],
        };
        self.part(attributes, |reader| visit::visit_impl_item(reader, item));
    }

    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        let attributes: &[Attribute] = match item {
            TraitItem::Const(it) => &it.attrs,
            TraitItem::Fn(it) => &it.attrs,
            TraitItem::Macro(it) => &it.attrs,
            TraitItem::Type(it) => &it.attrs,
            _ => &[],
        };
        self.part(attributes, |reader| visit::visit_trait_item(reader, item));
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        let attributes: &[Attribute] = match statement {
            Stmt::Macro(it) => &it.attrs,
            Stmt::Expr(Expr::Assign(it), _) => &it.attrs,
            Stmt::Expr(Expr::Block(it), _) => &it.attrs,
            Stmt::Expr(Expr::Call(it), _) => &it.attrs,
            Stmt::Expr(Expr::ForLoop(it), _) => &it.attrs,
            Stmt::Expr(Expr::If(it), _) => &it.attrs,
            Stmt::Expr(Expr::Match(it), _) => &it.attrs,
            Stmt::Expr(Expr::MethodCall(it), _) => &it.attrs,
            _ => &[],
        };
        self.part(attributes, |reader| visit::visit_stmt(reader, statement));
    }

    fn visit_local(&mut self, local: &'ast Local) {
        self.part(&local.attrs, |reader| visit::visit_local(reader, local));
    }

    fn visit_arm(&mut self, arm: &'ast Arm) {
        self.part(&arm.attrs, |reader| visit::visit_arm(reader, arm));
    }

    fn visit_field_value(&mut self, field: &'ast FieldValue) {
        self.part(&field.attrs, |reader| {
            visit::visit_field_value(reader, field);
        });
    }

    fn visit_variant(&mut self, variant: &'ast Variant) {
        self.part(&variant.attrs, |reader| {
            visit::visit_variant(reader, variant);
        });
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        match &module.content {
            Some(_) => self.inline(module),
            None => {
                self.declared(module);
                visit::visit_item_mod(self, module);
            }
        }
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
            && !self.in_test
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

/// What `#[path = "…"]` says, if that is among the attributes.
fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    attributes
        .iter()
        .find_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
                Expr::Lit(literal) if let Lit::Str(path) = &literal.lit => Some(path.value()),
                _ => None,
            },
            _ => None,
        })
}

/// Whether the brackets of an attribute hold documentation, which is what `///` is to a macro.
fn is_documentation(group: &proc_macro2::Group) -> bool {
    let mut tokens = group.stream().into_iter();
    matches!(tokens.next(), Some(TokenTree::Ident(word)) if word == "doc")
        && matches!(tokens.next(), Some(TokenTree::Punct(sign)) if sign.as_char() == '=')
}

/// Whether an attribute keeps what it stands on out of every build but a test's: `#[test]`, `#[runtime::test]`,
/// `#[cfg(test)]`, `#[cfg(all(test, …))]`.
fn is_test(attribute: &Attribute) -> bool {
    match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => list
            .parse_args::<Meta>()
            .is_ok_and(|meta| needs_test(&meta)),
        meta => {
            let last = meta.path().segments.last();
            last.is_some_and(|name| name.ident == "test")
        }
    }
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
