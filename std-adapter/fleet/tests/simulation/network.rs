//! A network that drops, doubles, delays and reorders, and a store behind it that hangs, dies and comes back.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use nanobreaker_fleet::nanobreaker::fleet::message::{Group, Heard, Reply, Report, Said};
use nanobreaker_fleet::{Exchange, ExchangeError, InMemory};
use tokio::sync::{Notify, mpsc};
use tokio::time::sleep;

/// How bad a network is.
#[derive(Clone, Copy)]
pub(crate) struct Weather {
    drops_percent: u32,
    doubles_percent: u32,
    most_delay_ms: u64,
}

pub(crate) const GOOD: Weather = Weather { drops_percent: 0, doubles_percent: 0, most_delay_ms: 2 };
pub(crate) const BAD: Weather = Weather { drops_percent: 20, doubles_percent: 20, most_delay_ms: 3_000 };
/// Nothing arrives.
pub(crate) const CUT: Weather = Weather { drops_percent: 100, doubles_percent: 0, most_delay_ms: 0 };

/// The way to a store; clones share it.
#[derive(Clone)]
pub(crate) struct Network {
    weather: Arc<Mutex<Weather>>,
    /// `None` while nobody hears of it.
    store: Arc<Mutex<Option<InMemory>>>,
    /// The store was lost or brought. Who waits for that goes on in the order of waiting, so a seed has one course.
    changed: Arc<Notify>,
    ears: Arc<Mutex<Vec<mpsc::Sender<Heard>>>>,
}

impl Network {
    pub(crate) fn new(weather: Weather) -> Self {
        let (weather, store) = (Mutex::new(weather), Mutex::new(Some(InMemory::new())));
        Self {
            weather: Arc::new(weather),
            store: Arc::new(store),
            changed: Arc::default(),
            ears: Arc::default(),
        }
    }

    pub(crate) fn set_weather(&self, weather: Weather) {
        *self.weather.lock().unwrap() = weather;
    }

    /// The store is gone. Returns it.
    pub(crate) fn lose_store(&self) -> InMemory {
        self.set_store(None).expect("it is there")
    }

    pub(crate) fn bring_store(&self, store: InMemory) {
        self.set_store(Some(store));
    }

    fn set_store(&self, store: Option<InMemory>) -> Option<InMemory> {
        let before = std::mem::replace(&mut *self.store.lock().unwrap(), store);
        self.changed.notify_waiters();
        before
    }

    fn store(&self) -> Option<InMemory> {
        self.store.lock().unwrap().clone()
    }

    /// The store, once it is there.
    async fn reached(&self) -> InMemory {
        loop {
            let changed = self.changed.notified();
            if let Some(store) = self.store() {
                return store;
            }
            changed.await;
        }
    }

    /// How long each copy of a message is under way.
    fn copies(&self) -> Vec<Duration> {
        let weather = *self.weather.lock().unwrap();
        let copies = match fastrand::u32(0..100) {
            chance if chance < weather.drops_percent => 0,
            chance if chance < weather.drops_percent + weather.doubles_percent => 2,
            _ => 1,
        };
        let delay = |_| Duration::from_millis(fastrand::u64(0..=weather.most_delay_ms));
        (0..copies).map(delay).collect()
    }

    /// Carries a report to the store, if it is there by then.
    pub(crate) fn report(&self, group: &Arc<Group>, report: &Report) {
        for delay in self.copies() {
            let (network, group, report) = (self.clone(), Arc::clone(group), report.clone());
            tokio::spawn(async move {
                sleep(delay).await;
                if let Some(store) = network.store() {
                    store.ask(&group, &[report]).await.unwrap();
                }
            });
        }
    }

    /// Tells all what no store said.
    pub(crate) async fn lie(&self, group: &Arc<Group>, said: &Said) {
        let store = self.store().expect("it is there");
        let run = store.ask(group, &[]).await.unwrap().run;
        for ear in &*self.ears.lock().unwrap() {
            self.tell(ear, &Heard::Said(Reply { run, said: vec![said.clone()] }));
        }
    }

    fn tell(&self, ear: &mpsc::Sender<Heard>, heard: &Heard) {
        for delay in self.copies() {
            let (ear, heard) = (ear.clone(), heard.clone());
            tokio::spawn(async move {
                sleep(delay).await;
                let _ = ear.send(heard).await;
            });
        }
    }
}

impl Exchange for Network {
    async fn ask(&self, group: &Arc<Group>, reports: &[Report]) -> Result<Reply, ExchangeError> {
        let reply = self.reached().await.ask(group, &[]).await?;
        if reports.is_empty() {
            return Ok(reply);
        }
        reports.iter().for_each(|report| self.report(group, report));
        // What the store answers is lost, so that whatever is heard comes by way of the weather.
        Ok(Reply { said: Vec::new(), ..reply })
    }

    async fn hear(&self, group: &Arc<Group>, ear: mpsc::Sender<Heard>) {
        self.ears.lock().unwrap().push(ear.clone());
        loop {
            let store = self.reached().await;
            let lost = self.changed.notified();
            let (inner, mut heard) = mpsc::channel(256);
            let forwarding = async {
                while let Some(heard) = heard.recv().await {
                    match heard {
                        Heard::Said(_) => self.tell(&ear, &heard),
                        linked => drop(ear.send(linked).await),
                    }
                }
            };
            tokio::select! {
                biased;
                () = lost => {}
                () = store.hear(group, inner) => {}
                () = forwarding => {}
            }
            // The link's ping is missed.
            sleep(Duration::from_secs(7)).await;
            let _ = ear.send(Heard::Lost).await;
        }
    }
}
