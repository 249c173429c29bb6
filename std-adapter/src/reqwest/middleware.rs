//! The middleware: finds the request's breaker, asks it, and tells it how the request ended.

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use http::Extensions;
use reqwest::{Request, Response};
use reqwest_middleware::{Error, Middleware, Next, Result};
use url::{Position, Url};

use nanobreaker_core::{ConfigError, Outcome, Phase};
use nanobreaker_settings::millis;

#[cfg(feature = "settings")]
use super::judge::by_statuses;
use super::judge::by_table;
use super::rejection::refused;
use crate::asked::retry_after;
use crate::call::{CallExt, Classifier, Handle};
use crate::counted::Counted;
use crate::error::CallError;
use crate::host::normal;
use crate::registry::Registry;
use crate::shared::{BreakerRef, PinnedBreaker, SharedBreaker, SharedBreakerBuilder};

type Classify = dyn Fn(&Result<Response>) -> Outcome + Send + Sync;

/// Guards the requests of a reqwest client, each host by a breaker of its own; see the
/// [module](crate::reqwest) for what counts as a failure.
///
/// A clone is the same middleware: keep one to look at the breakers. A request costs a look-up
/// without a lock, beside what its breaker takes. **Dropping** a request's future gives a probe's place
/// back and counts as no outcome.
///
/// A rejected request fails with [`Error::Middleware`]: [`rejection`](super::rejection) finds it there.
pub struct BreakerMiddleware {
    breakers: Arc<Breakers>,
    classify: Arc<Classify>,
    heeds_retry_after: bool,
}

#[derive(Debug)]
enum Breakers {
    PerHost(Registry<String>),
    Single(SharedBreaker),
}

impl Breakers {
    fn of(&self, url: &Url) -> std::result::Result<PinnedBreaker, ConfigError> {
        match self {
            Self::PerHost(hosts) => hosts.get_or_create(&*host(url)).map(|breaker| breaker.hold()),
            Self::Single(breaker) => Ok(breaker.hold()),
        }
    }
}

/// The host, with the port where it is not the scheme's own. The URL's parser has put it in lower case and
/// left out a port that goes without saying.
fn host(url: &Url) -> Cow<'_, str> {
    normal(&url[Position::BeforeHost..Position::AfterPort])
}

impl BreakerMiddleware {
    /// A breaker for each host, made as `configure` says on the first request to it, in a
    /// [`Registry`] with its usual limits: at most 10,000 hosts, each removed when no request went to
    /// it for an hour.
    ///
    /// The host is as in the URL, with the port where that is not the scheme's own: `example.com`,
    /// `127.0.0.1:8080`, `[::1]:8080`.
    ///
    /// Where the settings are outside their limits, requests to that host fail with a
    /// [`ConfigError`].
    pub fn per_host(configure: impl Fn(&str) -> SharedBreakerBuilder + Send + Sync + 'static) -> Self {
        let hosts = Registry::builder(move |host: &String| configure(host));
        Self::with_registry(hosts.build())
    }

    /// The same with a registry of your own: with other limits, watched by a monitor, or whose
    /// settings change while requests go on ([`Registry::adjust_all`]). Its keys are hosts.
    pub fn with_registry(hosts: Registry<String>) -> Self {
        Self::new(Breakers::PerHost(hosts))
    }

    /// One breaker for all requests: for a client that talks to one service, under whatever names.
    pub fn single(breaker: SharedBreaker) -> Self {
        Self::new(Breakers::Single(breaker))
    }

    fn new(breakers: Breakers) -> Self {
        Self { breakers: Arc::new(breakers), classify: Arc::new(by_table), heeds_retry_after: true }
    }

    /// Judges each request by what `classifier` makes of its result. `Retry-After` is heeded as
    /// before, unless the classifier [ignores](Outcome::Ignored) the response.
    pub fn classify(
        mut self,
        classifier: impl Fn(&Result<Response>) -> Outcome + Send + Sync + 'static,
    ) -> Self {
        self.classify = Arc::new(classifier);
        self
    }

    /// Leaves `Retry-After` to others.
    pub const fn ignore_retry_after(mut self) -> Self {
        self.heeds_retry_after = false;
        self
    }

