//! The script says what the exchange in memory says, whatever comes.

use std::sync::Arc;
use std::time::Duration;

use nanobreaker_fleet::nanobreaker::fleet::message::{
    Finding, Group, News, Order, OrderedAction, Report, Said, Word,
};
use nanobreaker_fleet::{Exchange, InMemory, Redis};
use tokio::sync::mpsc;
use tokio::time::sleep;

use crate::rig::{Server, until};

/// Long enough for nothing to end meanwhile.
const LEFT_MS: u32 = 600_000;

fn any_report(rng: &mut fastrand::Rng) -> Report {
    let (left_ms, probe_ms) = (LEFT_MS, 1_000);
    let order = Order {
        action: [OrderedAction::Isolate, OrderedAction::Disable, OrderedAction::Shadow][rng.usize(0..3)],
        left_ms,
        reason: "\"why\" \u{e9}\\".into(),
        id: rng.u64(..),
    };
    let news = match rng.u32(0..20) {
        number @ 0..11 => News::Open { left_ms, probe_ms, is_new: number < 8 },
        11..15 => News::Well { epoch: NEWEST },
        15 => News::Alive,
        16..18 => News::Order(Some(order)),
        _ => News::Order(None),
    };
    let breaker = if news == News::Alive { "" } else { ["payments", "a b:{c}"][rng.usize(0..2)] };
    Report { breaker: breaker.into(), news }
}

/// Stands for the newest epoch, which each of the two numbers by its own clock.
const NEWEST: u64 = u64::MAX;

/// The epochs that one of the two gave, in their order.
#[derive(Default)]
struct Epochs(Vec<u64>);

impl Epochs {
    fn numbered(&self, report: &Report) -> Report {
        let mut report = report.clone();
        if let News::Well { epoch } = &mut report.news {
            *epoch = self.0.last().copied().unwrap_or(0);
        }
        report
    }

    /// Which one it is.
    fn rank(&mut self, epoch: u64) -> u64 {
        if self.0.last().is_none_or(|last| *last < epoch) {
            self.0.push(epoch);
        }
        self.0.iter().position(|known| *known == epoch).expect("epochs rise") as u64
    }
}

/// Without what is left of a time, which differs by the time that things take.
fn timeless(said: Vec<Said>, epochs: &mut Epochs) -> Vec<String> {
    let timeless = said.into_iter().map(|Said { breaker, word }| {
        let word = match word {
            Word::Open(finding) => {
                Word::Open(Finding { left_ms: 0, epoch: epochs.rank(finding.epoch), ..finding })
            }
            Word::Order(order) => Word::Order(order.map(|order| Order { left_ms: 0, ..order })),
            Word::Look { epoch } => Word::Look { epoch: epochs.rank(epoch) },
        };
        Said { breaker, word }
    });
    let mut said: Vec<_> = timeless.map(|said| format!("{said:?}")).collect();
    said.sort();
    said
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn the_script_and_the_memory_say_the_same() {
    let server = Server::start();
    let redis = Arc::new(Redis::connect(&server.url()).unwrap());
    let seed = fastrand::u64(..);
    let mut rng = fastrand::Rng::with_seed(seed);
    let (ear, mut heard) = mpsc::channel(1_024);
    let group = |name: &str, instance: usize, quorum_percent| Group {
        name: name.into(),
        instance: format!("i{instance}").into(),
        quorum: 2,
        quorum_percent,
    };
    let listener = Arc::new(group("any", 99, 0));
    let hearing = Arc::clone(&redis);
    tokio::spawn(async move { hearing.hear(&listener, ear).await });
    until("it is linked", || heard.try_recv().is_ok()).await;
    for round in 0..30 {
        let memory = InMemory::new();
        let percent = if round % 2 == 0 { 0 } else { 60 };
        let name = format!("round {round}");
        let [mut of_script, mut of_memory] = [Epochs::default(), Epochs::default()];
        for step in 0..60 {
            let group = Arc::new(group(&name, rng.usize(0..5), percent));
            let mut reports: Vec<_> = (0..rng.usize(1..4)).map(|_| any_report(&mut rng)).collect();
            // An instance says one thing of a breaker at a time.
            reports.sort_by(|one, other| one.breaker.cmp(&other.breaker));
            reports.dedup_by(|one, other| one.breaker == other.breaker);
            // Votes of one millisecond come in another order here and there, and two clocks tell them apart.
            sleep(Duration::from_millis(2)).await;
            let numbered = |epochs: &Epochs| reports.iter().map(|r| epochs.numbered(r)).collect::<Vec<_>>();
            let by_script = redis.ask(&group, &numbered(&of_script)).await.unwrap().said;
            let by_memory = memory.ask(&group, &numbered(&of_memory)).await.unwrap().said;
            let where_it_was = format!("seed {seed}, round {round}, step {step}: {reports:?}");
            assert_eq!(
                timeless(by_script, &mut of_script),
                timeless(by_memory, &mut of_memory),
                "{where_it_was}"
            );
            let by_script = redis.ask(&group, &[]).await.unwrap().said;
            let by_memory = memory.ask(&group, &[]).await.unwrap().said;
            assert_eq!(
                timeless(by_script, &mut of_script),
                timeless(by_memory, &mut of_memory),
                "{where_it_was}"
            );
        }
    }
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn what_a_server_reads_late_is_no_vote() {
    let server = Server::start();
    let mut members = Vec::new();
    for name in ["one", "other"] {
        let group = Group { name: "late".into(), instance: name.into(), quorum: 2, quorum_percent: 0 };
        let (group, redis) = (Arc::new(group), Arc::new(Redis::connect(&server.url()).unwrap()));
        let (ear, mut heard) = mpsc::channel(1_024);
        let (listener, hearing) = (Arc::clone(&group), Arc::clone(&redis));
        tokio::spawn(async move { hearing.hear(&listener, ear).await });
        until("it is linked", || heard.try_recv().is_ok()).await;
        tokio::spawn(async move { while heard.recv().await.is_some() {} });
        // From here on it knows what time it is for the server.
        redis.ask(&group, &[]).await.unwrap();
        members.push((redis, group));
    }
    let news = News::Open { left_ms: LEFT_MS, probe_ms: 1_000, is_new: true };
    let report = [Report { breaker: "payments".into(), news }];
    server.signal("-STOP");
    let [(one, as_one), (other, as_other)] = &members[..] else { unreachable!() };
    let (first, second) = tokio::join!(one.ask(as_one, &report), other.ask(as_other, &report));
    assert!(first.is_err() && second.is_err());
    sleep(Duration::from_secs(1)).await;
    server.signal("-CONT");
    let said = loop {
        match one.ask(as_one, &[]).await {
            Ok(reply) => break reply.said,
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    };
    assert_eq!(said, []);
    while other.ask(as_other, &[]).await.is_err() {
        sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(one.ask(as_one, &report).await.unwrap().said, []);
    assert_eq!(other.ask(as_other, &report).await.unwrap().said.len(), 1, "votes of now are a quorum");
}
