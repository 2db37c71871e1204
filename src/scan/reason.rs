//! The reasons a grade can have: stable identifiers for programs, phrases for people.

use super::Grade;

macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $variant:ident, $grade:ident, $id:literal, $explain:literal;)+) => {
        /// Why a finding has its grade.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
        #[non_exhaustive]
        pub enum Reason {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Reason {
            /// Every reason, in the order of the documentation.
            pub const ALL: &'static [Reason] = &[$(Reason::$variant),+];

            /// The reason's stable identifier, in kebab case.
            pub fn id(self) -> &'static str {
                match self { $(Reason::$variant => $id,)+ }
            }

            /// The reason as a short phrase for people.
            pub fn explain(self) -> &'static str {
                match self { $(Reason::$variant => $explain,)+ }
            }

            /// The grade that a finding with this reason has.
            pub fn grade(self) -> Grade {
                match self { $(Reason::$variant => Grade::$grade,)+ }
            }
        }
    };
}

reasons! {
    /// An inline code span that is exactly the name.
    Span, Instructs, "span", "a code span names it as a tool to call";
    /// An inline code span that holds a call of it.
    SpanCall, Instructs, "span-call", "a code span calls it";
    /// The name between backticks in a code block or in HTML.
    QuotedName, Instructs, "quoted-name", "it stands between backticks as a tool to call";
    /// A call of it in a code block.
    BlockCall, Instructs, "block-call", "a code block calls it";
    /// A tool call written as data (`"tool": "…"`) names it.
    DataCall, Instructs, "data-call", "a tool call written as data names it";

    /// A tools list of the frontmatter names it.
    ListEntry, Declares, "list-entry", "a tools list names it";
    /// A matcher of `hooks.json` names it.
    HookMatcher, Declares, "hook-matcher", "a hook's matcher names it";

    /// The bare word in running text.
    BareWord, Suspect, "bare-word", "the text names it without marking it as code";
    /// Code that holds the word without calling it.
    CodeWord, Suspect, "code-word", "code holds the name without calling it";
    /// Marked as a reference, but in another letter case than the list's.
    OtherCase, Suspect, "other-case", "it is spelt in another letter case";
    /// In an HTML comment, which a model may or may not act on.
    Commented, Suspect, "commented", "it stands in an HTML comment";
    /// The code block that calls it defines it, too.
    OwnDefinition, Suspect, "own-definition", "the same code block defines this name itself";
    /// A frontmatter field other than the description.
    OtherField, Suspect, "other-field", "a frontmatter field other than the description holds it";

    /// The sentence says that the tool is gone.
    Gone, Mentions, "gone", "its sentence says that the tool is gone";
    /// The sentence speaks of what an older text or version did.
    History, Mentions, "history", "its sentence tells what was done formerly";
    /// The sentence forbids it.
    Forbidden, Mentions, "forbidden", "its sentence forbids or rules out the call";
    /// The sentence says what to do where the tool is absent.
    Absent, Mentions, "absent", "its sentence is about the tool being absent";
    /// Something else is to be used in its place.
    Replaced, Mentions, "replaced", "its sentence puts another tool in its place";
    /// A table row or an arrow maps it to its replacement.
    Mapped, Mentions, "mapped", "its line maps it to its replacement";
    /// Struck out, or on the removed side of a diff.
    Struck, Mentions, "struck", "it is struck out";
    /// The heading or the line that leads its list says that it is gone or forbidden.
    Listed, Mentions, "listed", "the heading or line above it says that it is gone or forbidden";
    /// The list of tools that names it takes them away.
    Disallowed, Mentions, "disallowed", "a list of disallowed tools names it";
    /// An acknowledgement on the line or the line before.
    Acknowledged, Mentions, "acknowledged", "a `vak: retired-ok` comment acknowledges it";
}
