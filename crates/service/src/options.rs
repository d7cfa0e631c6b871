//! What a service is given from outside: variables, time, chance, secrets.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::{Clock, SystemClock};
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

/// Gives random bytes.
pub trait Random: Send + Sync {
    /// 32 random bytes.
    fn bytes(&self) -> [u8; 32];
}

/// The randomness of the machine.
#[derive(Clone, Debug)]
pub struct SystemBytes(SystemRandom);

impl Default for SystemBytes {
    fn default() -> SystemBytes {
        SystemBytes(SystemRandom::new())
    }
}

impl Random for SystemBytes {
    fn bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        self.0.fill(&mut bytes).expect("the operating system has random bytes");
        bytes
    }
}

/// Settings of a service.
#[derive(Clone)]
pub struct Options {
    /// Variables of the design; others have their defaults.
    pub variables: BTreeMap<String, String>,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// Where ids and jitter come from.
    pub random: Arc<dyn Random>,
    /// Signs cursors. Processes that serve the same callers need the same secret; the default is a new one for each process.
    pub secret: [u8; 32],
    /// Signs what is sent to web hooks.
    pub hook_secret: [u8; 32],
    /// The table in which outcomes of idempotent writes, checkpoints of streams and undelivered events are kept.
    pub state_table: String,
    /// How often a write is tried again from fresh reads when others were faster.
    pub attempts_max: u32,
    /// How long the outcome of a write with an idempotency key is remembered.
    pub outcome_lifetime_seconds: i64,
}

impl Default for Options {
    fn default() -> Options {
        let random = SystemBytes::default();
        Options {
            variables: BTreeMap::new(),
            clock: Arc::new(SystemClock),
            secret: random.bytes(),
            hook_secret: random.bytes(),
            random: Arc::new(random),
            state_table: "monotable-state".to_owned(),
            attempts_max: 40,
            outcome_lifetime_seconds: 24 * 60 * 60,
        }
    }
}

impl Options {
    /// The same with keys that follow from a secret, so that cursors and the signatures of web hooks outlive the process and are
    /// the same in all processes that have it.
    #[must_use]
    pub fn with_secret(self, secret: &str) -> Options {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        let derived = |purpose: &str| {
            let mut bytes = [0; 32];
            bytes.copy_from_slice(hmac::sign(&key, purpose.as_bytes()).as_ref());
            bytes
        };
        Options { secret: derived("cursors"), hook_secret: derived("web hooks"), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_gives_the_same_keys_again_and_each_purpose_its_own() {
        let (one, two) = (Options::default().with_secret("a"), Options::default().with_secret("a"));
        assert_eq!((one.secret, one.hook_secret), (two.secret, two.hook_secret));
        assert_ne!(one.secret, one.hook_secret);
        assert_ne!(one.secret, Options::default().with_secret("b").secret);
        assert_ne!(Options::default().secret, Options::default().secret);
    }
}
