//! The same node with an `embedded-time` clock.

#![cfg_attr(target_os = "none", no_std, no_main)]

use embedded_example::clock::EmbeddedTimeCycles;
use nanobreaker_embedded::clock::EmbeddedTimeClock;

type NodeClock = &'static EmbeddedTimeClock<EmbeddedTimeCycles>;

static UPTIME: EmbeddedTimeClock<EmbeddedTimeCycles> = EmbeddedTimeClock::new(EmbeddedTimeCycles);

fn keep_the_clock() {
    UPTIME.poll();
}

embedded_example::node_program!(NodeClock, &UPTIME, keep_the_clock);
