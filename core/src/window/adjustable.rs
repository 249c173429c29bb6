//! A window whose rule, and whose breaker's configuration, can be replaced while calls go on.

use crate::clock::Clock;
use crate::config::{Config, ConfigCell};
use crate::outcome::Outcome;
use crate::sync::{Setting, const_unless_loom};
use crate::window::call::Call;
use crate::window::judge::{Judge, Verdict};
use crate::window::slow::WithSlow;

/// A window that can take over another one's rule.
pub(crate) trait Adopt: Judge {
    /// Takes over the rule of `like`, keeps the calls that it holds as far as the new rule has a use
    /// for them, and judges these. Only one thread at a time may do so.
    fn adopt<C: Clock>(&self, like: &Self, call: &Call<'_, C>) -> Verdict;
}

/// A window whose rule can be replaced, see [`Breaker::adjust`](crate::Breaker::adjust).
/// Implemented by [`AnyWindow`](super::AnyWindow) and by [`WithSlow`] of two such windows.
#[allow(private_bounds, reason = "sealed, as Window is")]
pub trait Replaceable: Adopt {}

#[allow(private_bounds, reason = "sealed, as Window is")]
impl<W: Adopt> Replaceable for W {}

/// Makes a breaker whose settings can be replaced while calls go on: see
/// [`Breaker::adjust`](crate::Breaker::adjust).
///
/// Costs nothing while closed. Whatever reads the configuration (a rejection, a probe, a transition)
/// takes six loads more. Other breakers pay nothing for this ability.
#[derive(Debug)]
pub struct Adjustable<W> {
    window: W,
    config: ConfigCell,
    /// 1 while somebody adjusts.
    busy: Setting,
}

impl<W> Adjustable<W> {
    const_unless_loom! {
        /// `window`, adjustable.
        pub const fn new(window: W) -> Self {
            Self {
                window,
                config: ConfigCell::empty(),
                busy: Setting::new(0),
            }
        }
    }
}

#[allow(private_bounds, reason = "sealed, as Window is")]
impl<W: Adopt> Adjustable<W> {
    /// Whether nobody else adjusts; from here on nobody else does until [`leave`](Self::leave).
    pub(crate) fn enter(&self) -> bool {
        self.busy.take()
    }

    pub(crate) fn leave(&self) {
        self.busy.store(0);
    }

    pub(crate) fn configure(&self, config: &Config) {
        self.config.store(config);
    }

    pub(crate) fn adopt<C: Clock>(&self, like: &W, call: &Call<'_, C>) -> Verdict {
        self.window.adopt(like, call)
    }
}

impl<W: Judge> Judge for Adjustable<W> {
    #[inline]
    fn count<C: Clock>(&self, bad: bool, call: &Call<'_, C>) -> Verdict {
        self.window.count(bad, call)
    }

    #[inline]
    fn judge<C: Clock>(&self, outcome: Outcome, call: &Call<'_, C>) -> Verdict {
        self.window.judge(outcome, call)
    }

    #[inline]
    fn config(&self) -> Option<Config> {
        self.config.load()
    }

    fn sweep<C>(&self, call: &Call<'_, C>) {
        self.window.sweep(call);
    }
}

impl<F: Adopt, S: Adopt> Adopt for WithSlow<F, S> {
    fn adopt<C: Clock>(&self, like: &Self, call: &Call<'_, C>) -> Verdict {
        let (failed, slow) = self.windows();
        let (like_failed, like_slow) = like.windows();
        failed
            .adopt(like_failed, call)
            .and(slow.adopt(like_slow, call))
    }
}
