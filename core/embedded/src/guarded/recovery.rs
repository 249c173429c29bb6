//! What a device needs before it is asked again.

/// Repairs a device after a probe was granted and before it is asked.
///
/// The probe's lease already runs. A recovery must not wait for another probe of the same breaker.
pub trait Recover<T, E> {
    /// Repairs `device`.
    ///
    /// # Errors
    ///
    /// When that failed: the device is not asked, and the guard's policy judges the error as if the
    /// device had answered it.
    fn recover(&mut self, device: &mut T) -> Result<(), E>;
}

/// The same for async calls: a recovery may wait, for instance for a supply to settle.
///
/// Recovery and call together must fit into the probe's lease
/// ([`probe_lease_ms`](nanobreaker_core::ConfigBuilder::probe_lease_ms)).
pub trait RecoverAsync<T, E> {
    /// Repairs `device`.
    ///
    /// # Errors
    ///
    /// When that failed: the device is not asked, and the guard's policy judges the error as if the
    /// device had answered it.
    fn recover(&mut self, device: &mut T) -> impl Future<Output = Result<(), E>>;
}

/// The device needs nothing: the default.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRecovery;

impl<T, E> Recover<T, E> for NoRecovery {
    #[inline]
    fn recover(&mut self, _: &mut T) -> Result<(), E> {
        Ok(())
    }
}

impl<T, E> RecoverAsync<T, E> for NoRecovery {
    #[inline]
    async fn recover(&mut self, _: &mut T) -> Result<(), E> {
        Ok(())
    }
}

/// A function that repairs the device without waiting; of [`Guarded::recover_first`].
///
/// [`Guarded::recover_first`]: super::Guarded::recover_first
#[derive(Clone, Copy, Debug)]
pub struct Hook<F>(pub(super) F);

impl<T, E, F: FnMut(&mut T) -> Result<(), E>> Recover<T, E> for Hook<F> {
    #[inline]
    fn recover(&mut self, device: &mut T) -> Result<(), E> {
        (self.0)(device)
    }
}

impl<T, E, F: FnMut(&mut T) -> Result<(), E>> RecoverAsync<T, E> for Hook<F> {
    #[inline]
    async fn recover(&mut self, device: &mut T) -> Result<(), E> {
        (self.0)(device)
    }
}

/// An async function that repairs the device; of [`Guarded::recover_first_async`].
///
/// [`Guarded::recover_first_async`]: super::Guarded::recover_first_async
#[derive(Clone, Copy, Debug)]
pub struct AsyncHook<F>(pub(super) F);

impl<T, E, F: AsyncFnMut(&mut T) -> Result<(), E>> RecoverAsync<T, E> for AsyncHook<F> {
    #[inline]
    async fn recover(&mut self, device: &mut T) -> Result<(), E> {
        (self.0)(device).await
    }
}
