// Asks again and again for the breakers of one page, and gives orders.

// Without what a user and a password in the address may be.
const base = location.origin + location.pathname.replace(/\/$/, "");
const EVERY_MS = 1000, LONGEST_PAUSE_MS = 5000, PATIENCE_MS = 10000;
const byId = id => document.getElementById(id);
// By their numbers: what the server said of each breaker that is shown, and its card.
const rows = new Map(), cards = new Map();
let page = 1, asked = 0, rejecting = null, isLost = false;

// The token never is in an address, where logs would have it.
async function ask(path, options = {}) {
  const headers = { "nanobreaker-token": byId("token").value, ...options.headers };
  const answer = await fetch(base + path, { ...options, headers, signal: AbortSignal.timeout(PATIENCE_MS) });
  const said = await answer.json();
  if (answer.ok) return said;
  const error = new Error(said.error);
  error.status = answer.status;
  throw error;
}

async function fetchPage() {
  const part = new URLSearchParams({ filter: byId("filter").value, page });
  const known = [...rows.values()].map(row => row.version).join(",");
  return ask("/api/breakers?" + part, known ? { headers: { "nanobreaker-known": known } } : {});
}

// Only what changed was sent.
function learn(sent) {
  const before = rows.get(sent.id), isNew = sent.settings !== undefined;
  const recent = (isNew ? [] : before.recent).concat(sent.recent || []).slice(-KEPT);
  const row = { ...before, ...sent, recent };
  rows.set(sent.id, row);
  return row;
}

// Puts the cards in the order of the answer; what has the focus keeps it.
function arrange(breakers) {
  const kept = new Set(breakers.map(row => row.id));
  for (const [id, card] of cards) if (!kept.has(id)) { card.root.remove(); cards.delete(id); rows.delete(id); }
  const focused = document.activeElement, main = byId("breakers");
  breakers.forEach((row, place) => {
    const { root } = cards.get(row.id);
    if (main.children[place] !== root) main.insertBefore(root, main.children[place] || null);
  });
  if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
}

// Heard by those who can't see the page, so only what matters: how many reject, and whether it is known.
function tellNews(overview) {
  if (rejecting !== overview.rejecting || isLost)
    byId("news").textContent = overview.rejecting + " of " + overview.watched + " breakers reject calls";
  rejecting = overview.rejecting; isLost = false;
}

// One line of what the fleet knows; its findings and orders stand at the breakers.
function showFleet(fleet) {
  const line = byId("fleet");
  line.hidden = !fleet;
  if (!fleet) return;
  const heard = fleet.heard_ago_ms === null ? "never heard" : "heard " + duration(fleet.heard_ago_ms) + " ago";
  line.textContent = "Fleet " + shown(fleet.group) + ": "
    + (fleet.is_together ? "together" : "alone since " + clock(fleet.alone_since_ms)) + ", " + heard
    + " · findings in force: " + fleet.findings + " · votes of this process: " + fleet.votes
    + " · orders: " + fleet.orders;
}

function showPages({ page: there, pages, found }) {
  page = there;
  byId("pages").hidden = pages === 1;
  byId("place").textContent = "page " + page + " of " + pages + ", " + found.toLocaleString() + " breakers";
  byId("before").disabled = page === 1;
  byId("after").disabled = page === pages;
}

function showAll(overview) {
  const { now_ms, allows_changes, fleet, breakers } = overview;
  for (const sent of breakers) {
    const row = learn(sent);
    if (!cards.has(row.id)) cards.set(row.id, makeCard(row, give, giveToFleet));
    show(cards.get(row.id), row, now_ms, allows_changes, fleet);
  }
  arrange(breakers);
  showFleet(fleet);
  showPages(overview);
  tellNews(overview);
  if (allows_changes) byId("login").hidden = false;
  const status = byId("status");
  status.textContent = overview.watched.toLocaleString() + " watched, " + overview.rejecting.toLocaleString() + " rejecting · " + clock(now_ms);
  status.className = "";
}

async function update() {
  const mine = ++asked;
  try {
    const overview = await fetchPage();
    // Somebody asked again meanwhile, maybe for another page.
    if (mine === asked) showAll(overview);
  } catch (error) {
    if (mine !== asked) return;
    const isSecret = error.status === 401 || error.status === 403;
    if (isSecret) byId("login").hidden = false;
    // The server may have another memory than this page.
    if (error.status === 400) rows.clear();
    const since = isLost ? byId("status").dataset.since : clock(Date.now());
    byId("status").dataset.since = since;
    byId("status").textContent = isSecret ? "a token is needed to look: " + error.message : "no answer since " + since + ": " + error.message;
    byId("status").className = "lost";
    if (!isLost) byId("news").textContent = byId("status").textContent;
    isLost = true;
  }
  cards.forEach(showAge);
}

// Asks what an order is for, and who gives it.
function confirm(question, effect, label, isForFleet, then) {
  const dialog = byId("ask");
  byId("question").textContent = question;
  byId("effect").textContent = effect;
  byId("confirm").textContent = label;
  byId("for-fleet").hidden = !isForFleet;
  byId("reason").value = "";
  dialog.querySelector("form").onsubmit = event => {
    event.preventDefault();
    dialog.close();
    then(byId("reason").value.trim());
  };
  dialog.showModal();
  (isForFleet ? byId("what") : byId("reason")).focus();
}

function give(row, action, effect) {
  const order = { breaker: row.name, id: row.id, action };
  if (action !== "isolate" && action !== "disable") return send("/api/change", order);
  const label = action === "isolate" ? "Isolate" : "Disable";
  confirm(label + " " + title(row.name) + "?", effect, label, false, reason => send("/api/change", { ...order, reason }));
}

function giveToFleet(row) {
  if (row.fleet.order) return send("/api/order", { breaker: row.name, action: "withdraw" });
  confirm("Order all of the fleet about " + title(row.name), "Every process of the fleet obeys until the time is over.", "Order", true,
    reason => send("/api/order", { breaker: row.name, action: byId("what").value, seconds: 60 * byId("minutes").valueAsNumber, reason }));
}

async function send(path, order) {
  const message = byId("message"), name = title(order.breaker);
  try {
    const said = await ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(order) });
    message.className = "";
    message.textContent = name + ": " + words(order.action)
      + (said.changed === false ? " – it was so already" : said.phase ? " – now " + words(said.phase) : " – ordered");
  } catch (error) {
    message.className = "refused";
    message.textContent = name + ": " + shown(error.message);
  }
  update();
}

function turn(pages) {
  page += pages;
  update().then(() => scrollTo(0, 0));
}

byId("filter").addEventListener("input", () => { page = 1; update(); });
byId("token").addEventListener("change", update);
byId("before").addEventListener("click", () => turn(-1));
byId("after").addEventListener("click", () => turn(1));
byId("cancel").addEventListener("click", () => byId("ask").close());
document.addEventListener("keydown", event => {
  if (event.key !== "/" || event.target.matches("input, select") || byId("ask").open) return;
  event.preventDefault();
  byId("filter").focus();
});
setInterval(() => cards.forEach(showAge), EVERY_MS);
(async () => {
  for (;;) {
    const began = performance.now();
    // A page that nobody sees asks for nothing.
    if (!document.hidden) await update();
    const pause = Math.min(LONGEST_PAUSE_MS, Math.max(EVERY_MS, 4 * (performance.now() - began)));
    await new Promise(done => setTimeout(done, pause));
  }
})();
