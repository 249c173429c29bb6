//! What judges the calls of a service: something that sees each request, and then its result.

use nanobreaker_core::Outcome;

use crate::call::{ByResult, CallExt, Classifier, Held};
use crate::identity::Identity;

/// Judges the calls of a service. Chosen with [`BreakerLayer`](super::BreakerLayer)'s methods;
/// implemented by this crate only.
pub trait Judge<Request>: sealed::Sealed {
    /// What judges one call.
    type Call;

    /// Looks at the request of a call that was admitted.
    #[doc(hidden)]
    fn begin(&self, request: &Request) -> Self::Call;
}

/// Judges one call. Implemented by this crate only.
pub trait JudgeCall<Response, Error>: sealed::Sealed {
    /// What the caller gets: the response, or one whose body is still being judged.
    type Judged<B: CallExt>;

    /// What the call comes to where it goes on for longer than it may.
    #[doc(hidden)]
    fn hangs<B: CallExt>(&self, _: &Held<B>) -> Outcome {
        Outcome::Failure
    }

    /// Takes the permit, and spends it according to the result or hands it to the response's body.
    #[doc(hidden)]
    fn end<B: CallExt>(
        self,
        held: &mut Option<Held<B>>,
        result: Result<Response, Error>,
    ) -> Result<Self::Judged<B>, Error>;
}

/// A judge in which one classifier can stand for another.
pub trait Reclassify: sealed::Sealed {
    /// The judge by `F`.
    type By<F>;

    /// The same judge by another classifier.
    #[doc(hidden)]
    fn by<F>(self, classifier: F) -> Self::By<F>;
}

pub(super) mod sealed {
    pub trait Sealed {}
}

/// Judges each call by what a [`Classifier`] makes of its result, as the call's future resolves.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByClassifier<K = ByResult>(pub(super) K);

impl<K> sealed::Sealed for ByClassifier<K> {}

impl<K> Reclassify for ByClassifier<K> {
    type By<F> = ByClassifier<F>;

    fn by<F>(self, classifier: F) -> ByClassifier<F> {
        ByClassifier(classifier)
    }
}

impl<K: Clone, Request> Judge<Request> for ByClassifier<K> {
    type Call = Self;

    #[inline]
    fn begin(&self, _: &Request) -> Self {
        self.clone()
    }
}

impl<K: Classifier<Response, Error>, Response, Error> JudgeCall<Response, Error> for ByClassifier<K> {
    type Judged<B: CallExt> = Response;

    #[inline]
    fn end<B: CallExt>(
        self,
        held: &mut Option<Held<B>>,
        result: Result<Response, Error>,
    ) -> Result<Response, Error> {
        let (outcome, result) = self.0.judge(|| identity(held), result);
        if let Some(under_way) = held {
            // In place: it would have to be moved to be taken out.
            under_way.spend(outcome);
        }
        *held = None;
        result
    }
}

/// That of the breaker whose call this is.
#[inline]
pub(super) fn identity<B: CallExt>(held: &Option<Held<B>>) -> Option<&'static Identity> {
    held.as_ref().and_then(|held| Identity::of(held.breaker()))
}

/// Judges by another judge, but for errors that are no calls of the dependency's; made by
/// [`BreakerLayer::refusals`](super::BreakerLayer::refusals).
#[derive(Clone, Copy, Debug)]
pub struct WithRefusals<J, F> {
    judge: J,
    refusals: F,
}

impl<J, F> WithRefusals<J, F> {
    pub(super) const fn new(judge: J, refusals: F) -> Self {
        Self { judge, refusals }
    }
}

impl<J, F> sealed::Sealed for WithRefusals<J, F> {}

impl<J: Judge<Request>, F: Clone, Request> Judge<Request> for WithRefusals<J, F> {
    type Call = WithRefusals<J::Call, F>;

    fn begin(&self, request: &Request) -> Self::Call {
        WithRefusals::new(self.judge.begin(request), self.refusals.clone())
    }
}

impl<J, F, Response, Error> JudgeCall<Response, Error> for WithRefusals<J, F>
where
    J: JudgeCall<Response, Error>,
    F: Fn(&Error) -> bool,
{
    type Judged<B: CallExt> = J::Judged<B>;

    fn hangs<B: CallExt>(&self, held: &Held<B>) -> Outcome {
        self.judge.hangs(held)
    }

    fn end<B: CallExt>(
        self,
        held: &mut Option<Held<B>>,
        result: Result<Response, Error>,
    ) -> Result<Self::Judged<B>, Error> {
        if let (Err(error), Some(under_way)) = (&result, held.as_mut())
            && (self.refusals)(error)
        {
            under_way.ignore();
        }
        self.judge.end(held, result)
    }
}
