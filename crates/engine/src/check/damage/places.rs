//! Where files can be damaged, by what stands there, and what damage makes of them.
//!
//! A table of the storage crate is an archive of named sections, listed at its end; the end of the file tells where that list is:
//! `SFA!`, version, kind of checksum, checksum (16 bytes), position and length of the list (8 bytes each). The list begins with `TOC!`
//! and a count (4 bytes), and has for each section its position, its length and, after two bytes for its length, its name.

use std::fmt;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

const PAGE_BYTES: usize = 4096;
const TRAILER_BYTES: usize = 4 + 1 + 1 + 16 + 8 + 8;

/// What is neither of a table, nor a manifest, nor a journal.
pub(super) const OTHER: &str = "small files";

/// Tables in which the storage crate keeps the names and settings of keyspaces. It reads them when it opens a database.
pub(super) const KEYSPACES: &str = "list of keyspaces";

/// Where these tables lie.
const KEYSPACES_FOLDER: &str = "keyspaces/0/tables";

/// The kinds of places, each damaged equally often.
pub(super) const KINDS: [&str; 9] = [
    "data blocks",
    "index blocks",
    "filter blocks",
    "metadata of tables",
    "lists of sections",
    "manifests",
    "journals",
    KEYSPACES,
    OTHER,
];

/// A range of a file and what stands there.
struct Place {
    file: usize,
    kind: &'static str,
    range: Range<usize>,
}

/// The files of a database.
pub(super) struct Files {
    files: Vec<(PathBuf, Vec<u8>)>,
    places: Vec<Place>,
}

/// What is done to one file.
pub(super) struct Damage {
    pub(super) kind: &'static str,
    file: PathBuf,
    what: &'static str,
    place: usize,
    bytes: Vec<u8>,
}

impl fmt::Display for Damage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Damage { kind, file, what, place, .. } = self;
        write!(formatter, "{what} at {place} in {} ({kind})", file.display())
    }
}

impl Files {
    pub(super) fn read(root: &Path) -> Files {
        let read = |file: PathBuf| {
            let bytes = fs::read(root.join(&file)).unwrap();
            (file, bytes)
        };
        let files: Vec<_> = super::list(root, root).into_iter().map(read).collect();
        let places = files.iter().enumerate().flat_map(|(number, (path, bytes))| places(number, path, bytes));
        let places = places.filter(|place| !place.range.is_empty()).collect();
        Files { files, places }
    }

    pub(super) fn bytes(&self) -> usize {
        self.files.iter().map(|(_, bytes)| bytes.len()).sum()
    }

    pub(super) fn count(&self) -> usize {
        self.files.len()
    }

    /// Chooses a damage.
    pub(super) fn damage(&self, random: &mut Random) -> Damage {
        let kind = KINDS[random.below(KINDS.len())];
        let places: Vec<_> = self.places.iter().filter(|place| place.kind == kind).collect();
        assert!(!places.is_empty(), "there are no {kind}");
        let Place { file, range, .. } = places[random.below(places.len())];
        let (path, bytes) = &self.files[*file];
        let mut bytes = bytes.clone();
        let place = range.start + random.below(range.len());
        let what = match random.below(4) {
            0 => {
                bytes.truncate(place);
                "cut off"
            }
            1 => zero_page(&mut bytes, place),
            _ => flip(&mut bytes, place, random),
        };
        // A page of zeros that was one already is no damage.
        if bytes == self.files[*file].1 {
            flip(&mut bytes, place, random);
        }
        Damage { kind, file: path.clone(), what, place, bytes }
    }

    /// Writes all files, one of them damaged.
    pub(super) fn write(&self, root: &Path, damage: &Damage) {
        for (file, bytes) in &self.files {
            let bytes = if *file == damage.file { &damage.bytes } else { bytes };
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), bytes).unwrap();
        }
    }

    /// Writes all files as they are.
    pub(super) fn write_whole(&self, root: &Path) {
        for (file, bytes) in &self.files {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), bytes).unwrap();
        }
    }
}

fn zero_page(bytes: &mut [u8], place: usize) -> &'static str {
    let begin = place / PAGE_BYTES * PAGE_BYTES;
    let end = (begin + PAGE_BYTES).min(bytes.len());
    bytes[begin..end].fill(0);
    "a page of zeros"
}

fn flip(bytes: &mut [u8], place: usize, random: &mut Random) -> &'static str {
    bytes[place] ^= 1 << random.below(8);
    "a flipped bit"
}

fn places(file: usize, path: &Path, bytes: &[u8]) -> Vec<Place> {
    let name = path.file_name().unwrap().to_str().unwrap();
    let parent = path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
    let is_list = path.parent().is_some_and(|folder| folder.ends_with(KEYSPACES_FOLDER));
    let kind = match name {
        _ if is_list => KEYSPACES,
        _ if parent == "tables" => return sections(file, bytes),
        _ if path.extension().is_some_and(|extension| extension == "jnl") => "journals",
        "current" => "manifests",
        _ if name.strip_prefix('v').is_some_and(|rest| rest.parse::<u64>().is_ok()) => "manifests",
        _ => OTHER,
    };
    vec![Place { file, kind, range: 0..bytes.len() }]
}

/// The sections of a table.
fn sections(file: usize, bytes: &[u8]) -> Vec<Place> {
    let number = |place: usize| {
        usize::try_from(u64::from_le_bytes(bytes[place..place + 8].try_into().unwrap())).unwrap()
    };
    let trailer = bytes.len() - TRAILER_BYTES;
    assert_eq!(&bytes[trailer..trailer + 4], b"SFA!");
    let list = number(trailer + 22);
    let mut places = vec![Place { file, kind: "lists of sections", range: list..bytes.len() }];
    let mut place = list + 8;
    while place < trailer {
        let (position, length) = (number(place), number(place + 8));
        let name_bytes = usize::from(u16::from_le_bytes([bytes[place + 16], bytes[place + 17]]));
        let kind = match &bytes[place + 18..place + 18 + name_bytes] {
            b"data" => "data blocks",
            b"index" | b"tli" => "index blocks",
            b"filter" | b"filter_tli" => "filter blocks",
            _ => "metadata of tables",
        };
        places.push(Place { file, kind, range: position..position + length });
        place += 18 + name_bytes;
    }
    places
}

/// Random numbers that a seed repeats.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }
}
