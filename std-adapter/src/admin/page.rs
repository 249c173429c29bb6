//! The page: one document, no other assets.
//!
//! The server puts nothing into it, so there is nothing to escape here; its script shows what it
//! fetches as text, never as markup. A policy forbids any script but that one.

use std::hash::{BuildHasher, RandomState};

use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY};
use axum::http::header::{X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS};
use axum::response::{Html, IntoResponse};

const PAGE: &str = include_str!("page.html");

pub(super) async fn page() -> impl IntoResponse {
    // Seeded by the operating system; only has to differ from answer to answer.
    let random = RandomState::new();
    let nonce = format!("{:016x}{:016x}", random.hash_one(0), random.hash_one(1));
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let headers = [
        (CONTENT_SECURITY_POLICY, policy),
        (CACHE_CONTROL, "no-store".to_owned()),
        (REFERRER_POLICY, "no-referrer".to_owned()),
        (X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (X_FRAME_OPTIONS, "DENY".to_owned()),
    ];
    (headers, Html(PAGE.replace("NONCE", &nonce)))
}
