//! Keeps what breakers know over restarts, in a file.
//!
//! One thread writes it, at most once a second, and only where something changed: to a temporary file beside
//! it, then fsync, then rename. So whenever the process is killed there is a whole file, at most a second and
//! an fsync old. No calling thread ever waits for it.

mod format;
mod keeper;

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use fs4::{FileExt, TryLockError};
use nanobreaker_core::Clock;
use thiserror::Error;

use crate::clock::WallClock;
use crate::shared::SharedBreaker;
use format::Line;
use keeper::{Keeper, Source};

/// Between two writes.
const PAUSE: Duration = Duration::from_secs(1);

/// A file that keeps the states of breakers over restarts; cheap to clone.
///
/// It holds a line for each breaker that is not plainly closed: open, held by a person, in shadow, or with a
/// streak. A state that is read is aged by the wall's clock: an open time goes on with what is left of it,
/// and never for longer than it had left or than the longest open time, whatever the clock says.
///
/// A file that is torn, foreign or of a newer format is set aside under another name, and
/// [`notices`](Self::notices) says so. Where another process has the file already, this one reads it only
/// and says so; once the other has gone, this one writes.
///
/// ```
/// use nanobreaker::{Registry, SharedBreaker, StateFile};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("breakers.state");
/// let state = StateFile::open(path)?;
/// for notice in state.notices() {
///     eprintln!("{notice}");
/// }
/// let hosts: Registry<String> =
///     Registry::builder(|host: &String| SharedBreaker::builder().name(host.as_str())).build();
/// hosts.keep_in(&state);
/// let payments = SharedBreaker::builder().name("payments").build()?;
/// state.keep(&payments);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct StateFile(Arc<Handle>);

/// A state file that can't be used at all.
#[derive(Debug, Error)]
#[error("the state file {path:?} can't be {what}: {error}")]
pub struct StateFileError {
    path: PathBuf,
    what: &'static str,
    #[source]
    error: io::Error,
}

struct Handle {
    inner: Arc<Inner>,
    thread: Option<JoinHandle<()>>,
}

struct Inner {
    path: PathBuf,
    keeper: Mutex<Keeper>,
    /// Held while this process writes.
    lock: Mutex<Option<File>>,
    notices: Mutex<Vec<String>>,
    is_over: Mutex<bool>,
    over: Condvar,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl StateFile {
    /// Reads the file, if there is one, and starts the thread that writes it.
    ///
    /// # Errors
    ///
    /// A [`StateFileError`] where the file can't be read, or nothing can be written beside it.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StateFileError> {
        let path = path.into();
        let failed = |what| {
            let path = path.clone();
            move |error| StateFileError { path, what, error }
        };
        let mut notices = Vec::new();
        let lock = lock(&path).map_err(failed("locked"))?;
        if lock.is_none() {
            notices.push(format!(
                "another process writes the state file {}: this one reads it only",
                path.display()
            ));
        }
        let (lines, said) = read(&path, lock.is_some()).map_err(|(what, error)| failed(what)(error))?;
        notices.extend(said);
        #[cfg(feature = "tracing")]
        for notice in &notices {
            tracing::warn!(target: "nanobreaker", "{notice}");
        }
        let inner = Arc::new(Inner {
            path: path.clone(),
            keeper: Mutex::new(Keeper::new(lines)),
            lock: Mutex::new(lock),
            notices: Mutex::new(notices),
            is_over: Mutex::new(false),
            over: Condvar::new(),
        });
        let written = Arc::clone(&inner);
        let thread = thread::Builder::new().name("nanobreaker-state".into());
        let thread = thread.spawn(move || written.write_again_and_again()).map_err(failed("written"))?;
        Ok(Self(Arc::new(Handle { inner, thread: Some(thread) })))
    }

    /// Keeps this breaker, by its name, and restores what the file says of it. Returns whether it did.
    ///
    /// A breaker without a name is not kept.
    pub fn keep(&self, breaker: &SharedBreaker) -> bool {
        let restored = self.restore(breaker);
        let life = Arc::downgrade(breaker.life());
        self.add(Box::new(move |look| {
            let breaker = SharedBreaker::of(life.upgrade()?);
            look(&breaker);
            Some(())
        }));
        restored
    }

    /// What there is to say about the file: it was set aside, another process writes it, it can't be written.
    pub fn notices(&self) -> Vec<String> {
        locked(&self.0.inner.notices).clone()
    }

    /// Whether this process writes the file.
    pub fn is_writer(&self) -> bool {
        locked(&self.0.inner.lock).is_some()
    }

