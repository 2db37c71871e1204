//! Rule 5: whether a reference's own sentence, list item or table row says that the tool is gone,
//! forbids it, or maps it to its replacement.

use super::markdown::{Block, Piece};
use super::references::{Reference, Scope};

/// Judges the references in a block of running text by what the block says of them.
pub(super) fn hear_block(_scope: Scope<'_>, _block: &Block<'_>, _references: &mut [Reference]) {}

/// Judges references in text that no heading or list leads.
pub(super) fn hear(_scope: Scope<'_>, _pieces: &[Piece], _references: &mut [Reference]) {}
