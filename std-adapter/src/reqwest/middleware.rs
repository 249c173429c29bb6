//! The middleware: finds the request's breaker, asks it, and tells it how the request ended.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use http::Extensions;
use reqwest::{Request, Response};
use reqwest_middleware::{Error, Middleware, Next, Result};
use url::{Position, Url};

use nanobreaker_core::{Clock, ConfigError, Outcome, Phase, Rejected};

use super::judge::{by_table, retry_after};
use crate::call::CallExt;
use crate::clock::CoarseClock;
use crate::error::CallError;
use crate::registry::Registry;
use crate::shared::{SharedBreaker, SharedBreakerBuilder, millis};

type Classify = dyn Fn(&Result<Response>) -> Outcome + Send + Sync;

/// Guards the requests of a reqwest client, each host by a breaker of its own; see the
/// [module](crate::reqwest) for what counts as a failure.
///
/// A clone is the same middleware: keep one to look at the breakers. A request costs a look-up
/// without a lock, beside what its breaker takes. **Dropping** a request's future gives a probe's place
/// back and counts as no outcome.
///
/// A rejected request fails with [`Error::Middleware`]: [`rejection`] finds it there.
pub struct BreakerMiddleware<C: Clock = CoarseClock> {
    breakers: Arc<Breakers<C>>,
    classify: Arc<Classify>,
}

#[derive(Debug)]
enum Breakers<C: Clock> {
    PerHost(Registry<String, C>),
    Single(SharedBreaker<C>),
}

impl<C: Clock> Breakers<C> {
    fn of(&self, url: &Url) -> std::result::Result<SharedBreaker<C>, ConfigError> {
        match self {
            Self::PerHost(hosts) => hosts.get(host(url)),
            Self::Single(breaker) => Ok(breaker.clone()),
        }
    }
}

/// The host, with the port where it is not the scheme's own.
fn host(url: &Url) -> &str {
    &url[Position::BeforeHost..Position::AfterPort]
}

impl<C: Clock> BreakerMiddleware<C> {
    /// A breaker for each host, made as `configure` says on the first request to it, in a
    /// [`Registry`] with its usual limits: at most 10,000 hosts, each removed when no request went to
    /// it for an hour.
    ///
    /// The host is as in the URL, with the port where that is not the scheme's own: `example.com`,
    /// `127.0.0.1:8080`, `[::1]:8080`.
    ///
    /// Where the settings are outside their limits, requests to that host fail with a
    /// [`ConfigError`].
    pub fn per_host(
        configure: impl Fn(&str) -> SharedBreakerBuilder<C> + Send + Sync + 'static,
    ) -> Self {
        let hosts = Registry::builder(move |host: &String| configure(host));
        Self::with_registry(hosts.build())
    }

    /// The same with a registry of your own: with other limits, watched by a monitor, or whose
    /// settings change while requests go on ([`Registry::adjust_all`]). Its keys are hosts.
    pub fn with_registry(hosts: Registry<String, C>) -> Self {
        Self::new(Breakers::PerHost(hosts))
    }

    /// One breaker for all requests: for a client that talks to one service, under whatever names.
    pub fn single(breaker: SharedBreaker<C>) -> Self {
        Self::new(Breakers::Single(breaker))
    }

    fn new(breakers: Breakers<C>) -> Self {
        Self {
            breakers: Arc::new(breakers),
            classify: Arc::new(by_table),
        }
    }

    /// Judges each request by what `classifier` makes of its result. `Retry-After` is heeded as
    /// before.
    pub fn classify(
        mut self,
        classifier: impl Fn(&Result<Response>) -> Outcome + Send + Sync + 'static,
    ) -> Self {
        self.classify = Arc::new(classifier);
        self
    }

    /// The breaker of a host that requests were made to; the one breaker, if there is but one.
    pub fn breaker(&self, host: &str) -> Option<SharedBreaker<C>> {
        match &*self.breakers {
            Breakers::PerHost(hosts) => hosts.find(host),
            Breakers::Single(breaker) => Some(breaker.clone()),
        }
    }

