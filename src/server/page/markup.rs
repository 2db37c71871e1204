//! The page's HTML, made from the same documents that the API answers with.

use crate::server::problem::Problem;
use crate::server::wire::{
    CheckItem, CheckResult, Doctor, Finding, GradeName, Place, Quarantine, QuarantinedPlugin,
    RetiredPlugin, RetiredPlugins, RetiredTool, RetiredTools, ScopeName, StoreFault, VerdictName,
};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::time::{Duration, UNIX_EPOCH};

/// A square with a gap in it: a tool that is gone.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E\
%3Crect x='2' y='2' width='12' height='12' rx='3' fill='none' stroke='%2314595a' stroke-width='2.5' \
stroke-dasharray='30 8'/%3E%3C/svg%3E";

/// How many places of a plugin are shown before somebody asks for more.
const SHOWN_AT_ONCE: usize = 6;

/// All that the page shows at once.
pub(in crate::server) struct Overview<'a> {
    /// The session's CSRF token.
    pub(in crate::server) csrf: &'a str,
    /// The retired plugins and the tag of that state.
    pub(in crate::server) retired: Result<(&'a RetiredPlugins, &'a str), Problem>,
    /// What can be put back.
    pub(in crate::server) quarantine: Result<&'a Quarantine, Problem>,
}

/// The page for somebody who is signed in.
pub(in crate::server) fn overview(overview: &Overview<'_>) -> Markup {
    let etag = overview.retired.as_ref().map_or("", |(_, etag)| *etag);
    let body = html! {
        a.skip href="#main" { "Skip to the content" }
        header.top {
            div.column {
                h1 { "vak " span { "retired tools" } }
                button.quiet type="button" data-method="POST" data-url="/sign-out" data-busy="Signing out…" data-leaves { "Sign out" }
            }
        }
        div.column { div.notice #notice role="status" tabindex="-1" {} }
        main.column #main tabindex="-1" data-etag=(etag) {
            noscript { p.panel { "This page needs its script to change anything. Without it, use " code { "vak setup seed" } " and " code { "vak plugins restore" } " in a terminal." } }
            section aria-labelledby="retired-heading" {
                @match &overview.retired {
                    Ok((retired, _)) => (retired_section(retired)),
                    Err(problem) => {
                        div.head { h2 #retired-heading { "Plugins that call a retired tool" } }
                        (failed("The plugins could not be looked at", problem))
                    }
                }
            }
            section aria-labelledby="quarantine-heading" { (quarantine_section(&overview.quarantine)) }
            section aria-labelledby="health-heading" { (health_section()) }
            section aria-labelledby="tools-heading" { (tools_section(&RetiredTools::shipped())) }
        }
        (page_footer())
        script src="/page.js" {}
    };
    document("vak: retired tools", Some(overview.csrf), &body)
}

/// The page for somebody who is not: how to get in.
pub(in crate::server) fn sign_in(refused: Option<&str>) -> Markup {
    let body = html! {
        main.sign-in {
            h1 { "vak " span.soft { "retired tools" } }
            @if let Some(refused) = refused {
                div.panel.bad role="alert" { strong { "That did not work" } (refused) }
            }
            p { "This page manages the plugins on the machine that " code { "vak serve" } " runs on. It opens only for somebody who can read that machine's token." }
            p { "Run " code { "vak serve --print-link" } " there and open the link it prints, or enter the token that " code { "vak serve --print-token" } " prints." }
            form.card method="post" action="/sign-in" {
                label for="token" { "Token" }
                input #token name="token" type="password" autocomplete="off" autocapitalize="off" spellcheck="false" required autofocus;
                button.main type="submit" { "Sign in" }
            }
        }
    };
    document("vak: sign in", None, &body)
}

/// Sends a browser that has just got its cookie on to the page. A redirect would do only where the link was
/// typed: followed from another site, browsers keep a strict cookie back until a page of this one asks.
pub(in crate::server) fn entered() -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="refresh" content="0; url=/";
                title { "vak: signed in" }
            }
            body { p { a href="/" { "You are signed in. Go on to the page." } } }
        }
    }
}

