//! Turns on the switches of the core's `sync` module by the package's name, so that plain
//! `cargo test` runs every build of the core without anyone setting `RUSTFLAGS`.

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
    // These packages declare none of the core's optional features.
    println!("cargo:rustc-check-cfg=cfg(feature, values(any()))");
    println!("cargo:rerun-if-env-changed=CARGO_PKG_NAME");
}