    /// Writes now what changed. The thread does it once a second, and dropping the last handle once more.
    ///
    /// # Errors
    ///
    /// A [`StateFileError`] where the file can't be written.
    pub fn flush(&self) -> Result<(), StateFileError> {
        let inner = &self.0.inner;
        let failed = |error| StateFileError { path: inner.path.clone(), what: "written", error };
        inner.write().map_err(failed)
    }

    /// Restores what the file says of this breaker.
    pub(crate) fn restore(&self, breaker: &SharedBreaker) -> bool {
        let Some(line) = locked(&self.0.inner.keeper).line(breaker.name()) else {
            return false;
        };
        // A clock that was set back makes no open time longer.
        let slept_ms = WallClock.now_ms().saturating_sub(line.at_ms);
        match breaker.restore(line.saved, slept_ms) {
            Ok(()) => true,
            Err(error) => {
                self.0.inner.notice(format!("the state of breaker {:?} is not restored: {error}", line.name));
                false
            }
        }
    }

    /// Keeps all breakers that `source` shows.
    pub(crate) fn add(&self, source: Source) {
        locked(&self.0.inner.keeper).add(source);
    }
}

impl Inner {
    fn notice(&self, notice: String) {
        #[cfg(feature = "tracing")]
        tracing::warn!(target: "nanobreaker", "{notice}");
        let mut notices = locked(&self.notices);
        if !notices.contains(&notice) {
            notices.push(notice);
        }
    }

    fn write_again_and_again(&self) {
        loop {
            let waited = self.over.wait_timeout_while(locked(&self.is_over), PAUSE, |is_over| !*is_over);
            let is_over = *waited.unwrap_or_else(PoisonError::into_inner).0;
            if let Err(error) = self.write() {
                self.notice(format!("the state file {} can't be written: {error}", self.path.display()));
            }
            if is_over {
                return;
            }
        }
    }

    /// Writes what changed, if this process may.
    fn write(&self) -> io::Result<()> {
        let mut held = locked(&self.lock);
        if held.is_none() {
            let Some(lock) = lock(&self.path)? else {
                return Ok(());
            };
            // What the other process wrote after this one read.
            let (lines, said) = read(&self.path, true).map_err(|(_, error)| error)?;
            said.into_iter().for_each(|said| self.notice(said));
            locked(&self.keeper).learn(lines);
            *held = Some(lock);
        }
        let Some(lines) = locked(&self.keeper).changed(WallClock.now_ms()) else {
            return Ok(());
        };
        let written = replace(&self.path, format::written(&lines).as_bytes());
        if written.is_err() {
            locked(&self.keeper).again();
        }
        written
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        *locked(&self.inner.is_over) = true;
        self.inner.over.notify_all();
        // The thread itself may have looked at what held the last handle.
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            // Its panic was reported by the panic hook.
            let _ = thread.join();
        }
    }
}

/// The file's path with more at its end.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// The lock of the file's writer; `None` where another process has it. It ends with the process.
fn lock(path: &Path) -> io::Result<Option<File>> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(beside(path, ".lock"))?;
    match FileExt::try_lock(&file) {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// A file's lines, and what there is to say of it.
type Reading = (Vec<Line>, Option<String>);

/// What can't be done with a file, and why.
type Failure = (&'static str, io::Error);

/// The file's lines, none where there is no file, and what there is to say: one that is not to be read is set aside.
fn read(path: &Path, is_writer: bool) -> Result<Reading, Failure> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), None)),
        Err(error) => return Err(("read", error)),
    };
    match format::read(&text) {
        Ok(lines) => Ok((lines, None)),
        Err(reason) => match set_aside(path, &reason, is_writer) {
            Ok(said) => Ok((Vec::new(), Some(said))),
            Err(error) => Err(("set aside", error)),
        },
    }
}

/// Moves a file that is not to be read out of the way. Returns what there is to say.
fn set_aside(path: &Path, reason: &str, is_writer: bool) -> io::Result<String> {
    let shown = path.display();
    if !is_writer {
        return Ok(format!("the state file {shown} {reason}: no state is restored"));
    }
    let aside = beside(path, &format!(".aside-{}", WallClock.now_ms()));
    fs::rename(path, &aside)?;
    Ok(format!("the state file {shown} {reason}: it was set aside as {}", aside.display()))
}

/// Puts a whole file in place of another, or of none.
fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let temporary = beside(path, ".new");
    let mut file = File::create(&temporary)?;
    file.write_all(text)?;
    file.sync_all()?;
    drop(file);
    fs::rename(&temporary, path)?;
    // The rename itself lasts once the folder is written; not every system can.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

impl fmt::Debug for StateFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateFile").field("path", &self.0.inner.path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
