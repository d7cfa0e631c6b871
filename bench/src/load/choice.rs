//! Which item an operation is about: any, a new one, or one of those that everybody wants.

/// A row of numbers that look random.
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        scattered(self.0)
    }

    pub fn below(&mut self, count: u64) -> u64 {
        self.next() % count
    }

    /// From 0 up to, and without, 1.
    fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn scattered(n: u64) -> u64 {
    let mixed = (n ^ (n >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// Ranks as YCSB draws them: the first is drawn most, the thousandth a thousandth as often, nearly (theta 0.99).
///
/// The method is that of Gray and others, "Quickly generating billion-record synthetic databases" (1994).
#[derive(Clone)]
pub struct Zipf {
    count: u64,
    zeta: f64,
    alpha: f64,
    eta: f64,
}

const THETA: f64 = 0.99;

impl Zipf {
    pub fn new(count: u64) -> Zipf {
        let zeta = zeta(count);
        let eta = (1.0 - (2.0 / count as f64).powf(1.0 - THETA)) / (1.0 - zeta_exact(2) / zeta);
        Zipf { count, zeta, alpha: 1.0 / (1.0 - THETA), eta }
    }

    /// A rank, the most popular being 0.
    pub fn rank(&self, random: &mut Random) -> u64 {
        let fraction = random.fraction();
        let place = fraction * self.zeta;
        if place < 1.0 {
            return 0;
        }
        if place < 1.0 + 0.5_f64.powf(THETA) {
            return 1.min(self.count - 1);
        }
        let rank = self.count as f64 * (self.eta * fraction - self.eta + 1.0).powf(self.alpha);
        (rank as u64).min(self.count - 1)
    }

    /// An item, those that are popular being anywhere.
    pub fn anywhere(&self, random: &mut Random) -> u64 {
        scattered(self.rank(random)) % self.count
    }
}

fn zeta_exact(count: u64) -> f64 {
    (1..=count).map(|n| (n as f64).powf(-THETA)).sum()
}

/// The sum of all weights: its first terms, and the integral over the rest.
fn zeta(count: u64) -> f64 {
    const EXACT: u64 = 10_000;
    if count <= EXACT {
        return zeta_exact(count);
    }
    let power = 1.0 - THETA;
    let rest = ((count as f64 + 0.5).powf(power) - (EXACT as f64 + 0.5).powf(power)) / power;
    zeta_exact(EXACT) + rest
}

/// How the numbers of a workload's operations are chosen.
#[derive(Clone)]
pub enum Numbers {
    /// Any of so many.
    Uniform(u64),
    /// The popular ones of those that are there.
    Popular(Zipf),
    /// Those that came last, among those that were there and those that the workload has made.
    Latest(Zipf),
    /// So many at once that nobody has used.
    New { each: u64 },
}

/// The numbers that a workload has used up.
#[derive(Clone)]
pub struct Used {
    /// How many items were there before.
    pub before: u64,
    /// The first number that is its own, and the next that nobody has used.
    pub first: u64,
    pub next: u64,
}

impl Numbers {
    pub fn choose(&self, random: &mut Random, used: &mut Used) -> u64 {
        match self {
            Numbers::Uniform(count) => random.below(*count),
            Numbers::Popular(zipf) => zipf.anywhere(random),
            Numbers::Latest(zipf) => used.number((used.count() - 1).saturating_sub(zipf.rank(random))),
            Numbers::New { each } => {
                used.next += each;
                used.next - each
            }
        }
    }
}

/// So many of the items made last may not be answered yet, and are not asked for.
const UNDER_WAY: u64 = 64;

impl Used {
    /// How many items are there, of both kinds.
    fn count(&self) -> u64 {
        self.before + (self.next - self.first).saturating_sub(UNDER_WAY)
    }

    fn number(&self, place: u64) -> u64 {
        if place < self.before { place } else { self.first + (place - self.before) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Random, Zipf, zeta, zeta_exact};

    #[test]
    fn ranks_are_drawn_as_often_as_their_weights_say() {
        let zipf = Zipf::new(10_000);
        let mut random = Random::new(7);
        let draws = 200_000;
        let firsts = (0..draws).filter(|_| zipf.rank(&mut random) == 0).count();
        let expected = draws as f64 / zeta_exact(10_000);
        assert!((firsts as f64 / expected - 1.0).abs() < 0.05, "{firsts} of {expected}");
        assert!((0..draws).all(|_| zipf.rank(&mut random) < 10_000));
    }

    #[test]
    fn the_sum_of_many_weights_is_near_the_exact_one() {
        assert!((zeta(200_000) / zeta_exact(200_000) - 1.0).abs() < 1e-6);
    }
}
