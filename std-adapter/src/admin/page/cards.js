// One card for each breaker that is shown. Everything goes through textContent or setAttribute: names can't
// become markup.

const SPAN_MS = { least: 60 * 1000, most: 5 * 60 * 1000 }, KEPT = 64;
// What is older than this is said to be old, and after that, loudly.
const FRESH_MS = 3000, STALE_MS = 10000;

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties))
    if (name.includes("-") || name === "role") made.setAttribute(name, value); else made[name] = value;
  made.append(...children);
  return made;
}

// Letters that can't be seen, or that turn the order of others, are shown by their number.
const shown = text => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, letter => "\\u{" + letter.codePointAt(0).toString(16) + "}");
const title = name => name ? shown(name) : "(no name)";

const total = counts => Object.values(counts).reduce((sum, count) => sum + count, 0);
const perSecond = number => number >= 100 ? number.toFixed(0) : number.toFixed(1);
const percent = (part, whole) => whole > 0 ? (100 * part / whole).toFixed(1) + " %" : "–";
const duration = ms => ms >= 60000 ? Math.floor(ms / 60000) + " min" + (ms % 60000 >= 1000 ? " " + Math.floor(ms % 60000 / 1000) + " s" : "")
                     : (ms / 1000).toFixed(1) + " s";
const clock = ms => new Date(ms).toLocaleTimeString();
const words = name => name.replaceAll("_", " ");

const ACTIONS = [
  ["reset", "Reset", "closed, with an empty window"],
  ["isolate", "Isolate", "Every call is rejected until somebody resets it."],
  ["disable", "Disable", "Every call passes, and nothing is judged, until somebody resets it."],
  ["shadow", "Shadow", "judge, but never reject"],
];

function makeCard(row, give, giveToFleet) {
  const figures = element("dl"), name = title(row.name), heading = "breaker-" + row.id;
  const figure = label => {
    const value = element("dd", { textContent: "–" });
    figures.append(element("div", {}, element("dt", { textContent: label }), value));
    return value;
  };
  const card = {
    phase: element("span", { className: "phase" }),
    left: element("span", { className: "soft left", dir: "auto" }),
    age: element("span", { className: "soft age" }),
    actions: element("span", { className: "actions" }),
    calls: figure("calls a second"), failed: figure("failed"), slow: figure("slow"),
    rejected: figure("rejected a second"), near: figure("evidence"), counted: element("dd", { className: "soft" }), trips: figure("trips"), all: figure("calls in all"),
    timeline: document.createElementNS("http://www.w3.org/2000/svg", "svg"),
    began: element("span"),
    rows: element("tbody"),
    config: element("p", { className: "soft" }),
    row: null, before: null, seen: 0,
  };
  card.near.after(card.counted);
  for (const [action, label, effect] of ACTIONS) {
    const button = element("button", { textContent: label, title: effect, type: "button", "aria-label": label + " " + name });
    button.addEventListener("click", () => give(card.row, button.dataset.action || action, effect));
    card[action] = button;
    card.actions.append(button);
  }
  card.fleet = element("button", { title: "for all processes of the fleet", type: "button", hidden: true });
  card.fleet.addEventListener("click", () => giveToFleet(card.row));
  card.actions.append(card.fleet);
  for (const [attribute, value] of Object.entries({ class: "timeline", viewBox: "0 0 1000 10", preserveAspectRatio: "none", role: "img" }))
    card.timeline.setAttribute(attribute, value);
  const head = element("tr");
  for (const column of ["when", "from", "to", "why", "reason", "generation"])
    head.append(element("th", { textContent: column, scope: "col" }));
  card.root = element("article", { "aria-labelledby": heading },
    element("div", { className: "head" }, element("h2", { textContent: name, id: heading, dir: "auto" }),
      card.phase, card.left, card.age, card.actions),
    figures, card.timeline,
    element("div", { className: "axis" }, card.began, element("span", { textContent: "now" })),
    element("details", {}, element("summary", { textContent: "transitions and configuration" }), card.config,
      element("table", {}, element("thead", {}, head), card.rows)));
  return card;
}

// Every setting that is sent, so that none can be forgotten here.
function listed(settings, under = "") {
  return Object.entries(settings).flatMap(([name, value]) =>
    value === null ? [] : name === "opening" ? listed(value)
    : "of" in Object(value) ? [under + name + ": " + 100 * value.parts / value.of + " % of at least " + value.min_calls]
    : typeof value === "object" ? listed(value, name + " ")
    : [under + words(name.replace(/_ms$/, "")) + ": " + (name.endsWith("_ms") ? duration(value) : value)]);
}

