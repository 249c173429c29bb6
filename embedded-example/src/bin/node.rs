//! The sensor node: cycles of the processor's own timer, extended from 32 bits.

#![cfg_attr(target_os = "none", no_std, no_main)]

use embedded_example::clock::Cycles;
use nanobreaker_embedded::clock::TickClock;

type Uptime = TickClock<{ Cycles::HZ }, Cycles>;
type NodeClock = &'static Uptime;

static UPTIME: Uptime = TickClock::new(Cycles);

/// The counter wraps every few minutes; between two looks at it must lie less than that.
fn keep_the_clock() {
    UPTIME.poll();
}

embedded_example::node_program!(NodeClock, &UPTIME, keep_the_clock);
