//! Measures the engine beside its peer (dynoxide, embedded) and beside its own storage engine, in one run. The machine is shared
//! and noisy, so only ratios within a run mean anything.
//!
//! `cargo run --release -- memory` compares in memory, `-- disk` on disk, `-- shape` shows how costs grow; `./compare` installs peers and
//! compares over HTTP. `layer-instructions` counts what a design costs beside the same requests written by hand.

mod compare;
mod disk;
mod item;
mod layer;
mod load;
mod memory;
mod nothing;
mod profile;
mod shape;
mod table;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let what = std::env::args().nth(1).unwrap_or_default();
    let scale: usize = std::env::args().nth(2).and_then(|text| text.parse().ok()).unwrap_or(0);
    match what.as_str() {
        "memory" => memory::run(if scale == 0 { 50_000 } else { scale }),
        "disk" => disk::run(if scale == 0 { 1_000_000 } else { scale }),
        "compare" => {
            let names = std::env::args().nth(3).unwrap_or_default();
            let names: Vec<&str> = names.split(',').filter(|name| !name.is_empty()).collect();
            compare::run(if scale == 0 { 4 } else { scale as u64 }, &names);
        }
        "load" => {
            let argument = |place| std::env::args().nth(place).unwrap_or_default();
            let number = |place, default| argument(place).parse().unwrap_or(default);
            compare::load_one(&argument(2), &argument(3), number(4, 32), number(5, 2) as u64);
        }
        "nothing" => nothing::serve(u16::try_from(scale).expect("a port")),
        "shape" => shape::run(),
        "layer" => layer::run(&std::env::args().nth(3).unwrap_or_default(), scale),
        "layer-times" => layer::times(if scale == 0 { 10 } else { scale }),
        "layer-times-client" => layer::times_client(&std::env::args().skip(2).collect::<Vec<_>>()),
        "layer-client" => layer::client(&std::env::args().skip(2).collect::<Vec<_>>()),
        "profile" => profile::run(&std::env::args().nth(3).unwrap_or_default(), scale),
        _ => {
            eprintln!(
                "usage: cargo run --release -- memory|disk|shape [ITEMS] | compare [SECONDS [NAME,NAME]] | profile COUNT get|put|query|replace|transact | \
                 load ADDRESS:PORT [WORKLOAD [CONNECTIONS [SECONDS]]] | nothing PORT | layer COUNT KIND | layer-times [SECONDS]"
            );
            std::process::exit(2);
        }
    }
}
