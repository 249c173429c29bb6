//! The layer beside other layers: refusals that are no failures, keys, boxes.

use std::convert::Infallible;
use std::future::{pending, ready};
use std::time::Duration;

use nanobreaker::tower::{BreakerLayer, is_refusal};
use nanobreaker::{CallError, Phase, Registry, Rejection, SharedBreaker};
use tower::buffer::Buffer;
use tower::load_shed::LoadShed;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Layer, Service, ServiceBuilder, ServiceExt, service_fn};

use super::{breaker, builder, phase};

type Answer = Result<u32, BoxError>;

#[tokio::test(start_paused = true)]
async fn a_load_shedder_that_is_full_is_no_failure() {
    let breaker = breaker();
    let mut service = ServiceBuilder::new()
        .layer(BreakerLayer::new(breaker.clone()))
        .layer_fn(LoadShed::new)
        .concurrency_limit(1)
        .service(service_fn(|()| pending::<Answer>()));
    let _under_way = service.ready().await.unwrap().call(());
    let shed = service.ready().await.unwrap().call(()).await.unwrap_err();
    assert!(is_refusal(&*shed.into_failed().unwrap()));
    assert_eq!(phase(&breaker), Phase::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_buffer_that_is_closed_is_no_failure() {
    let breaker = breaker();
    let (buffer, worker) = Buffer::<(), _>::pair(service_fn(|()| ready(Answer::Ok(1))), 4);
    drop(worker);
    let service = BreakerLayer::new(breaker.clone()).layer(buffer);
    service.oneshot(()).await.unwrap_err();
    assert_eq!(phase(&breaker), Phase::Closed);
}

#[tokio::test(start_paused = true)]
async fn the_rejections_of_a_breaker_further_in_do_not_open_the_one_outside() {
    let (outer, inner) = (breaker(), breaker());
    inner.isolate();
    let service = ServiceBuilder::new()
        .layer(BreakerLayer::new(outer.clone()))
        .layer(BreakerLayer::new(inner.clone()))
        .service(service_fn(|()| ready(Err::<(), u32>(7))));
    let rejected = service.clone().oneshot(()).await.unwrap_err();
    assert!(rejected.into_failed().unwrap().rejected().is_some());
    assert_eq!(phase(&outer), Phase::Closed);
    inner.disable();
    service.oneshot(()).await.unwrap_err();
    assert_eq!(phase(&outer), Phase::Open, "what the service itself fails with counts");
}

#[tokio::test(start_paused = true)]
async fn a_rejection_in_a_box_is_found_among_the_sources() {
    #[derive(Debug, thiserror::Error)]
    #[error("no stock")]
    struct NoStock(#[source] CallError<std::io::Error>);
    let (outer, inner) = (breaker(), breaker());
    inner.isolate();
    let call = move |()| {
        let call = nanobreaker::CallExt::call(&inner, || Ok(1));
        ready(call.map_err(|error| BoxError::from(NoStock(error))))
    };
    let service = BreakerLayer::new(outer.clone()).layer(service_fn(call));
    service.oneshot(()).await.unwrap_err();
    assert_eq!(phase(&outer), Phase::Closed);
}

#[tokio::test(start_paused = true)]
async fn refusals_of_ones_own_are_named() {
    let breaker = breaker();
    let layer = BreakerLayer::new(breaker.clone()).refusals(|error: &u32| *error == 429);
    let service = layer.layer(service_fn(|error: u32| ready(Err::<(), u32>(error))));
    service.clone().oneshot(429).await.unwrap_err();
    assert_eq!(phase(&breaker), Phase::Closed);
    service.oneshot(500).await.unwrap_err();
    assert_eq!(phase(&breaker), Phase::Open);
}

#[tokio::test(start_paused = true)]
async fn each_key_has_a_breaker_of_its_own() {
    let hosts = Registry::builder(|host: &String| {
        let builder = SharedBreaker::builder().name(host.as_str());
        if host == "wrong" { builder.consecutive(0) } else { builder.consecutive(1) }
    })
    .build();
    let layer = BreakerLayer::keyed(|request: &(&str, Answer2)| request.0.to_owned()).over(hosts.clone());
    let service = layer.layer(service_fn(|(_, answer): (&str, Answer2)| ready(answer)));
    service.clone().oneshot(("a", Err("down"))).await.unwrap_err();
    let rejected = service.clone().oneshot(("a", Ok(1))).await.unwrap_err();
    let rejection = rejected.rejected().unwrap();
    assert_eq!(rejection.name().as_deref(), Some("a"));
    assert_eq!(service.clone().oneshot(("b", Ok(1))).await, Ok(1));
    assert_eq!(hosts.len(), 2);

    let refused = service.oneshot(("wrong", Ok(1))).await.unwrap_err();
    let setting = refused.rejected().and_then(Rejection::refused_setting).unwrap();
    assert_eq!((setting.field(), setting.value()), ("threshold", 0));
    assert!(refused.rejected().unwrap().to_string().contains("threshold is 0, but must be from 1"));
}

type Answer2 = Result<u32, &'static str>;

#[tokio::test(start_paused = true)]
async fn a_boxed_layer_fails_with_boxes_and_its_services_have_a_short_type() {
    let breaker = breaker();
    let answers = service_fn(|answer: Result<u32, std::io::ErrorKind>| {
        ready(answer.map_err(|kind| BoxError::from(std::io::Error::from(kind))))
    });
    let service: BoxCloneSyncService<_, u32, BoxError> =
        BreakerLayer::new(breaker.clone()).boxed().layer(answers);
    assert_eq!(service.clone().oneshot(Ok(1)).await.unwrap(), 1);
    let failed = service.clone().oneshot(Err(std::io::ErrorKind::TimedOut)).await.unwrap_err();
    assert!(failed.is::<std::io::Error>());
    assert!(service.oneshot(Ok(1)).await.unwrap_err().is::<Rejection>());
}

#[tokio::test(start_paused = true)]
async fn a_rejection_says_its_breakers_name_for_as_long_as_there_is_that_breaker() {
    let breaker = builder().name("stock").build().unwrap();
    breaker.trip();
    let service =
        BreakerLayer::new(breaker.reference()).layer(service_fn(|()| ready(Ok::<_, Infallible>(()))));
    let error = service.oneshot(()).await.unwrap_err();
    let rejection = error.rejected().unwrap().clone();
    assert_eq!(rejection.to_string(), "the breaker stock is open; retry after 10000 ms");
    drop(breaker);
    let _other = SharedBreaker::builder().name("another in its place").build().unwrap();
    assert_eq!(rejection.name(), None);
    assert_eq!(rejection.retry_after(), Some(Duration::from_secs(10)));
}
