//! What two configs mean together.

use super::{OwnedConfig, StartupWarning};
use crate::config::ModelConfig;
use crate::roots::Scope;
use crate::tools::PermissionMode;

/// What a session may do, as its configs say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// What the session's tools may do.
    pub permission_mode: PermissionMode,
    /// The plugins that may reach the network, sorted.
    pub network_allow: Vec<String>,
    /// Which model to talk to.
    pub model: ModelConfig,
}

impl Policy {
    /// The workspace's config has the last word if it is trusted. If not, it can lower the permission mode and
    /// nothing else: it may come from anywhere. What it asked for in vain is told.
    pub(super) fn of(
        configs: &[OwnedConfig],
        trusted: bool,
        warn: &mut impl FnMut(StartupWarning),
    ) -> Policy {
        let mut policy = Policy::default();
        for owned in configs {
            if owned.scope == Scope::User || trusted {
                policy.follow(owned);
            } else {
                policy.heed(owned, warn);
            }
        }
        policy.network_allow.sort_unstable();
        policy.network_allow.dedup();
        policy
    }

    fn follow(&mut self, OwnedConfig { config, .. }: &OwnedConfig) {
        if let Some(mode) = config.permission_mode {
            self.permission_mode = mode;
        }
        self.network_allow.extend_from_slice(&config.network_allow);
        self.model.follow(&config.model);
    }

    fn heed(&mut self, owned: &OwnedConfig, warn: &mut impl FnMut(StartupWarning)) {
        let OwnedConfig { path, config, .. } = owned;
        let mut ignored = Vec::new();
        match config.permission_mode {
            Some(mode) if mode > self.permission_mode => ignored.push("permission_mode"),
            Some(mode) => self.permission_mode = mode,
            None => {}
        }
        let is_new = |plugin: &String| !self.network_allow.contains(plugin);
        if config.network_allow.iter().any(is_new) {
            ignored.push("plugins.network_allow");
        }
        if config.model != ModelConfig::default() {
            ignored.push("model");
        }
        if !ignored.is_empty() {
            warn(StartupWarning::UntrustedConfig {
                path: path.clone(),
                ignored,
            });
        }
    }
}