/// The health report, as a part of the page: what needs somebody first, the rest on request.
pub(in crate::server) fn health(report: Result<&Doctor, &Problem>) -> Markup {
    let doctor = match report {
        Ok(doctor) => doctor,
        Err(problem) => return failed("The checks could not be run", problem),
    };
    let with = |verdict| {
        doctor
            .checks
            .iter()
            .filter(move |check| check.verdict == verdict)
    };
    let passed = with(VerdictName::Pass).count();
    let all = passed == doctor.checks.len();
    html! {
        div.card {
            @for check in with(VerdictName::Fail).chain(with(VerdictName::Warn)) { (check_row(check)) }
            details.passed open[all] {
                summary { span.sign aria-hidden="true" { "✓" } " " (in_order(passed, all)) }
                @for check in with(VerdictName::Pass) { (check_row(check)) }
            }
        }
    }
}

fn in_order(passed: usize, all: bool) -> String {
    match (passed, all) {
        (_, true) => format!("All {passed} checks are in order"),
        (1, _) => "1 other check is in order".to_owned(),
        _ => format!("{passed} other checks are in order"),
    }
}

fn document(title: &str, csrf: Option<&str>, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="icon" href=(ICON);
                style { (PreEscaped(super::STYLE)) }
            }
            body data-csrf=[csrf] { (body) }
        }
    }
}

/// A plugin and its place on the page, which names its elements. Its name could not: a name can be anything,
/// and with what is put around it be the id of another plugin's element.
type Numbered<'a> = (usize, &'a RetiredPlugin);

fn retired_section(retired: &RetiredPlugins) -> Markup {
    let plugins = retired.stores.iter().flat_map(|store| &store.plugins);
    let plugins: Vec<Numbered<'_>> = plugins.enumerate().collect();
    let removable: Vec<_> = plugins
        .iter()
        .copied()
        .filter(|(_, plugin)| !plugin.kept)
        .collect();
    let is_whole = retired.stores.iter().all(|store| store.fault.is_none());
    let installed: usize = retired.stores.iter().map(|store| store.installed).sum();
    html! {
        div.head {
            div {
                h2 #retired-heading { (retired_heading(plugins.len(), is_whole)) }
                @if !plugins.is_empty() {
                    p.lead { "A model that follows one of these texts calls a tool that vak no longer has: the call fails, or the model makes its result up. vak keeps the stale skills from the model; the plugins themselves stay until they are removed." }
                }
            }
            @if removable.len() > 1 {
                button.strong type="button" data-opens="remove-all" aria-haspopup="dialog" { "Remove all " (removable.len()) "…" }
            }
        }
        @for store in &retired.stores {
            @if let Some(fault) = &store.fault { (unreadable(store.scope, fault)) }
        }
        @if plugins.is_empty() && is_whole {
            div.panel.good {
                strong { "All in order" }
                (nothing_retired(installed))
            }
        } @else if !plugins.is_empty() {
            ul.cards { @for plugin in &plugins { li { (plugin_card(*plugin)) } } }
        }
        @if removable.len() > 1 { (remove_all_dialog(&removable)) }
        @for plugin in &removable { (remove_dialog(*plugin)) }
    }
}

fn retired_heading(count: usize, is_whole: bool) -> String {
    match count {
        0 if is_whole => "No plugin calls a retired tool".to_owned(),
        0 => "Plugins that call a retired tool".to_owned(),
        1 => "1 plugin tells the model to call a retired tool".to_owned(),
        _ => format!("{count} plugins tell the model to call a retired tool"),
    }
}

fn nothing_retired(installed: usize) -> String {
    match installed {
        0 => "No plugin is installed here.".to_owned(),
        1 => "The one installed plugin names no retired tool as one to call.".to_owned(),
        _ => format!(
            "None of the {installed} installed plugins names a retired tool as one to call."
        ),
    }
}

fn plugin_card((number, plugin): Numbered<'_>) -> Markup {
    let (strong, weaker): (Vec<_>, Vec<_>) = plugin
        .findings
        .iter()
        .partition(|finding| finding.grade == GradeName::Instructs);
    html! {
        article.card.plugin aria-labelledby=(element_id("plugin", number)) {
            header {
                div {
                    h3 id=(element_id("plugin", number)) { (plugin.name) }
                    p.facts {
                        span { "version " (plugin.version) }
                        span { (store_name(plugin.scope)) }
                        span { @if plugin.enabled { "enabled" } @else { "disabled" } }
                    }
                }
                @if !plugin.kept {
                    button.danger type="button" data-opens=(element_id("remove", number)) aria-haspopup="dialog" {
                        "Remove…" span.skip { " " (plugin.name) }
                    }
                }
            }
            @if plugin.kept {
                p.kept { "Kept on purpose: " code { "keep_retired" } " in a " code { "config.toml" } " names it. Take it out of that list to have it removed." }
            }
            div.advice { @for tool in &plugin.tools { (swap(tool)) } }
            (findings(&strong, &weaker, plugin.findings_omitted))
        }
    }
}

