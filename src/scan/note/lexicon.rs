//! The words that rule 5 knows, and what each can do in a sentence. No phrases and no grammar here.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A set of the roles below; a word can play several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Classes(u32);

impl Classes {
    /// Stands between a cue and a name without weakening their tie: articles, "built-in", "any".
    pub(super) const FILLER: Classes = Classes(1);
    /// What a tool is called: "tool", "function", "calls".
    pub(super) const NOUN: Classes = Classes(1 << 1);
    /// To use a tool, in any form: "call", "running", "relied".
    pub(super) const CALL: Classes = Classes(1 << 2);
    /// The form of such a verb that begins an order: "call", "run".
    pub(super) const ORDER: Classes = Classes(1 << 3);
    /// Says of its noun that it is no more: "removed", "deprecated", "gone".
    pub(super) const GONE: Classes = Classes(1 << 4);
    /// Says of its noun that it belongs to an earlier time: "old", "former".
    pub(super) const OLD: Classes = Classes(1 << 5);
    /// Takes its object away: "remove", "retiring", "replaces".
    pub(super) const REMOVE: Classes = Classes(1 << 6);
    /// Puts one thing in another's place: "replace", "renamed", "migrate".
    pub(super) const REPLACE: Classes = Classes(1 << 7);
    /// Rules its object out: "avoid", "without", "skip".
    pub(super) const AVOID: Classes = Classes(1 << 8);
    /// A helping verb: "is", "has", "must".
    pub(super) const AUX: Classes = Classes(1 << 9);
    /// A form of "be" or what stands for it.
    pub(super) const BE: Classes = Classes(1 << 10);
    /// Stands beside a verb without changing what it says: "now", "already".
    pub(super) const ADVERB: Classes = Classes(1 << 11);
    /// Begins a clause of its own: "if", "because", "which".
    pub(super) const OPENER: Classes = Classes(1 << 12);
    /// Sets a condition: "if", "when".
    pub(super) const CONDITION: Classes = Classes(1 << 13);
    /// What a tool can no longer be when "not" precedes: "available", "supported", "exist".
    pub(super) const POSSIBLE: Classes = Classes(1 << 14);
    /// A tool that is not there, as a condition puts it: "missing", "unavailable".
    pub(super) const ABSENT: Classes = Classes(1 << 15);
    /// Something written: "guides", "versions", "prompts".
    pub(super) const WRITING: Classes = Classes(1 << 16);
    /// May follow a participle that ends a statement: "in", "since", "by".
    pub(super) const CLOSER: Classes = Classes(1 << 17);
    /// Marks what follows, or what it labels, as an example not to follow: "wrong", "don'ts".
    pub(super) const BAD: Classes = Classes(1 << 18);
    /// Limits an order not to do something to a case: "without", "until".
    pub(super) const LIMIT: Classes = Classes(1 << 19);
    /// A pronoun that can stand for a tool named before.
    pub(super) const PRONOUN: Classes = Classes(1 << 20);
    /// A noun that says the end of something: "removal", "retirement".
    pub(super) const ENDING: Classes = Classes(1 << 21);
    /// An adverb of an earlier time: "formerly", "originally".
    pub(super) const FORMERLY: Classes = Classes(1 << 22);
    /// What a tool gives back: "output", "result".
    pub(super) const PRODUCT: Classes = Classes(1 << 23);

    /// Whether the sets share a role.
    pub(super) fn has(self, other: Classes) -> bool {
        self.0 & other.0 != 0
    }

    /// The roles of a word in lower case.
    pub(super) fn of(word: &str) -> Classes {
        let known = CLASSES.get(word).copied().unwrap_or_default();
        let is_manner = word.len() > 4 && word.ends_with("ly") && word != "only";
        if is_manner {
            known.or(Classes::ADVERB)
        } else {
            known
        }
    }

    /// The roles of both sets.
    pub(super) const fn or(self, other: Classes) -> Classes {
        Classes(self.0 | other.0)
    }
}

