//! Turns on the switches of the core's `sync` module by the package's name, so that plain
//! `cargo test` runs every build of the core without anyone setting `RUSTFLAGS`.

/// Features of the core that these packages don't declare.
const OTHER_FEATURES: &str =
    r#"values("defmt", "embassy-time", "embedded-time", "fugit", "serde")"#;

fn main() {
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    if !package.ends_with("-units") {
        println!("cargo:rustc-cfg=loom");
    }
    if package.contains("-narrow") {
        println!("cargo:rustc-cfg=nanobreaker_narrow");
    }
    if package.ends_with("-rmw") {
        println!("cargo:rustc-cfg=loom_first_read_writes");
    }
    println!("cargo:rustc-check-cfg=cfg(feature, {OTHER_FEATURES})");
    println!("cargo:rerun-if-env-changed=CARGO_PKG_NAME");
}
