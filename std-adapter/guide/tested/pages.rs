//! Makes a module of each page of the guide, so that its snippets are doctests; no page can be forgotten.
//!
//! Pages with the mark below need heavy dependencies: the package `cookbook` takes those, and
//! `nanobreaker-guide` all others.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Stands alone on a line of pages whose snippets need heavy dependencies.
const HEAVY: &str = "<!-- snippets: cookbook -->";

fn main() -> io::Result<()> {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let takes_heavy = env::var("CARGO_PKG_NAME").is_ok_and(|name| name == "nanobreaker-cookbook");
    let book = if takes_heavy { package.join("../src") } else { package.join("src") };
    println!("cargo::rerun-if-changed={}", book.display());

    let mut modules = String::new();
    for (number, page) in pages(&book)?.iter().enumerate() {
        if fs::read_to_string(page)?.contains(HEAVY) == takes_heavy {
            let name = page.file_stem().unwrap_or_default().to_string_lossy().replace('-', "_");
            let path = page.display();
            // The number tells apart pages of the same name in two folders.
            let _ = writeln!(
                modules,
                "#[doc = include_str!({path:?})]\nmod page_{number}_{name} {{}}",
                path = path.to_string()
            );
        }
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("pages.rs"), modules)
}

/// All pages below `folder`, in a fixed order.
fn pages(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(pages(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