    /// The hosts that requests were made to with their breakers, in no order; none if there is but
    /// one breaker.
    pub fn hosts(&self) -> Vec<(String, SharedBreaker<C>)> {
        let mut all = Vec::new();
        if let Breakers::PerHost(hosts) = &*self.breakers {
            hosts.for_each(|host, breaker| all.push((host.clone(), breaker.clone())));
        }
        all
    }
}

impl<C: Clock> Clone for BreakerMiddleware<C> {
    fn clone(&self) -> Self {
        Self {
            breakers: Arc::clone(&self.breakers),
            classify: Arc::clone(&self.classify),
        }
    }
}

impl<C: Clock> fmt::Debug for BreakerMiddleware<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BreakerMiddleware").finish_non_exhaustive()
    }
}

/// In a request's extensions, which all its attempts share: its failure counts already.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Counted {
    /// The breaker's address, which stands for its identity while the request holds it.
    breaker: usize,
    generation: u16,
}

/// An answer, whatever it is, and how it was judged.
struct Answer {
    result: Result<Response>,
    outcome: Outcome,
}

impl<C: Clock> BreakerMiddleware<C> {
    /// Judges an attempt. A failure in a window that has one of the same request is ignored; a probe's
    /// is not, since its round waits for it.
    fn judge(
        &self,
        breaker: &SharedBreaker<C>,
        result: &Result<Response>,
        extensions: &mut Extensions,
    ) -> Outcome {
        let outcome = (self.classify)(result);
        if outcome != Outcome::Failure {
            return outcome;
        }
        let snapshot = breaker.snapshot();
        if snapshot.phase == Phase::HalfOpen {
            return outcome;
        }
        let counted = Counted {
            breaker: std::ptr::from_ref(&**breaker).addr(),
            generation: snapshot.generation,
        };
        match extensions.insert(counted) {
            Some(before) if before == counted => Outcome::Ignored,
            _ => Outcome::Failure,
        }
    }
}

#[async_trait::async_trait]
impl<C: Clock + Send + Sync + 'static> Middleware for BreakerMiddleware<C> {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        let breaker = self.breakers.of(request.url()).map_err(Error::middleware)?;
        let call = async {
            let result = next.run(request, extensions).await;
            let outcome = self.judge(&breaker, &result, extensions);
            Ok(Answer { result, outcome })
        };
        let caller = breaker.calls().classify(|answer| match answer {
            Ok(Answer { outcome, .. }) => *outcome,
            Err(never) => match *never {},
        });
        let result = match caller.call_async::<_, Infallible, _>(call).await {
            Ok(answer) => answer.result,
            Err(CallError::Failed(never)) => match never {},
            Err(CallError::Rejected(rejected)) => return Err(refused(rejected)),
        };
        // After the outcome was recorded, which may have opened the breaker for longer.
        if let Some(wait) = result.as_ref().ok().and_then(retry_after) {
            breaker.trip_for_ms(millis(wait));
        }
        result
    }
}

/// As a `CallError`, whose source is the rejection: some middleware keeps only the sources of errors
/// that it wraps.
fn refused(rejected: Rejected) -> Error {
    Error::middleware(CallError::<Infallible>::Rejected(rejected))
}

/// Why the request was not made, if a breaker rejected it; also where other middleware wrapped that
/// error.
///
/// ```
/// # async fn get(client: reqwest_middleware::ClientWithMiddleware) {
/// use nanobreaker::reqwest::rejection;
///
/// match client.get("http://127.0.0.1/rates").send().await {
///     Ok(response) => println!("{}", response.status()),
///     Err(error) => match rejection(&error) {
///         Some(rejected) => println!("again in {:?}", rejected.retry_after()),
///         None => println!("{error:#}"),
///     },
/// }
/// # }
/// ```
pub fn rejection(error: &Error) -> Option<&Rejected> {
    match error {
        Error::Middleware(wrapped) => wrapped.chain().find_map(|source| source.downcast_ref()),
        Error::Reqwest(_) => None,
    }
}
