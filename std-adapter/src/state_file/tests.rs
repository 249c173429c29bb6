use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use nanobreaker_core::Phase;
use tempfile::TempDir;

use super::format::{self, Line};
use super::*;

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("breakers.state")
    }

    fn open(&self) -> StateFile {
        StateFile::open(self.path()).unwrap()
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }
}

fn breaker(name: &str) -> SharedBreaker {
    let builder = SharedBreaker::builder().name(name).consecutive(1);
    builder.open_for(Duration::from_secs(60)).max_open(Duration::from_secs(600)).build().unwrap()
}

#[test]
fn what_is_not_plainly_closed_comes_back_and_goes_on_with_what_is_left() {
    let folder = Folder::new();
    {
        let file = folder.open();
        let names = ["open", "isolated", "disabled", "shadow", "closed"];
        let breakers = names.map(breaker);
        breakers.iter().for_each(|breaker| assert!(!file.keep(breaker), "there was no file"));
        breakers[0].trip();
        breakers[1].isolate();
        breakers[2].disable();
        breakers[3].shadow(true);
        file.flush().unwrap();
        assert_eq!(folder.text().lines().count(), 1 + 4 + 1, "a line for each that is not closed");
    }
    let file = folder.open();
    assert_eq!(file.notices(), Vec::<String>::new());
    let restored = |name: &str| {
        let breaker = breaker(name);
        (file.keep(&breaker), breaker.phase(), breaker.snapshot().in_shadow)
    };
    assert_eq!(restored("open"), (true, Phase::Open, false));
    assert_eq!(restored("isolated"), (true, Phase::Isolated, false));
    assert_eq!(restored("disabled"), (true, Phase::Disabled, false));
    assert_eq!(restored("shadow"), (true, Phase::Closed, true));
    assert_eq!(restored("closed"), (false, Phase::Closed, false));
}

fn tripped() -> u64 {
    let open = breaker("open");
    open.trip();
    open.save()
}

#[test]
fn a_state_ages_by_the_wall_and_a_wrong_clock_never_makes_it_longer() {
    let now_ms = WallClock.now_ms();
    for (slept_ms, left_ms) in [(0, 60_000), (20_000, 40_000), (3_600_000, 0), (-86_400_000, 60_000)] {
        let folder = Folder::new();
        let at_ms = now_ms.saturating_add_signed(-slept_ms);
        let line = Line { name: "open".into(), saved: tripped(), at_ms };
        fs::write(folder.path(), format::written(&[line])).unwrap();
        let breaker = breaker("open");
        assert!(folder.open().keep(&breaker));
        let left = i64::from(breaker.snapshot().time_left_ms.unwrap());
        assert!((left_ms - 5_000..=left_ms).contains(&left), "slept {slept_ms}: {left} left");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_set_aside_with_a_message_and_nothing_else_is_lost() {
    let whole = format::written(&[Line { name: "open".into(), saved: tripped(), at_ms: 0 }]);
    let torn = &whole[..whole.len() - 3];
    for (text, reason) in [
        (torn, "ends before its last line"),
        ("[window]\nkind = \"time\"\n", "is not a state file of nanobreaker"),
        ("{\"nanobreaker_state\":9}\n{}\n", "has format 9, but this version knows format 1"),
        ("", "is not a state file of nanobreaker"),
    ] {
        let folder = Folder::new();
        fs::write(folder.path(), text).unwrap();
        let file = folder.open();
        let notices = file.notices();
        assert!(notices.len() == 1 && notices[0].contains(reason), "{notices:?}");
        let aside = fs::read_dir(folder.0.path()).unwrap().map(|entry| entry.unwrap());
        let aside = aside.map(|entry| entry.path()).find(|path| path.to_string_lossy().contains(".aside-"));
        assert_eq!(fs::read_to_string(aside.unwrap()).unwrap(), text);
        let breaker = breaker("open");
        file.keep(&breaker);
        breaker.trip();
        file.flush().unwrap();
        assert_eq!(format::read(folder.text().as_bytes()).unwrap().len(), 1);
    }
}

#[test]
fn a_damaged_state_is_told_and_the_others_are_restored() {
    let folder = Folder::new();
    let now_ms = WallClock.now_ms();
    let line = |name: &str, saved| Line { name: name.into(), saved, at_ms: now_ms };
    fs::write(folder.path(), format::written(&[line("damaged", 7), line("open", tripped())])).unwrap();
    let file = folder.open();
    assert!(!file.keep(&breaker("damaged")));
    assert!(file.notices()[0].contains("\"damaged\" is not restored"), "{:?}", file.notices());
    assert!(file.keep(&breaker("open")));
}

#[test]
fn what_is_the_same_is_not_written_again() {
    let folder = Folder::new();
    let file = folder.open();
    let breaker = breaker("open");
    file.keep(&breaker);
    breaker.trip();
    file.flush().unwrap();
    let written = folder.text();
    file.flush().unwrap();
    assert_eq!(folder.text(), written);
    breaker.reset();
    file.flush().unwrap();
    assert_eq!(folder.text().lines().count(), 2);
}

#[test]
fn breakers_that_nobody_has_made_yet_stay_in_the_file() {
    let folder = Folder::new();
    let line = Line { name: "later".into(), saved: tripped(), at_ms: WallClock.now_ms() };
    fs::write(folder.path(), format::written(&[line])).unwrap();
    {
        let file = folder.open();
        let now = breaker("now");
        file.keep(&now);
        now.isolate();
        file.flush().unwrap();
        // The breaker goes before the file does, as in a process that ends.
        drop(now);
    }
    let file = folder.open();
    assert!(file.keep(&breaker("later")) && file.keep(&breaker("now")));
}

#[test]
fn of_two_on_one_file_the_second_reads_only_until_the_first_is_gone() {
    let folder = Folder::new();
    let first = folder.open();
    let breaker = breaker("open");
    first.keep(&breaker);
    breaker.trip();
    first.flush().unwrap();
    let second = folder.open();
    assert!(first.is_writer() && !second.is_writer());
    assert!(second.notices()[0].contains("another process writes"), "{:?}", second.notices());
    let text = folder.text();
    second.flush().unwrap();
    assert_eq!(folder.text(), text);
    drop(first);
    second.flush().unwrap();
    assert!(second.is_writer());
}

#[test]
fn what_a_newer_version_left_is_set_aside_by_who_writes_after_it() {
    let folder = Folder::new();
    let (newer, older) = (folder.open(), folder.open());
    drop(newer);
    let future = "{\"nanobreaker_state\":9}\n{}\n";
    fs::write(folder.path(), future).unwrap();
    let breaker = breaker("open");
    older.keep(&breaker);
    breaker.trip();
    older.flush().unwrap();
    assert_eq!(format::read(folder.text().as_bytes()).unwrap().len(), 1);
    assert!(older.notices().iter().any(|notice| notice.contains("has format 9")), "{:?}", older.notices());
    let texts = fs::read_dir(folder.0.path()).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()));
    assert!(texts.into_iter().any(|text| text.unwrap() == future), "it is still there");
}

