//! A master key that AWS KMS holds: data keys are sent there to be wrapped and unwrapped, and the key never leaves it.
//!
//! Always true: what a data key is for goes along as its encryption context, so KMS refuses to unwrap it for anything else, and its
//! audit log tells which database asked.

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use aws_sdk_kms::Client;
use aws_sdk_kms::config::{BehaviorVersion, SharedHttpClient};
use aws_sdk_kms::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};
use aws_sdk_kms::primitives::Blob;
use aws_smithy_http_client::tls;
use seal::{KEY_BYTES, KeyBytes, KeySource, MasterKey, SealError};
use tokio::runtime::{Builder, Runtime};

/// The name in an encryption context.
const CONTEXT: &str = "monotable";
/// How often it is asked whether the keys of tables can still be used.
const PATIENCE: Duration = Duration::from_mins(1);

/// A key in KMS.
pub(super) struct KmsKey {
    /// The ARN: an alias can be pointed elsewhere.
    arn: String,
    client: Client,
}

/// All keys in KMS that the credentials may use.
pub(super) struct KmsKeys {
    endpoint_url: Option<String>,
}

impl KmsKeys {
    pub(super) fn new(endpoint_url: Option<String>) -> KmsKeys {
        KmsKeys { endpoint_url }
    }
}

impl KeySource for KmsKeys {
    fn key(&self, name: &str) -> Result<Arc<dyn MasterKey>, SealError> {
        Ok(Arc::new(KmsKey::connect(name, self.endpoint_url.as_deref())?))
    }

    fn patience(&self) -> Duration {
        PATIENCE
    }
}

/// Where answers of KMS are waited for. It is never dropped: whoever drops a key may be on a thread that must not wait.
static RUNTIME: OnceLock<Runtime> = OnceLock::new();

fn runtime() -> io::Result<&'static Runtime> {
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let made = Builder::new_current_thread().enable_all().build()?;
    Ok(RUNTIME.get_or_init(|| made))
}

/// Waits for an answer of KMS. On a thread of its own, since whoever asks may be on one that waits for others.
fn wait<T: Send>(runtime: &Runtime, answer: impl Future<Output = T> + Send) -> T {
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| runtime.block_on(answer));
        waiting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

impl KmsKey {
    /// Finds the key with this ARN, id or alias.
    pub(super) fn connect(id: &str, endpoint_url: Option<&str>) -> Result<KmsKey, SealError> {
        let failed = |reason: String| SealError::MasterKeyUnavailable { master: id.to_owned(), reason };
        let unanswered = |error: SdkError<_>| unavailable(id, &error);
        let runtime = runtime().map_err(|error| failed(error.to_string()))?;
        let client = wait(runtime, client(endpoint_url));
        let arn = if id.starts_with("arn:") && id.contains(":key/") {
            id.to_owned()
        } else {
            let answer = wait(runtime, client.describe_key().key_id(id).send()).map_err(unanswered)?;
            let found = answer.key_metadata.and_then(|key| key.arn);
            found.ok_or_else(|| failed("KMS told no ARN".to_owned()))?
        };
        Ok(KmsKey { arn, client })
    }

    fn wait<T: Send>(&self, answer: impl Future<Output = T> + Send) -> Result<T, SealError> {
        let failed = |error: io::Error| SealError::MasterKeyUnreachable {
            master: self.arn.clone(),
            reason: error.to_string(),
        };
        Ok(wait(runtime().map_err(failed)?, answer))
    }

    fn unavailable<E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static>(
        &self,
        error: &SdkError<E>,
    ) -> SealError {
        unavailable(&self.arn, error)
    }
}

/// A refusal, or that there was no answer.
fn unavailable<E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static>(
    master: &str,
    error: &SdkError<E>,
) -> SealError {
    let (master, reason) = (master.to_owned(), reason(error));
    match error {
        SdkError::ServiceError(_) => SealError::MasterKeyUnavailable { master, reason },
        _ => SealError::MasterKeyUnreachable { master, reason },
    }
}

impl MasterKey for KmsKey {
    fn id(&self) -> &str {
        &self.arn
    }

    fn wrap(&self, context: &str, key: &KeyBytes) -> Result<Vec<u8>, SealError> {
        let request = self.client.encrypt().key_id(&self.arn).plaintext(Blob::new(key.to_vec()));
        let answer = self.wait(request.encryption_context(CONTEXT, context).send())?;
        let answer = answer.map_err(|error| self.unavailable(&error))?;
        let missing = || SealError::MasterKeyUnavailable {
            master: self.arn.clone(),
            reason: "KMS answered without a wrapped key".to_owned(),
        };
        answer.ciphertext_blob.map(Blob::into_inner).ok_or_else(missing)
    }

    fn unwrap(&self, context: &str, wrapped: &[u8]) -> Result<Option<KeyBytes>, SealError> {
        let request = self.client.decrypt().key_id(&self.arn).ciphertext_blob(Blob::new(wrapped));
        match self.wait(request.encryption_context(CONTEXT, context).send())? {
            Ok(answer) => Ok(answer.plaintext.and_then(|plain| {
                let bytes: Option<[u8; KEY_BYTES]> = plain.as_ref().try_into().ok();
                bytes.map(KeyBytes::new)
            })),
            Err(error) if is_altered(error.code()) => Ok(None),
            Err(error) => Err(self.unavailable(&error)),
        }
    }
}

fn is_altered(code: Option<&str>) -> bool {
    matches!(code, Some("InvalidCiphertextException" | "IncorrectKeyException"))
}

fn reason<E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static>(
    error: &SdkError<E>,
) -> String {
    match (error.code(), error.message()) {
        (Some(code), Some(message)) => format!("{code}: {message}"),
        (Some(code), None) => code.to_owned(),
        _ => DisplayErrorContext(error).to_string(),
    }
}

async fn client(endpoint_url: Option<&str>) -> Client {
    let mut loader = aws_config::defaults(BehaviorVersion::latest()).http_client(http_client());
    if let Some(url) = endpoint_url {
        loader = loader.endpoint_url(url);
    }
    Client::new(&loader.load().await)
}

fn http_client() -> SharedHttpClient {
    aws_smithy_http_client::Builder::new()
        .tls_provider(tls::Provider::Rustls(tls::rustls_provider::CryptoMode::Ring))
        .build_https()
}
