//! Waiting before trying again: longer each time, and by chance, so that those who collided do not collide again.

use std::time::Duration;

use crate::service::Service;

const FIRST_MICROSECONDS: u64 = 500;
const LONGEST_MICROSECONDS: u64 = 100_000;

/// Waits before the next attempt; the first one is number 0.
pub(crate) async fn pause(service: &Service, attempt: u32) {
    tokio::time::sleep(wait(attempt, service.options().random.bytes())).await;
}

/// Up to twice as long as the time before, by chance.
fn wait(attempt: u32, chance: [u8; 32]) -> Duration {
    let most = FIRST_MICROSECONDS.saturating_mul(1 << attempt.min(16)).min(LONGEST_MICROSECONDS);
    let chance = chance.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    Duration::from_micros(chance % most.max(1))
}
