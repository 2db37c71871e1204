//! `[model]`: which model a session talks to.

use super::found;
use super::text::{ConfigText, Fault, TextFault};
use std::time::Duration;

/// Which model to talk to, and where; what is not said is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelConfig {
    /// `base_url`: where the chat-completions protocol starts.
    pub base_url: Option<String>,
    /// `name`: the model's name, as its server knows it.
    pub name: Option<String>,
    /// `api_key_env`: the environment variable that holds the key. The key itself has no place in a config.
    pub api_key_env: Option<String>,
    /// `timeout_seconds`: how long the server may send nothing.
    pub timeout: Option<Duration>,
}

impl ModelConfig {
    /// Has `later` say what it says.
    pub(crate) fn follow(&mut self, later: &ModelConfig) {
        let ModelConfig {
            base_url,
            name,
            api_key_env,
            timeout,
        } = later;
        self.base_url = base_url.clone().or(self.base_url.take());
        self.name = name.clone().or(self.name.take());
        self.api_key_env = api_key_env.clone().or(self.api_key_env.take());
        self.timeout = timeout.or(self.timeout);
    }

    pub(super) fn read(config: &ConfigText<'_>) -> Result<ModelConfig, TextFault> {
        let Some(item) = config.document.get("model") else {
            return Ok(ModelConfig::default());
        };
        let wrong = |item: &toml_edit::Item, key, wanted| {
            let found = found(item);
            config.fault(item.span(), Fault::WrongType { key, wanted, found })
        };
        let Some(table) = item.as_table_like() else {
            return Err(wrong(item, "model", "a table"));
        };
        let text = |name, key| match table.get(name) {
            None => Ok(None),
            Some(item) => match item.as_str() {
                Some(text) => Ok(Some(text.to_owned())),
                None => Err(wrong(item, key, "a string")),
            },
        };
        let timeout = match table.get("timeout_seconds") {
            None => None,
            Some(item) => {
                let seconds = item.as_integer().filter(|seconds| *seconds > 0);
                let seconds = seconds.and_then(|seconds| u64::try_from(seconds).ok());
                let key = "model.timeout_seconds";
                Some(seconds.ok_or_else(|| wrong(item, key, "a number of seconds above 0"))?)
            }
        };
        Ok(ModelConfig {
            base_url: text("base_url", "model.base_url")?,
            name: text("name", "model.name")?,
            api_key_env: text("api_key_env", "model.api_key_env")?,
            timeout: timeout.map(Duration::from_secs),
        })
    }
}
