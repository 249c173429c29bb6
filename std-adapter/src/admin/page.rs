//! The page: one document, no other assets.
//!
//! The server puts nothing into it that a breaker says, so there is nothing to escape here; its script shows
//! what it fetches as text, never as markup. A policy forbids any script but that one, and any way to make
//! markup of text.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::{Html, IntoResponse};

static PAGE: LazyLock<String> = LazyLock::new(|| {
    let script = concat!(include_str!("page/cards.js"), "\n", include_str!("page/main.js"));
    let page = include_str!("page/page.html").replace("STYLE", include_str!("page/style.css"));
    page.replace("SCRIPT", script)
});

pub(super) async fn page() -> impl IntoResponse {
    // Seeded by the operating system; only has to differ from answer to answer.
    let random = RandomState::new();
    let nonce = format!("{:016x}{:016x}", random.hash_one(0), random.hash_one(1));
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src data:; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'"
    );
    ([(CONTENT_SECURITY_POLICY, policy)], Html(PAGE.replace("NONCE", &nonce)))
}