static CLASSES: LazyLock<HashMap<&'static str, Classes>> = LazyLock::new(|| {
    let mut classes: HashMap<&'static str, Classes> = HashMap::new();
    for (class, words) in WORDS {
        for word in words.split_whitespace() {
            let entry = classes.entry(word).or_default();
            *entry = entry.or(*class);
        }
    }
    classes
});

const WORDS: &[(Classes, &str)] = &[
    (
        Classes::FILLER,
        "the a an any all our your its their this that these those both either such every each some my \
         his her like including namely called named e.g i.e eg built-in builtin internal bundled ever even \
         following ones one two three urge temptation attempt attempts impulse habit last remaining leftover stray lingering outstanding native special dedicated own whole entire very same",
    ),
    (
        Classes::NOUN,
        "tool tools name names function functions helper helpers command commands capability capabilities \
         api apis calls invocation invocations reference references mention mentions usage usages uses use entry \
         entries identifier identifiers method methods endpoint endpoints feature features alias aliases \
         runner wrapper builtins action actions access support",
    ),
    (
        Classes::CALL,
        "use uses using used call calls calling called run runs running ran invoke invokes invoking invoked \
         execute executes executing executed try tries trying tried reach reaches reaching rely relies relying \
         relied depend depends depending depended resort resorting fall falling back recommend recommending \
         recommended suggest suggesting suggested reference referencing refer referring emit emitting generate \
         generating include including request requesting need needs needing expect expecting expects assume assuming \
         employ employing leverage leveraging utilize utilizing utilise utilising trigger triggering fire query \
         querying consult consulting attempt attempting offer offering pick picking choose choosing send sending \
         issue issuing start starting launch launching write writing mention mentioning open load loading invent \
         inventing touch touching go going switch switching teach teaching look looking install installing have \
         has having make making put putting add adding list listing name naming produce producing output \
         outputting imitate simulate simulating wait ask asking",
    ),
    (
        Classes::ORDER,
        "use call run invoke execute try send open show check ask pass feed start launch prefer choose pick rely \
         switch go do compute evaluate verify see let's keep confirm test work let read write build render \
         reach print make quote report consult query employ leverage utilize trigger fetch",
    ),
    (
        Classes::GONE,
        "removed retired deprecated dropped deleted discontinued obsolete dead gone defunct banned forbidden \
         prohibited disallowed disabled unsupported superseded sunset sunsetted outdated nonexistent non-existent \
         off-limits unavailable withdrawn decommissioned abandoned scrapped axed killed eliminated purged stripped \
         end-of-life eol now-removed now-retired now-deprecated now-deleted now-gone now-defunct no-longer-supported \
         no-longer-available long-gone soon-to-be-removed unmaintained revoked excised ex replaced renamed \
         phased-out stale blocked denied avoided shunned discouraged pulled cut",
    ),
    (
        Classes::OLD,
        "old older legacy former previous ancient earlier prior past outdated early stale historic historical \
         pre-3.0 bygone",
    ),
    (
        Classes::REMOVE,
        "remove removes removing report reports reject rejects flag flags retire retires retiring deprecate deprecates deprecating drop drops dropping \
         delete deletes deleting ban bans banning forbid forbids forbidding prohibit prohibits prohibiting disallow \
         disallows disallowing disable disables disabling discontinue discontinues discontinuing eliminate \
         eliminates eliminating purge purges purging strip strips stripping uninstall uninstalls uninstalling \
         scrap axe kill kills lose loses lost losing goodbye farewell abandon abandons abandoning revoke revokes deny denies \
         rip ripped ripping strike strikes striking erase erases erasing discard discards discarding refuse refuses reject rejects block blocks sunsetting",
    ),
    (
        Classes::REPLACE,
        "replace replaces replacing replaced supersede supersedes superseding superseded rename renames renaming \
         renamed swap swaps swapping swapped migrate migrates migrating migrated switch switches switching switched \
         move moves moving moved port ports porting ported convert converts converting converted change changes \
         changing changed exchange exchanges substitute substitutes substituting substituted translate translates \
         retire rewrite rewrites rewriting rewritten turn map maps mapping mapped upgrade upgrading transition \
         transitioning subsumes absorbs supplants supplant supplanted obsoletes succeeds became becomes merged folded redirect redirects redirecting redirected \
         dropped removed deprecated retired",
    ),
    (
        Classes::AVOID,
        "avoid avoids avoided avoiding stop stops stopped stopping skip skips skipping skipped forget forgets forgetting ignore \
         ignores ignoring omit omits omitting refrain refraining without unlike disregard neglect neglecting hesitate hesitating \
         fail abstain resist quit cease ceased lacks lacking lack minus except sans excluding bypass bypassing shun decline clear forgo forgoes forgoing refuse refuses refusing",
    ),
    (
        Classes::AUX,
        "is are was were be been being has have had will would shall should can could may might must do does did \
         need needs ought got get gets getting 's 've 'll 're 'd become becomes became remains stays to",
    ),
    (
        Classes::BE,
        "is are was were be been being 's 're got get gets became becomes become has have had 've remains stays",
    ),
    (
        Classes::ADVERB,
        "now since also already long all both just still then meanwhile therefore thus hence soon altogether \
         officially being been again outright ever yet too here once simply indeed in-between sadly at",
    ),
    (
        Classes::OPENER,
        "until till unless before because since so although though while whereas if when whenever where wherever \
         which who whose what whether then once after whatever why how",
    ),
    (
        Classes::CONDITION,
        "if when whenever where wherever in-case should while",
    ),
    (
        Classes::POSSIBLE,
        "exist exists exist: available supported allowed permitted callable offered provided shipped registered \
         present installed listed found included needed required necessary used called invoked run executed \
         recommended accepted recognised recognized known valid usable reachable enabled loaded maintained there \
         work works function functions ship ships exposed declared defined deployed served part option around \
         real respond resolve resolves answer bundled advertised appear appears occur existed worked among named mentioned survive survived remain",
    ),
    (
        Classes::ABSENT,
        "missing absent unavailable disabled unsupported",
    ),
    (
        Classes::WRITING,
        "guide guides doc docs documentation version versions release releases prompt prompts instruction \
         instructions skill skills example examples tutorial tutorials article articles recipe recipes copy copies \
         draft drafts transcript transcripts session sessions build builds plugin plugins text texts notes note habit \
         habits post posts material materials page pages readme readmes edition editions manual manuals snippet advice hint hints suggestion suggestions \
         snippets script scripts code workflow workflows revision revisions models logs log days line lines",
    ),
    (
        Classes::CLOSER,
        "in since by as from after with and or on at for entirely completely now long ago upstream already long-ago \
         because effective when during to under last this before altogether permanently use",
    ),
    (
        Classes::BAD,
        "wrong bad incorrect invalid anti-pattern antipattern anti-patterns antipatterns don'ts donts don'ts: \
         never avoid forbidden prohibited banned disallowed off-limits not",
    ),
    (
        Classes::LIMIT,
        "without until till unless before except twice",
    ),
    (Classes::PRONOUN, "it they this that these those both it's"),
    (
        Classes::ENDING,
        "removal retirement deprecation end loss absence lack death demise disappearance withdrawal departure \
         sunset sunsetting discontinuation deletion",
    ),
    (
        Classes::FORMERLY,
        "formerly previously originally historically erstwhile once née f.k.a fka ex",
    ),
    (
        Classes::PRODUCT,
        "output outputs result results value values figure figures number numbers response responses error errors \
         return returns message messages traceback answer answers print prints log logs data tracebacks warning warnings \
         stdout stderr session sessions run state states file files timeout timeouts limit limits table tables row rows \
         exception exceptions failure failures artefact artefacts artifact artifacts image images screenshot screenshots \
         plot plots chart charts placeholder placeholders variable variables temp temporary",
    ),
];
