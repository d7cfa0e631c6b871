//! The recorded counts: a table in a text file, so that a change of it can be read.

use std::fmt;
use std::path::PathBuf;

/// What one operation costs, as far as it is counted.
#[derive(Default)]
pub struct Counts {
    pub instructions: Option<u64>,
    pub allocations: Option<u64>,
    pub allocated_bytes: Option<u64>,
    pub written_bytes: Option<u64>,
    pub syncs: Option<u64>,
}

/// All operations with their counts.
pub struct Table {
    pub rows: Vec<(String, Counts)>,
}

/// How much dearer something may be than it was recorded, in hundredths: compilers and libraries differ a little.
const TOLERANCE_PERCENT: u64 = 6;

const HEADINGS: [&str; 5] =
    ["instructions", "allocations", "allocated bytes", "written bytes", "syncs of 100"];

impl Counts {
    fn columns(&self) -> [Option<u64>; 5] {
        [self.instructions, self.allocations, self.allocated_bytes, self.written_bytes, self.syncs]
    }

    fn from_columns(columns: &[Option<u64>]) -> Option<Counts> {
        let [instructions, allocations, allocated_bytes, written_bytes, syncs] = columns.try_into().ok()?;
        Some(Counts { instructions, allocations, allocated_bytes, written_bytes, syncs })
    }
}

impl Table {
    fn path() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("recorded.txt")
    }

    /// The recorded counts.
    pub fn read() -> Table {
        let text = std::fs::read_to_string(Table::path()).expect("recorded.txt; --record writes it");
        let rows = text.lines().skip(1).map(|line| {
            let mut words = line.split_whitespace();
            let operation = words.next().unwrap_or_default().to_owned();
            let columns: Vec<Option<u64>> = words.map(|word| word.parse().ok()).collect();
            (operation, Counts::from_columns(&columns).expect("five columns in each line of recorded.txt"))
        });
        Table { rows: rows.collect() }
    }

    /// Records these counts.
    pub fn write(&self) {
        std::fs::write(Table::path(), self.to_string()).expect("recorded.txt can be written");
        println!("{self}");
    }

    /// A line for everything that became dearer.
    pub fn dearer_than(&self, before: &Table) -> Vec<String> {
        let mut lines = Vec::new();
        for (operation, now) in &self.rows {
            let Some((_, before)) = before.rows.iter().find(|(known, _)| known == operation) else {
                lines.push(format!("{operation} is not recorded"));
                continue;
            };
            for (heading, (now, before)) in
                HEADINGS.iter().zip(now.columns().into_iter().zip(before.columns()))
            {
                // What either machine cannot count is not compared.
                let (Some(now), Some(before)) = (now, before) else { continue };
                if now > before + before * TOLERANCE_PERCENT / 100 {
                    lines.push(format!("{operation}: {heading} rose from {before} to {now}"));
                }
            }
        }
        lines
    }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:<14}", "operation")?;
        for heading in HEADINGS {
            write!(formatter, "{heading:>17}")?;
        }
        writeln!(formatter)?;
        for (operation, counts) in &self.rows {
            write!(formatter, "{operation:<14}")?;
            for count in counts.columns() {
                match count {
                    Some(count) => write!(formatter, "{count:>17}")?,
                    None => write!(formatter, "{:>17}", "-")?,
                }
            }
            writeln!(formatter)?;
        }
        Ok(())
    }
}