#[test]
fn a_file_that_cannot_be_is_refused_by_name() {
    let folder = Folder::new();
    let error = StateFile::open(folder.0.path().join("nowhere/breakers.state")).unwrap_err();
    assert!(error.to_string().contains("nowhere/breakers.state"), "{error}");
}

#[cfg(feature = "registry")]
#[test]
fn a_registry_restores_what_it_makes_before_its_first_call() {
    use crate::Registry;

    let folder = Folder::new();
    let registry = || {
        Registry::builder(|host: &String| {
            SharedBreaker::builder().name(host.as_str()).open_for(Duration::from_secs(60))
        })
        .build()
    };
    {
        let (file, hosts) = (folder.open(), registry());
        assert!(hosts.keep_in(&file));
        assert!(!hosts.keep_in(&file), "it has one already");
        hosts.get_or_create("a").unwrap().trip();
        hosts.get_or_create("b").unwrap();
        file.flush().unwrap();
    }
    let (file, hosts) = (folder.open(), registry());
    hosts.get_or_create("b").unwrap();
    hosts.keep_in(&file);
    assert_eq!(hosts.get_or_create("a").unwrap().phase(), Phase::Open);
    assert_eq!(hosts.get_or_create("b").unwrap().phase(), Phase::Closed);
}

#[test]
fn a_breaker_whose_group_lets_calls_pass_is_not_in_shadow_for_ever_after_a_restart() {
    let folder = Folder::new();
    let members = || {
        let group = crate::Group::new().panic_above_percent(50);
        let builder = |name| SharedBreaker::builder().name(name).open_for(Duration::from_secs(60));
        ["a", "b"].map(|name| builder(name).max_open(Duration::from_secs(60)).group(&group).build().unwrap())
    };
    {
        let (file, breakers) = (folder.open(), members());
        breakers.iter().for_each(|breaker| _ = file.keep(breaker));
        breakers.iter().for_each(|breaker| _ = breaker.trip());
        assert!(breakers.iter().all(|breaker| breaker.snapshot().in_shadow));
        file.flush().unwrap();
    }
    let (file, [a, b]) = (folder.open(), members());
    assert!(file.keep(&a) && file.keep(&b));
    assert!(a.snapshot().time_left_ms > Some(50_000));
    assert!(a.allow().is_ok() && b.allow().is_ok(), "both are open again, so their group lets calls pass");
    a.reset();
    assert!(b.allow().is_err());
}

#[test]
fn the_last_handle_may_be_dropped_by_the_thread_that_writes() {
    let folder = Folder::new();
    let file = folder.open();
    let (inner, held) = (Arc::clone(&file.0.inner), Mutex::new(Some(file.clone())));
    file.add(Box::new(move |_| locked(&held).take().map(drop)));
    drop(file);
    let begun = std::time::Instant::now();
    while Arc::strong_count(&inner) > 1 {
        assert!(begun.elapsed() < Duration::from_secs(10), "the thread still holds it");
        thread::yield_now();
    }
    assert!(inner.keeper.lock().is_ok(), "the thread ended well");
}
