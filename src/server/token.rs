//! The server's token: who can read its file may use the server.
//!
//! Owns the file `server.token` in the shared root: 256 random bits, readable by its owner alone. It is
//! created when it is missing, so deleting it is how a token is replaced. It refuses to use a file that
//! others can read: such a token may be known already.

use crate::disk::{self, Dir, DiskError};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use subtle::ConstantTimeEq as _;

/// The token file's name in the shared root.
pub const TOKEN_FILE: &str = "server.token";

/// The length of a token in bytes.
const LENGTH: usize = 32;

/// More than any token file has.
const MAX_BYTES: u64 = 1024;

/// The secret that a client proves to know.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    bytes: [u8; LENGTH],
    text: String,
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// Its file can't be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The system has no random bytes to give.
    #[error("the system gave no random bytes")]
    Random(#[from] getrandom::Error),
    /// Others can read the file.
    #[error(
        "`{}` has the mode {mode:04o}: others than its owner may have read the token\nhint: delete the file; `vak serve` then makes a new one",
        path.display()
    )]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// What is in the file is no token.
    #[error("`{}` holds no token\nhint: delete the file; `vak serve` then makes a new one", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
    },
}

impl Token {
    /// The token in the shared root `root`; a new one, if its file is missing.
    ///
    /// # Errors
    /// [`TokenError`] if the file can't be read or made, if others can read it, or if it holds no token.
    pub fn load_or_create(root: &Path) -> Result<Token, TokenError> {
        if let Some(token) = Token::load(root)? {
            return Ok(token);
        }
        let guard = disk::lock(root)?;
        // Another process may have made one while this one waited for the lock.
        if let Some(token) = Token::load(root)? {
            return Ok(token);
        }
        let token = Token::random()?;
        let line = format!("{}\n", token.text);
        disk::create_private(&guard, root, OsStr::new(TOKEN_FILE), line.as_bytes())?;
        Ok(token)
    }

    /// The token in the shared root, if there is one.
    fn load(root: &Path) -> Result<Option<Token>, TokenError> {
        let Some(dir) = Dir::open(root)? else {
            return Ok(None);
        };
        let Some(file) = dir.open_file(OsStr::new(TOKEN_FILE))? else {
            return Ok(None);
        };
        let path = root.join(TOKEN_FILE);
        let failed = |source| DiskError::Io {
            action: "read",
            path: path.clone(),
            source,
        };
        let mode = file.metadata().map_err(failed)?.permissions().mode() & 0o7777;
        if mode & 0o077 != 0 {
            return Err(TokenError::Exposed { path, mode });
        }
        let mut text = String::new();
        match file.take(MAX_BYTES).read_to_string(&mut text) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {}
            Err(error) => return Err(failed(error).into()),
        }
        Token::parse(text.trim_ascii_end())
            .map(Some)
            .ok_or(TokenError::Malformed { path })
    }

    fn random() -> Result<Token, getrandom::Error> {
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes)?;
        Ok(Token::new(bytes))
    }

    fn new(bytes: [u8; LENGTH]) -> Token {
        Token {
            bytes,
            text: URL_SAFE_NO_PAD.encode(bytes),
        }
    }

    fn parse(text: &str) -> Option<Token> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        Some(Token::new(bytes.try_into().ok()?))
    }

    /// The token as it is written in its file and sent by clients.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether `presented` is this token. Takes the same time however much of it is right.
    pub(super) fn is(&self, presented: &[u8]) -> bool {
        self.text.as_bytes().ct_eq(presented).into()
    }

    /// The secret's bytes, as a key to derive others from.
    pub(super) fn key(&self) -> &[u8] {
        &self.bytes
    }
}

/// Says that there is one, not what it is.
impl std::fmt::Debug for Token {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Token(…)")
    }
}
