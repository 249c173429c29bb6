//! Turns on the switches of the core's `sync` module by the package's name, so that plain
//! `cargo test` runs every build of the core without anyone setting `RUSTFLAGS`.

fn main() {
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let parts: Vec<&str> = package.split('-').collect();
    let switches = [
        ("nanobreaker_loom", !parts.iter().any(|part| ["units", "optimized"].contains(part))),
        ("nanobreaker_narrow", parts.contains(&"narrow")),
        ("nanobreaker_first_read_writes", parts.contains(&"rmw")),
        ("nanobreaker_weak_fails", parts.contains(&"weak")),
    ];
    for (switch, _) in switches.iter().filter(|(_, is_on)| *is_on) {
        println!("cargo:rustc-cfg={switch}");
    }
    // These packages declare none of the core's optional features.
    println!("cargo:rustc-check-cfg=cfg(feature, values(any()))");
    println!("cargo:rerun-if-env-changed=CARGO_PKG_NAME");
}
