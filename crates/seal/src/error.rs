//! Why something could not be sealed or opened.

/// Why something could not be sealed or opened. The words say what to do next; none of them tells a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The bytes were altered, cut short, moved from another place, or are not sealed at all.
    #[error("sealed data was altered, cut short or moved from another place")]
    Altered,
    /// The data key was never in the envelope, or was removed from it.
    #[error("sealed with data key {id}, which the envelope does not hold")]
    UnknownDataKey {
        /// The number of the data key.
        id: u32,
    },
    /// Another master key than that of the envelope was given.
    #[error("the master key {given} was given, but the keys are wrapped with {needed}: give that one")]
    WrongMasterKey {
        /// The id of the key that was given.
        given: String,
        /// The id of the key that is needed.
        needed: String,
    },
    /// The master key is the right one by its id, but does not open what it is said to have wrapped.
    #[error("data key {id} of the envelope was altered: the master key {master} does not open it")]
    AlteredDataKey {
        /// The number of the data key.
        id: u32,
        /// The id of the master key.
        master: String,
    },
    /// A master key could not be read from where it should be.
    #[error("no master key from {from}: {reason}")]
    Unreadable {
        /// The file or the environment variable.
        from: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A service that holds the master key refused or could not be reached.
    #[error("the master key {master} cannot be used: {reason}")]
    MasterKeyUnavailable {
        /// The id of the master key.
        master: String,
        /// What the service said.
        reason: String,
    },
    /// A service that holds the master key could not be asked: whether the key can be used is not known.
    #[error("the master key {master} cannot be asked for: {reason}")]
    MasterKeyUnreachable {
        /// The id of the master key.
        master: String,
        /// What stood in the way.
        reason: String,
    },
    /// The envelope is not one, or of a later version.
    #[error("not an envelope of keys: {reason}")]
    Envelope {
        /// What is wrong with it.
        reason: String,
    },
    /// The operating system gave no random numbers.
    #[error("the operating system gives no random numbers")]
    NoRandomness,
}