    /// Judges each request by the statuses that the settings of a file name. Where they name no failures
    /// of HTTP, the [module's](crate::reqwest) table holds for all but the ignored ones.
    ///
    /// ```
    /// use nanobreaker::{PartialSettings, SharedBreaker, reqwest::BreakerMiddleware};
    ///
    /// let file: PartialSettings = toml::from_str("failure_status = ['5xx', 429]\nignore_status = [404]")?;
    /// let breaker = SharedBreaker::builder().settings(&file)?.build()?;
    /// let breakers = BreakerMiddleware::single(breaker).statuses(file.statuses());
    /// # drop(breakers);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "settings")]
    pub fn statuses(self, statuses: nanobreaker_settings::Statuses) -> Self {
        self.classify(move |result| by_statuses(&statuses, result))
    }

    /// The breaker of a host that requests were made to, in upper or lower case, with its port where that is not
    /// the scheme's own; the one breaker, if there is but one. Names with other letters than ASCII's may be written
    /// with them.
    pub fn breaker(&self, written: &str) -> Option<BreakerRef> {
        match &*self.breakers {
            Breakers::PerHost(hosts) => hosts.get(&*normal(written)).or_else(|| {
                // As the URL's parser writes it.
                let url = Url::parse(&format!("http://{written}")).ok()?;
                hosts.get(&*host(&url))
            }),
            Breakers::Single(breaker) => Some(breaker.reference()),
        }
    }

    /// The hosts that requests were made to with their breakers, in no order; none if there is but
    /// one breaker.
    pub fn hosts(&self) -> Vec<(String, SharedBreaker)> {
        let mut all = Vec::new();
        if let Breakers::PerHost(hosts) = &*self.breakers {
            hosts.for_each(|host, breaker| all.push((host.clone(), breaker.clone())));
        }
        all
    }
}

impl Clone for BreakerMiddleware {
    fn clone(&self) -> Self {
        Self {
            breakers: Arc::clone(&self.breakers),
            classify: Arc::clone(&self.classify),
            heeds_retry_after: self.heeds_retry_after,
        }
    }
}

impl fmt::Debug for BreakerMiddleware {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BreakerMiddleware").finish_non_exhaustive()
    }
}

/// An answer, whatever it is, and how it was judged.
struct Answer {
    result: Result<Response>,
    outcome: Outcome,
}

/// Counts the attempts of one request: a failure in a window that has one of the same request is ignored; a probe's is
/// not, since its round waits for it.
struct Attempt {
    breaker: PinnedBreaker,
    counted: Counted,
}

impl Attempt {
    fn count(&self, outcome: Outcome) -> Outcome {
        self.counted.outcome(outcome, || {
            let snapshot = self.breaker.snapshot();
            let address = std::ptr::from_ref(&*self.breaker).addr();
            (snapshot.phase != Phase::HalfOpen).then_some((address, snapshot.generation))
        })
    }
}

impl Classifier<Answer, Infallible> for Attempt {
    fn classify(&self, answer: &std::result::Result<Answer, Infallible>) -> Outcome {
        match answer {
            Ok(answer) => self.count(answer.outcome),
            Err(never) => match *never {},
        }
    }

    fn hangs(&self) -> Outcome {
        self.count(Outcome::Failure)
    }
}

#[async_trait::async_trait]
impl Middleware for BreakerMiddleware {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        let breaker = self.breakers.of(request.url()).map_err(Error::middleware)?;
        let attempt = Attempt { breaker, counted: extensions.get_or_insert_default::<Counted>().clone() };
        let call = async {
            let result = next.run(request, extensions).await;
            let outcome = (self.classify)(&result);
            Ok(Answer { result, outcome })
        };
        let answer = breaker.calls().judged_by(attempt).call_async(call).await;
        let Answer { result, outcome } = match answer {
            Ok(answer) => answer,
            Err(CallError::Failed(never)) => match never {},
            Err(why) => return Err(refused(why)),
        };
        // After the outcome was recorded, which may have opened the breaker for longer.
        if self.heeds_retry_after
            && outcome != Outcome::Ignored
            && let Ok(response) = &result
            && let Some(wait) = retry_after(response.status(), response.headers())
        {
            breaker.trip_for_ms(millis(wait));
        }
        result
    }
}
