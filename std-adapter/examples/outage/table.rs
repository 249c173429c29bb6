//! The figures, for people: a table per run, and what was measured beside what the article says.

use std::fmt::Write;
use std::time::Duration;

use crate::run::Run;
use crate::scenario::{Kind, Phase, Scenario, seconds};
use crate::statistics::{Group, rejected_within_a_millisecond};
use crate::verdict;

pub(crate) fn of_run(run: &Run, scenario: &Scenario) -> String {
    let mut out = format!(
        "{}\n{:<26}{:>9}{:>8}{:>9}{:>8}  │{:>9}{:>9}{:>9}{:>9}  │{:>13}\n",
        run.kind.title().to_uppercase(),
        "",
        "requests",
        "ok",
        "rejected",
        "failed",
        "mean ms",
        "p50 ms",
        "p99 ms",
        "max ms",
        "rejected p99",
    );
    for phase in Phase::ALL {
        row(&mut out, phase.name(), "payments", &run.payments(phase));
        row(&mut out, "", "others", &run.others(phase));
        let from = verdict::promised_from(run.kind, scenario);
        if phase == Phase::Outage && !from.is_zero() {
            let label = format!("· from {}", seconds(from));
            row(&mut out, &label, "payments", &verdict::payments_while_promised(run, scenario));
            row(&mut out, "", "others", &verdict::others_while_promised(run, scenario));
        }
    }
    let full = match run.full_after() {
        Some(after) => format!("full {} after the outage began", seconds(after)),
        None => "never full".into(),
    };
    let recovered = match run.payments_recovered_after() {
        Some(after) => {
            format!("payments flowed again {} ms after the provider's recovery", after.as_millis())
        }
        None => "payments did not flow again before the end".into(),
    };
    let _ =
        writeln!(out, "Most workers busy: {} of {}; {full}; {recovered}.", run.most_busy, scenario.workers);
    out
}

fn row(out: &mut String, phase: &str, who: &str, group: &Group) {
    let rejected = match group.rejected {
        0 => "–".into(),
        _ => time(group.rejected_p99_ms),
    };
    let _ = writeln!(
        out,
        "{:<16}{:<10}{:>9}{:>8}{:>9}{:>8}  │{:>9}{:>9}{:>9}{:>9}  │{:>13}",
        phase,
        who,
        thousands(group.requests),
        thousands(group.ok),
        thousands(group.rejected),
        thousands(group.failed),
        time(group.mean_ms),
        time(group.p50_ms),
        time(group.p99_ms),
        time(group.max_ms),
        rejected,
    );
}

pub(crate) fn against_the_article(runs: &[Run], scenario: &Scenario) -> String {
    let mut out = String::from(
        "Latency counts from the moment a request was due until its answer or until the caller gave up, and the wait\n\
         for a worker is in it, also of those that were then rejected. It is that of all requests, failed ones too.\n\n\
         THE ARTICLE SAYS, AND HERE WAS MEASURED\n",
    );
    let mut claim = |said: &str, measured: &str| {
        let _ = writeln!(out, "  {said:<64} {measured}");
    };
    let run = |kind| runs.iter().find(|run| run.kind == kind);
    if let Some(none) = run(Kind::None) {
        let full = none.full_after().map_or("never".into(), seconds);
        claim("no breaker: the pool is full after 0.4 s", &full);
        let all = none.group(|sample| none.phase_of(sample.due) == Phase::Outage);
        let said = format!(
            "no breaker: everyone's mean reaches 4 s ({} at this scale)",
            seconds(Duration::from_secs(4) / scenario.scale),
        );
        claim(
            &said,
            &format!(
                "{:.2} s over the outage: callers keep coming, and wait up to {}",
                all.mean_ms / 1e3,
                seconds(scenario.patience),
            ),
        );
    }
    for kind in [Kind::Article, Kind::HungAfter] {
        let Some(run) = run(kind) else { continue };
        let from = verdict::promised_from(kind, scenario);
        let since = if from.is_zero() { String::new() } else { format!(" from {} on", seconds(from)) };
        let fast = rejected_within_a_millisecond(verdict::while_promised(run, scenario));
        let payments = verdict::payments_while_promised(run, scenario);
        let p99 = time(payments.rejected_p99_ms);
        claim(
            &format!("{}: a rejection takes under 1 ms", kind.name()),
            &format!("{fast:.1} % of them{since}, 99 % under {p99} ms"),
        );
        if let Some(breaker) = run.breaker_p99_ms() {
            claim(
                "  of it the breaker itself, measured at the server",
                &format!("99 % under {:.0} µs", breaker * 1e3),
            );
        }
        let whole = time(run.others(Phase::Outage).mean_ms);
        let promised = time(verdict::others_while_promised(run, scenario).mean_ms);
        let measured = if from.is_zero() {
            format!("{whole} ms over the outage")
        } else {
            format!("{whole} ms over the outage, {promised} ms{since}")
        };
        claim(&format!("{}: the others' mean stays at 18 ms", kind.name()), &measured);
    }
    if let (Some(article), Some(hung)) = (run(Kind::Article), run(Kind::HungAfter)) {
        out.push_str(&surprise(article, hung, scenario));
    }
    out
}

/// What the article leaves out, if it showed.
fn surprise(article: &Run, hung: &Run, scenario: &Scenario) -> String {
    let Some(full) = article.full_after() else {
        return String::new();
    };
    let mut text = format!(
        "\nThe surprise: with the article's breaker alone the pool still fills once, after {}. A call that hangs is\n\
         no failure until its timeout ({}); until then the breaker knows nothing and everyone waits.\n",
        seconds(full),
        seconds(scenario.http_timeout),
    );
    if hung.full_after().is_none() {
        let _ = writeln!(
            text,
            "That is what hung_after is for: a call running longer than {} counts as failed at that moment; at most {}\n\
             workers were busy.",
            seconds(scenario.hung_after),
            hung.most_busy,
        );
    }
    text
}

fn time(ms: f64) -> String {
    match ms {
        ms if ms < 10.0 => format!("{ms:.2}"),
        ms if ms < 100.0 => format!("{ms:.1}"),
        ms => thousands(ms.round() as usize),
    }
}

fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_000), "1,000");
        assert_eq!(thousands(1_234_567), "1,234,567");
    }

    #[test]
    fn times_show_three_digits_or_so() {
        assert_eq!(time(0.8149), "0.81");
        assert_eq!(time(18.04), "18.0");
        assert_eq!(time(3_000.6), "3,001");
    }
}
