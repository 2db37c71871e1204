//! Skills: which there are, which the model may be offered, and why another is not.
//!
//! A skill is a `SKILL.md` with a name, a description and instructions. [`discover`] looks for them, reads
//! each once and freezes what it read; [`validate`] is the judge of one. Nothing vanishes: whatever looks like
//! a skill and is not offered, or is offered in spite of a doubt, has a [`SkillDiagnostic`]. A skill that
//! tells the model to call a retired tool is never offered. Nothing here writes.

mod diagnostic;
mod discover;
mod find;
mod validate;

pub use diagnostic::{Severity, SkillDiagnostic, SkillFault};
pub use discover::{Catalogue, FoundSkill, Place, Source, State, discover, discover_at, look};
pub use validate::{MAX_DESCRIPTION, MAX_NAME, Skill, Validation, read, validate};
