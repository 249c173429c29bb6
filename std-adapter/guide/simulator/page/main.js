"use strict";
// Ties the page together: the link, the scene, and a loop that goes on with it while it draws.

(async () => {
  const { word, number, duration } = Words;
  const element = id => document.getElementById(id);
  Words.apply();
  element("language").textContent = word("otherLanguage");
  element("language").addEventListener("click", () => Words.turn(scene ? address() : location.href));
  element("message").textContent = word("working");

  let engine;
  try {
    engine = await Engine.start();
  } catch (error) {
    element("refusal").textContent = word("broken", { why: error.message });
    element("message").textContent = "";
    return;
  }

  /** The scene as the simulator tells it, and how far it is. */
  let scene = null, progress = null;
  let isPlaying = true, speed = 0, targetUs = 0, lastFrame = null, isAwake = false;
  let cursor = null;

  // --- the loop -------------------------------------------------------------

  /** Calls for one frame: as many as take about eight milliseconds here. */
  let most = 5_000;

  /** There is something to draw. A page where nothing moves does nothing. */
  function wake() {
    if (isAwake) return;
    isAwake = true;
    requestAnimationFrame(frame);
  }

  function frame(now) {
    isAwake = false;
    const passedMs = lastFrame === null ? 0 : Math.min(now - lastFrame, 100);
    lastFrame = now;
    if (isPlaying && !progress.is_over) {
      targetUs = speed === 0 ? scene.lengthUs : Math.min(targetUs + passedMs * 1000 * speed, scene.lengthUs);
      const begun = performance.now();
      progress = engine({ advance: { until_us: targetUs, most } }).progress;
      const factor = 8 / Math.max(performance.now() - begun, 0.1);
      most = Math.round(Math.min(Math.max(most * Math.min(Math.max(factor, 0.5), 2), 500), 200_000));
      // Where this machine can't keep up, the scene goes on from where it is.
      targetUs = progress.now_us;
    }
    draw();
    if (isPlaying && !progress.is_over) wake();
  }

  let toldAt = 0;

  function draw() {
    Chart.outage(element("outage-canvas"), scene, cursor);
    progress.lanes.forEach((lane, index) => {
      const canvas = element(`lane-${index}`);
      Chart.lane(canvas, lane, progress.now_us, scene.lengthUs);
      element(`phase-${index}`).textContent = word(lane.phase);
      const { good, bad, saved, lost } = lane.tally;
      const parts = { lane: "AB"[index], phase: word(lane.phase), good, bad, saved, lost };
      canvas.setAttribute("aria-label", word("laneLabel", parts));
    });
    // Nobody reads figures that change sixty times a second.
    if (progress.is_over || !isPlaying || performance.now() - toldAt > 150) {
      toldAt = performance.now();
      Figures.show(document.querySelector("#figures tbody"), progress.lanes);
      Figures.trips(element("trips"), progress.lanes);
    }
    element("play").textContent = word(isPlaying && !progress.is_over ? "pause" : "play");
    document.body.dataset.state = progress.is_over ? "over" : isPlaying ? "playing" : "paused";
    document.body.dataset.nowUs = progress.now_us;
  }

  // --- the scene --------------------------------------------------------------

  /** Gives the simulator an order; shows the scene that it answers with, or why there is none. */
  function ask(order, quiet = false) {
    const answer = engine(order);
    if (answer.refused) {
      if (!quiet) Refusals.show(element("refusal"), answer.refused);
      // Controls go back to what holds.
      if (!quiet && scene) show(scene);
      return answer.refused;
    }
    Refusals.show(element("refusal"), null);
    begin(answer.scene);
    return null;
  }

  const address = () => new URL(`#${scene.link}`, location.href).href;

  /** Browsers refuse to change the address as often as an outage is drawn on. */
  let keeping = 0;
  function keepLink() {
    clearTimeout(keeping);
    keeping = setTimeout(() => history.replaceState(null, "", address()), 200);
  }

  function begin(now) {
    scene = now;
    scene.lengthUs = now.numbers.find(one => one.name === "length_s").value * 1e6;
    targetUs = 0;
    progress = engine({ advance: { until_us: 0, most: 0 } }).progress;
    keepLink();
    element("preset").value = presets.find(name => links.get(name) === scene.link) ?? "";
    show(scene);
  }

  const showNumbers = Controls.numbers(ask);
  const showSetups = [0, 1].map(lane => Controls.setup(element(`setup-${lane}`), lane, ask, save, copy));
  Words.apply();

  function show(now) {
    showNumbers(now.numbers);
    element("outage").value = now.outage;
    element("fails").value = now.fails;
    element("fails").disabled = ["none", "dead", "hanging"].includes(now.outage);
    element("link").value = address();
    now.setups.forEach((setup, lane) => showSetups[lane](setup));
    wake();
  }

  // --- the bar -----------------------------------------------------------------

  const presets = engine("presets").presets;
  const links = new Map(presets.map(name => [name, engine({ load: { link: `preset=${name}` } }).scene.link]));
  Controls.options(element("preset"), ["", ...presets], name => word(name || "ownScene"));
  element("preset").addEventListener("change", event => {
    if (event.target.value) ask({ load: { link: `preset=${event.target.value}` } });
  });
  Controls.options(element("speed"), [0, 1, 5, 20], times => times === 0 ? word("fast") : `${times} ×`);
  element("speed").addEventListener("change", event => { speed = Number(event.target.value); });
  element("play").addEventListener("click", () => {
    if (progress.is_over) ask("restart"), isPlaying = true;
    else isPlaying = !isPlaying;
    wake();
  });
  element("restart").addEventListener("click", () => { ask("restart"); isPlaying = true; });
  const outages = ["none", "dead", "hanging", "half", "flapping", "recovering", "drawn"];
  Controls.options(element("outage"), outages, name => word(name === "recovering" ? "recoveringOutage" : name));
  element("outage").addEventListener("change", event => ask({ outage: { name: event.target.value } }));
  Controls.options(element("fails"), ["error", "hang"]);
  element("fails").addEventListener("change", event => ask({ fails: { name: event.target.value } }));
  element("scene").addEventListener("submit", event => event.preventDefault());

  async function copy(field, told) {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
    } catch {
      // Not allowed here: what is selected can be copied the old way.
      document.execCommand("copy");
    }
    element("message").textContent = word(told);
  }

  element("copy").addEventListener("click", () => copy(element("link"), "copied"));

  function save(file, parts) {
    const address = URL.createObjectURL(new Blob(parts, { type: "text/plain" }));
    Object.assign(document.createElement("a"), { href: address, download: file }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
    element("message").textContent = word("saved", { file });
  }

  element("save-log").addEventListener("click", () => {
    const parts = [];
    for (;;) {
      const answer = engine({ log: { most: 20_000 } });
      if (answer.refused) {
        Refusals.show(element("refusal"), answer.refused);
        return;
      }
      if (answer.log === "") break;
      parts.push(answer.log);
    }
    save("calls.csv", parts);
  });

  // --- drawing the outage ---------------------------------------------------------

  const board = element("outage-canvas");
  board.setAttribute("aria-label", word("outageLabel"));
  let stroke = null;

  function placeOf(event) {
    const box = board.getBoundingClientRect(), top = 16;
    const x = (event.clientX - box.left) / box.width * 1000;
    const y = 1000 - (event.clientY - box.top - top) / (box.height - top) * 1000;
    return [x, y].map(number => Math.min(Math.max(number, 0), 999.9));
  }

  board.addEventListener("pointerdown", event => {
    board.setPointerCapture(event.pointerId);
    stroke = placeOf(event);
    ask({ draw: { from: stroke, to: stroke } });
  });
  board.addEventListener("pointermove", event => {
    if (stroke === null) return;
    const to = placeOf(event);
    ask({ draw: { from: stroke, to } });
    stroke = to;
  });
  for (const end of ["pointerup", "pointercancel"]) board.addEventListener(end, () => { stroke = null; });

  const PART = 1000 / 120, STEP = 50;
  board.addEventListener("keydown", event => {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1], Home: [-120, 0], End: [120, 0] };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    const part = Math.min(Math.max(Math.floor((cursor ?? 0) / PART) + move[0], 0), 119);
    cursor = (part + 0.5) * PART;
    const share = () => scene.severity[Math.floor(cursor / 1000 * scene.severity.length)];
    if (move[1] !== 0) {
      const place = [cursor, Math.min(Math.max(share() + move[1] * STEP, 0), 1000)];
      ask({ draw: { from: place, to: place } });
    }
    board.setAttribute("aria-valuenow", share() / 10);
    const parts = { share: number(share() / 10), time: duration(cursor / 1000 * scene.lengthUs) };
    board.setAttribute("aria-valuetext", word("atMoment", parts));
    wake();
  });
  board.addEventListener("blur", () => { cursor = null; wake(); });

  // --- begin --------------------------------------------------------------------

  Chart.legend(element("legend"));
  new ResizeObserver(wake).observe(element("stage"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", wake);
  function load() {
    const wanted = new URLSearchParams(location.search).get("preset") ?? presets[0];
    const refused = ask({ load: { link: location.hash.slice(1) || `preset=${wanted}` } });
    if (!refused) return;
    // The link stays in the address; what is wrong with it stands above the first preset.
    if (!scene) begin(engine({ load: { link: `preset=${presets[0]}` } }).scene);
    clearTimeout(keeping);
    Refusals.show(element("refusal"), refused);
  }
  window.addEventListener("hashchange", () => { if (location.hash.slice(1) !== scene.link) load(); });
  load();
  element("message").textContent = "";
})();