function drawTimeline({ timeline: svg, began }, row, now) {
  const span = Math.min(SPAN_MS.most, Math.max(SPAN_MS.least, now - row.watched_since_ms));
  const start = now - span, spans = [], shares = {};
  began.textContent = duration(span) + " ago";
  // Before it was watched, and before the oldest of so many transitions, nothing is known.
  const known = row.recent.length < KEPT ? row.watched_since_ms : row.recent[0].time_ms;
  let phase = row.recent.length ? row.recent[0].from : row.phase, since = Math.max(start, known);
  for (const change of row.recent) {
    if (change.time_ms > since) spans.push([phase, since, change.time_ms]);
    phase = change.to; since = Math.max(since, change.time_ms);
  }
  spans.push([phase, since, now]);
  for (const [phase, from, to] of spans) shares[phase] = (shares[phase] || 0) + (to - from) / span;
  svg.setAttribute("aria-label", "the last " + duration(span) + ": "
    + Object.entries(shares).map(([phase, share]) => words(phase) + " " + (100 * share).toFixed(0) + " %").join(", "));
  svg.replaceChildren(...spans.map(([phase, from, to]) => {
    const rect = document.createElementNS(svg.namespaceURI, "rect");
    const x = 1000 * (from - start) / span;
    rect.setAttribute("x", x);
    rect.setAttribute("width", Math.max(1, 1000 * (to - start) / span - x));
    rect.setAttribute("height", 10);
    rect.setAttribute("data-phase", phase);
    const title = document.createElementNS(svg.namespaceURI, "title");
    title.textContent = words(phase) + " from " + clock(from) + " to " + clock(to);
    rect.append(title);
    return rect;
  }));
}

function fleetNotes(shared) {
  const notes = [];
  if (shared.finding) notes.push("the fleet found it broken, "
    + (shared.finding.is_holder ? "this process" : "another process") + " probes in " + duration(shared.finding.left_ms));
  if (shared.votes_for_ms !== null) notes.push("votes for " + duration(shared.votes_for_ms));
  if (shared.order) notes.push("ordered to " + shared.order.action + " for " + duration(shared.order.left_ms)
    + ": " + shown(shared.order.reason));
  return notes;
}

// How near a trip is, by what is nearest, and what was counted.
function showNearness(card, { failed, slow }) {
  const shares = [failed, slow].filter(Boolean).map(it => it.share_ppm);
  card.near.textContent = shares.length ? percent(Math.max(...shares), 1e6) : "–";
  const counted = { count: it => it.bad + " of " + it.limit, rate: it => it.bad + " of " + it.calls + " calls" };
  const said = (it, what) => it && it.kind in counted ? [counted[it.kind](it) + " " + what] : [];
  card.counted.textContent = [...said(failed, "failed"), ...said(slow, "slow")].join(", ");
}

function notesOf(row) {
  const notes = [], last = row.recent.at(-1);
  if (row.time_left_ms > 0) notes.push((row.phase === "open" ? "probes in " : "ends in ") + duration(row.time_left_ms));
  else if (row.phase === "open") notes.push("the next call is a probe");
  if (row.in_flight > 0) notes.push(row.in_flight + " probes in flight");
  if (row.streak > 0 && row.phase !== "closed") notes.push(row.streak + 1 + " trips in a row");
  if (row.in_shadow) notes.push("in shadow: rejects nothing");
  if (last && last.to === row.phase && ["isolated", "disabled"].includes(row.phase))
    notes.push("since " + clock(last.time_ms) + (last.reason ? ": " + shown(last.reason) : ""));
  return row.fleet ? notes.concat(fleetNotes(row.fleet)) : notes;
}

function show(card, row, now, allowsChanges, fleet) {
  const isNew = card.row === null || card.drawn !== row.version;
  card.row = row; card.seen = performance.now(); card.drawn = row.version;
  card.root.dataset.phase = row.phase;
  card.phase.textContent = words(row.phase);
  card.left.textContent = notesOf(row).join(" · ");
  card.fleet.hidden = !row.fleet || !fleet.allows_orders;
  card.fleet.textContent = row.fleet && row.fleet.order ? "Withdraw order" : "Order…";
  card.actions.hidden = !allowsChanges;
  card.shadow.dataset.action = row.in_shadow ? "end_shadow" : "shadow";
  card.shadow.textContent = row.in_shadow ? "End shadow" : "Shadow";
  card.shadow.setAttribute("aria-label", card.shadow.textContent + " " + title(row.name));

  const calls = total(row.counts.calls), rejected = total(row.counts.rejections);
  if (card.before) {
    const seconds = Math.max(.001, (now - card.before.now) / 1000);
    const made = row.counts.calls, was = card.before.calls;
    const bad = counts => counts.failure + counts.slow_failure, late = counts => counts.slow + counts.slow_failure;
    const all = counts => counts.success + counts.slow + bad(counts), judged = all(made) - all(was);
    card.calls.textContent = perSecond((calls - total(was)) / seconds);
    card.failed.textContent = percent(bad(made) - bad(was), judged);
    card.slow.textContent = percent(late(made) - late(was), judged);
    card.rejected.textContent = perSecond((rejected - card.before.rejected) / seconds);
  }
  card.before = { now, calls: row.counts.calls, rejected };
  drawTimeline(card, row, now);
  if (!isNew) return;
  card.all.textContent = calls.toLocaleString();
  showNearness(card, row.evidence);
  card.trips.textContent = row.counts.trips.toLocaleString();
  card.config.textContent = listed(row.settings).join(" · ");
  card.rows.replaceChildren(...row.recent.toReversed().map(change => element("tr", {},
    ...[clock(change.time_ms), words(change.from), words(change.to), words(change.cause), shown(change.reason || ""), change.generation]
      .map(text => element("td", { textContent: text })))));
}

// How old the card is, so that nobody takes what was for what is.
function showAge(card) {
  const age = performance.now() - card.seen;
  card.age.textContent = age < FRESH_MS ? "" : Math.floor(age / 1000) + " s old";
  card.root.classList.toggle("stale", age >= STALE_MS);
}
