//! A node that loses its memory in each sleep, for a night: with no memory, with backup RAM, with
//! flash, and with images that are damaged on the way.

#![cfg_attr(target_os = "none", no_std, no_main)]

use embedded_example::say;
use embedded_example::sleep::{BackupRam, EmulatedFlash, Flash, Forgetful, Night, Totals, sleep_through};

const QUIET: Night = Night { damaged_at_hour: None };
const DAMAGED: Night = Night { damaged_at_hour: Some(3) };

fn show(name: &str, totals: &Totals) {
    say!(
        "{name:<20} {:>8} {:>8} {:>9} {:>9} {:>6}",
        totals.in_vain,
        totals.readings,
        totals.blind_minutes,
        totals.refused,
        totals.saved,
    );
}

fn run() -> bool {
    let mut words = [0xDEAD_BEEF; BackupRam::WORDS];
    let mut other_words = words;
    let mut flash = Flash::new(EmulatedFlash::erased(), 0);

    say!("                      in vain readings   blind for   refused  saved");
    let forgetful = sleep_through(QUIET, &mut Forgetful, |_| ());
    show("no memory", &forgetful);
    let in_ram = sleep_through(QUIET, &mut BackupRam::new(&mut words), |_| ());
    show("backup RAM", &in_ram);
    let mut memory = BackupRam::new(&mut other_words);
    let damaged = sleep_through(DAMAGED, &mut memory, BackupRam::flip_bit);
    show("backup RAM, damaged", &damaged);
    let in_flash = sleep_through(QUIET, &mut flash, |_| ());
    show("flash", &in_flash);

    [
        ("a node that remembers asks a dead sensor ten times less", in_ram.is_better_than(&forgetful)),
        ("an image that was damaged is refused, once", damaged.refused == in_ram.refused + 1),
        ("flash keeps what backup RAM keeps", in_flash == in_ram),
        (
            "flash is written at transitions only",
            flash.flash_mut().erased == in_flash.saved && in_flash.saved < 30,
        ),
    ]
    .iter()
    .fold(true, |all, (claim, holds)| {
        say!("{} {claim}", if *holds { "holds: " } else { "BROKEN:" });
        all && *holds
    })
}

embedded_example::entry!(run);