/// The places that tell the model to call the tool, the first few at once, and the others on request.
fn findings(strong: &[&Finding], weaker: &[&Finding], omitted: usize) -> Markup {
    let (first, more) = strong.split_at(strong.len().min(SHOWN_AT_ONCE));
    let names = plural(weaker.len(), "names", "name");
    let does = plural(weaker.len(), "does", "do");
    html! {
        ul.findings aria-label="Where" { @for finding in first { (finding_row(finding)) } }
        @if !more.is_empty() {
            details.weaker {
                summary { (more.len()) " more " (plural(more.len(), "line", "lines")) " like these" }
                ul.findings { @for finding in more { (finding_row(finding)) } }
            }
        }
        @if !weaker.is_empty() {
            details.weaker {
                summary { (weaker.len()) " other " (plural(weaker.len(), "line", "lines")) " that " (names) " a retired tool, but " (does) " not tell the model to call it" }
                ul.findings { @for finding in weaker { (finding_row(finding)) } }
            }
        }
        @if omitted > 0 { p.weaker.small.soft { "And " (omitted) " more, which " code { "vak plugins inspect" } " lists." } }
    }
}

fn swap(tool: &RetiredTool) -> Markup {
    html! {
        div {
            p {
                code.gone { (tool.name) } span.soft { " is gone since " (tool.retired_in) "; use " } code.live { (tool.replacement) }
            }
            @if let Some(hint) = tool.hint { p.small.soft { (code_spans(hint)) } }
        }
    }
}

fn finding_row(finding: &Finding) -> Markup {
    html! {
        li {
            p.place {
                span { code { (finding.file) ":" (finding.line) } }
                span { (finding.reason) }
            }
            pre.excerpt { (marked(finding)) }
        }
    }
}

/// The excerpt with the retired name marked.
fn marked(finding: &Finding) -> Markup {
    let (text, mark) = (finding.excerpt.as_str(), finding.mark);
    let parts = (
        text.get(..mark.start),
        text.get(mark.start..mark.end),
        text.get(mark.end..),
    );
    html! {
        @if let (Some(before), Some(name), Some(after)) = parts {
            (before) mark { (name) } (after)
        } @else {
            (text)
        }
    }
}

fn remove_dialog((number, plugin): Numbered<'_>) -> Markup {
    let id = element_id("remove", number);
    let heading = format!("{id}-heading");
    html! {
        dialog id=(id) aria-labelledby=(heading) {
            h2 id=(heading) { "Remove " (plugin.name) "?" }
            p { "This will be taken away:" }
            ul.taken { (taken(plugin)) }
            p.soft { "All of it moves into quarantine. Nothing is deleted, and “Put back” undoes it." }
            (choices(&RemoveButton {
                label: "Remove it",
                url: format!("/plugins/retired/{}?scope={}", segment(&plugin.name), plugin.scope.as_str()),
                done: format!("{} was removed", plugin.name),
            }))
        }
    }
}

