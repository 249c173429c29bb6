"""The parts of `check` that read JSON: see there."""

import json, socket, sys, time, urllib.parse, urllib.request

SECONDS = 40

# What a shop with an outage must have shown after a while.
EXPECTED = [
    'nanobreaker_phase{breaker="payments"}',
    'nanobreaker_calls_total{breaker="search", outcome="success"} > 100',
    'nanobreaker_rejections_total{breaker="payments"} > 10',
    'nanobreaker_probes_total{breaker="payments", outcome="success"} > 0',
    'nanobreaker_transitions_total{breaker="payments", to="open", cause="threshold_reached"} > 0',
    'nanobreaker_phase_duration_seconds_count{breaker="payments", phase="open"} > 0',
    'nanobreaker_phase{breaker="search"} == 0',
    'nanobreaker_evidence_ratio{breaker="search"} > 0.1 < 1',
    # A breaker that tripped once in its life: the counter was there, at 0, before.
    'increase(nanobreaker_trips_total{breaker="idle"}[1m]) > 0.5',
    'max by (instance) (nanobreaker_phase{breaker="idle"}) == 3',
]

# Alerts that are to be on their way, by breaker. None may be on its way for the one that nobody calls.
ALERTS = {("BreakerOpen", "ledger"), ("BreakerOpenEverywhere", "ledger")}
IDLE = "idle"


def rules(dashboard):
    """A recording rule for each expression of the dashboard: the panels' first, then annotations'."""
    with open(dashboard) as file:
        dashboard = json.load(file)
    panels = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    annotations = [annotation["expr"] for annotation in dashboard["annotations"]["list"]]
    recorded = []
    for kind, expressions in (("panel", panels), ("annotation", annotations)):
        for number, expression in enumerate(expressions):
            for variable, value in (("$__rate_interval", "1m"), ("$job", ".*"), ("$breaker", ".*")):
                expression = expression.replace(variable, value)
            recorded.append({"record": f"dashboard:{kind}:{number}", "expr": expression})
    json.dump({"groups": [{"name": "dashboard", "rules": recorded}]}, sys.stdout)


def executable():
    """The example among cargo's messages."""
    artifacts = [json.loads(line) for line in sys.stdin]
    print(next(a["executable"] for a in reversed(artifacts) if a.get("executable")))


def ports():
    """Three free ones, held at once so that they differ."""
    held = [socket.socket() for _ in range(3)]
    for each in held:
        each.bind(("127.0.0.1", 0))
    print(*(each.getsockname()[1] for each in held))


def query(port, rules_file):
    """Asks until everything has data."""

    def ask(path):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/{path}", timeout=5) as answer:
            return json.load(answer)["data"]

    def series(expression):
        if expression in ALERTS:
            labels = [alert["labels"] for alert in ask("alerts")["alerts"]]
            idle = [alert for alert in labels if alert.get("breaker") == IDLE]
            if idle:
                raise SystemExit(f"alerts on a breaker that nobody calls: {idle}")
            return [alert for alert in labels if (alert["alertname"], alert.get("breaker")) == expression]
        return ask("query?" + urllib.parse.urlencode({"query": expression}))["result"]

    with open(rules_file) as file:
        recorded = [rule["record"] for rule in json.load(file)["groups"][0]["rules"]]
    # An annotation marks a moment, so it has data only then.
    waiting = EXPECTED + sorted(ALERTS) + [name for name in recorded if name.startswith("dashboard:panel:")]
    deadline = time.monotonic() + SECONDS
    problem = None
    while waiting and time.monotonic() < deadline:
        try:
            for expression in list(waiting):
                if found := series(expression):
                    print(f"{len(found)} series: {expression}")
                    waiting.remove(expression)
        except OSError as error:
            problem = error
        time.sleep(0.25)
    if waiting:
        raise SystemExit(f"no data within {SECONDS} s for {waiting}; last problem: {problem}")
    print("everything has data")


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    {"rules": rules, "executable": executable, "ports": ports, "query": query}[what](*arguments)