fn remove_all_dialog(plugins: &[Numbered<'_>]) -> Markup {
    html! {
        dialog id="remove-all" aria-labelledby="remove-all-heading" {
            h2 #remove-all-heading { "Remove all " (plugins.len()) " plugins?" }
            p { "This will be taken away:" }
            ul.taken { @for (_, plugin) in plugins { (taken(plugin)) } }
            p.soft { "All of it moves into quarantine. Nothing is deleted, and “Put back” undoes it, one plugin at a time." }
            (choices(&RemoveButton {
                label: "Remove them",
                url: "/plugins/retired".to_owned(),
                done: format!("{} plugins were removed", plugins.len()),
            }))
        }
    }
}

/// What goes with a plugin.
fn taken(plugin: &RetiredPlugin) -> Markup {
    html! {
        li {
            strong { (plugin.name) } " " span.soft { (plugin.version) ", " (store_name(plugin.scope)) }
            ul {
                li { "its packages, among them " code { (shortened(&plugin.package)) } }
                li { "its entry in the list of installed plugins" }
                @for entry in &plugin.network_allow {
                    li { "its entry in " code { "network_allow" } ", " code { (entry.config) } ", " (lines(&entry.lines)) }
                }
            }
        }
    }
}

/// A package's path, with its digest cut to as much as tells it from others.
fn shortened(package: &str) -> String {
    match package.rsplit_once('/') {
        Some((parent, digest)) if digest.len() == 64 && digest.is_ascii() => {
            format!("{parent}/{}…", &digest[..12])
        }
        _ => package.to_owned(),
    }
}

struct RemoveButton {
    label: &'static str,
    url: String,
    done: String,
}

fn choices(remove: &RemoveButton) -> Markup {
    html! {
        div.choices {
            button type="button" data-closes autofocus { "Cancel" }
            button.strong type="button" data-method="DELETE" data-url=(remove.url) data-busy="Removing…"
                data-done=(remove.done) data-after="It can be put back from quarantine, below." { (remove.label) }
        }
    }
}

fn quarantine_section(quarantine: &Result<&Quarantine, Problem>) -> Markup {
    html! {
        div.head {
            div {
                h2 #quarantine-heading { "Quarantine" }
                p.lead { "What was taken away, byte for byte. It stays until somebody purges it with " code { "vak plugins purge" } "." }
            }
        }
        @match quarantine {
            Err(problem) => (failed("The quarantine could not be looked at", problem)),
            Ok(quarantine) if quarantine.plugins.is_empty() && quarantine.damaged.is_empty() => {
                p.panel.soft { "Nothing has been taken away." }
            }
            Ok(quarantine) => {
                ul.card.rows {
                    @for plugin in &quarantine.plugins { li { (quarantine_row(plugin)) } }
                    @for entry in &quarantine.damaged {
                        li { div { strong { (entry.id) } p.small.soft { "Its record is damaged, so it cannot be put back from here. Its files are intact; “Health” says more." } } }
                    }
                }
            }
        }
    }
}

fn quarantine_row(plugin: &QuarantinedPlugin) -> Markup {
    html! {
        div {
            strong { (plugin.name) }
            p.facts {
                span { "version " (plugin.version) }
                span { (store_name(plugin.scope)) }
                span { "taken away " (time(plugin.removed_at_unix)) }
            }
            @if !plugin.tools.is_empty() {
                p.small.soft { "called " @for (nth, tool) in plugin.tools.iter().enumerate() { @if nth > 0 { ", " } code { (tool) } } }
            }
        }
        button type="button" data-method="POST"
            data-url={ "/plugins/quarantine/" (segment(&plugin.id)) "/restore?scope=" (plugin.scope.as_str()) }
            data-busy="Putting it back…" data-done={ (plugin.name) " is back" }
            data-after="Its files, its entry and its settings are what they were." {
            "Put back" span.skip { " " (plugin.name) }
        }
    }
}

fn health_section() -> Markup {
    html! {
        div.head {
            div {
                h2 #health-heading { "Health" }
                p.lead { "What " code { "vak doctor" } " says of this machine. Looking changes nothing." }
            }
        }
        div data-load="/page/health" aria-live="polite" {
            div.card.loading { span.skip { "Running the checks…" } i {} i {} i {} }
            div.panel.bad.unloaded hidden { strong { "The checks could not be loaded" } "Reload the page, or run " code { "vak doctor" } " in a terminal." }
            noscript { p.panel.soft { "Run " code { "vak doctor" } " in a terminal." } }
        }
    }
}

fn check_row(check: &CheckResult) -> Markup {
    let (class, sign, word) = match check.verdict {
        VerdictName::Pass => ("pass", "✓", "In order: "),
        VerdictName::Warn => ("warn", "!", "Worth a look: "),
        VerdictName::Fail => ("fail", "✗", "Wrong: "),
    };
    html! {
        div class={ "check " (class) } {
            span.sign aria-hidden="true" { (sign) }
            div {
                p { span.skip { (word) } strong { (title(&check.id)) } ": " (code_spans(&check.summary)) }
                @if !check.items.is_empty() {
                    details {
                        summary { "What was found" }
                        ul { @for item in &check.items { li { (item_row(item)) } } }
                    }
                }
                @for remedy in &check.remedies { p.run { "Run " code { (remedy.run) } ": " (code_spans(&remedy.effect)) } }
            }
        }
    }
}

fn item_row(item: &CheckItem) -> Markup {
    html! {
        strong { (code_spans(&item.subject)) } ": " (code_spans(&item.found))
        @if !item.places.is_empty() {
            ul.places { @for place in &item.places { li { (place_row(place)) } } }
        }
    }
}

fn place_row(place: &Place) -> Markup {
    html! {
        code { (place.file) @if place.line > 0 { ":" (place.line) } } " " (code_spans(&place.text))
    }
}

fn tools_section(list: &RetiredTools) -> Markup {
    html! {
        div.head {
            div {
                h2 #tools-heading { "Retired tools" }
                p.lead { "Every tool that vak has retired, as this build knows them. The list only grows." }
            }
        }
        div.card {
            table {
                thead { tr { th scope="col" { "Tool" } th scope="col" { "Use instead" } } }
                tbody { @for tool in &list.tools {
                    tr {
                        th scope="row" { code { (tool.name) } p.small.soft { "gone since " (tool.retired_in) } }
                        td { code.live { (tool.replacement) } @if let Some(hint) = tool.hint { p.small.soft { (code_spans(hint)) } } }
                    }
                } }
            }
        }
    }
}

fn failed(title: &str, problem: &Problem) -> Markup {
    let document = problem.told();
    html! {
        div.panel.bad role="alert" {
            strong { (title) }
            p { (sentence(&document.detail)) }
            @if let Some(hint) = &document.hint { p { (sentence(hint)) } }
            p.small.soft { "In the server's log it is request " code { (document.request_id) } "." }
        }
    }
}

/// One store of several can't be looked at.
fn unreadable(scope: ScopeName, fault: &StoreFault) -> Markup {
    let store = match scope {
        ScopeName::User => "The shared store",
        ScopeName::Workspace => "This workspace’s store",
    };
    html! {
        div.panel.bad role="alert" {
            strong { (store) " could not be looked at" }
            p { (sentence(&fault.detail)) }
            @if let Some(hint) = &fault.hint { p { (sentence(hint)) } }
        }
    }
}

fn page_footer() -> Markup {
    html! {
        footer { div.column {
            p { "vak " (env!("CARGO_PKG_VERSION")) ". Removing moves a plugin into quarantine and takes its entry out of " code { "network_allow" } "; nothing else is changed. The same from a terminal: " code { "vak setup seed" } "." }
        } }
    }
}

/// A phrase as the API says it, as a sentence of the page.
fn sentence(phrase: &str) -> Markup {
    let mut characters = phrase.chars();
    let first = characters.next().map(char::to_uppercase);
    html! { @for character in first.into_iter().flatten() { (character) } (code_spans(characters.as_str())) "." }
}

/// A check's name in words.
fn title(id: &str) -> String {
    let mut words = id.replace('-', " ");
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words
}

/// Text in which backticks set off code.
fn code_spans(text: &str) -> Markup {
    html! {
        @for (nth, part) in text.split('`').enumerate() {
            @if nth % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

fn time(unix: u64) -> Markup {
    let stamp = UNIX_EPOCH
        .checked_add(Duration::from_secs(unix))
        .map(|at| humantime::format_rfc3339_seconds(at).to_string());
    html! { @if let Some(stamp) = stamp { time datetime=(stamp) { (stamp) } } @else { "at an unknown time" } }
}

fn lines(lines: &[usize]) -> String {
    let numbers: Vec<_> = lines.iter().map(usize::to_string).collect();
    format!(
        "{} {}",
        plural(lines.len(), "line", "lines"),
        numbers.join(", ")
    )
}

fn plural(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

fn store_name(scope: ScopeName) -> &'static str {
    match scope {
        ScopeName::User => "shared store",
        ScopeName::Workspace => "this workspace’s store",
    }
}

/// A text as one segment of a URL's path.
fn segment(text: &str) -> impl std::fmt::Display {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC)
}

/// An id for an element that belongs to a plugin.
fn element_id(what: &str, number: usize) -> String {
    format!("{what}-{number}")
}
