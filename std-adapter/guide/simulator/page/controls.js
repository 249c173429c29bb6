"use strict";
// The controls: they show what the simulator says the scene is, and pass on what is changed.

const Controls = (() => {
  const { word } = Words;

  /** How a unit is shown: its name, and how many of the simulator's units one shown unit is. */
  const UNITS = {
    ms: ["ms", 1], s: ["s", 1], ppm: ["percent", 10_000], permille: ["permille", 1], percent: ["percent", 1],
    count: ["count", 1], switch: ["switch", 1], perSecond: ["perSecond", 1],
  };
  const UNIT_OF_NUMBER = {
    length_s: "s", rate: "perSecond", latency_ms: "ms", timeout_ms: "ms", background_ppm: "ppm", burst_every_s: "s",
    burst_size: "count", outage_from_s: "s", outage_for_s: "s", share_percent: "percent", period_ms: "ms", seed: "count",
  };
  const OUTAGE_NUMBERS = ["outage_from_s", "outage_for_s", "share_percent", "period_ms"];
  /** A key that has another meaning elsewhere on the page. */
  const labelOf = key => word(key === "broken" ? "broken_rate" : key);

  /** Where a slider can stand: at numbers of two digits, so that each press of a key is another one. */
  function places({ least, most }) {
    const values = [];
    for (let value = least; value < most;) {
      values.push(value);
      const step = 10 ** Math.max(String(value).length - 2, 0);
      value = (Math.floor(value / step) + 1) * step;
    }
    return [...values, most];
  }

  let numberOfSliders = 0;

  /** A slider with a field for the exact value; `change` is told the simulator's number. */
  function slider(key, unit, range, change) {
    const box = document.createElement("div"), id = `slider-${numberOfSliders += 1}`;
    const [unitWord, size] = UNITS[unit], values = places(range);
    box.className = "slider";
    box.dataset.key = key;
    const label = Object.assign(document.createElement("label"), { htmlFor: id, textContent: labelOf(key) });
    const handle = Object.assign(document.createElement("input"), { type: "range", min: 0, max: values.length - 1, step: 1 });
    const field = Object.assign(document.createElement("input"), { type: "number", id, step: "any" });
    handle.setAttribute("aria-label", labelOf(key));
    const name = Object.assign(document.createElement("span"), { className: "unit", textContent: word(unitWord) });
    handle.addEventListener("input", () => {
      const value = values[handle.value];
      field.value = value / size;
      change(value);
    });
    // Rounded, since 0.1 % times 10,000 is not quite a whole number.
    field.addEventListener("change", () => change(Math.round(Number(field.value) * size * 1e6) / 1e6));
    box.append(label, handle, field, name);
    return {
      box,
      show({ value }) {
        field.value = value / size;
        if (document.activeElement !== handle) handle.value = values.findLastIndex(place => place <= value);
        handle.setAttribute("aria-valuetext", `${value / size} ${word(unitWord)}`);
      },
    };
  }

  function checkbox(key, change) {
    const box = Object.assign(document.createElement("label"), { className: "row" });
    const mark = Object.assign(document.createElement("input"), { type: "checkbox" });
    box.dataset.key = key;
    const name = Object.assign(document.createElement("span"), { textContent: labelOf(key) });
    mark.addEventListener("change", () => change(Number(mark.checked)));
    box.append(name, mark);
    return { box, show: now => { mark.checked = now.value !== 0; } };
  }

  function options(select, values, name = value => word(value)) {
    select.replaceChildren(...values.map(value => new Option(name(value), value)));
  }

  /** The scene's numbers; gives what shows them. */
  function numbers(ask) {
    const shown = new Map();
    return list => {
      for (const now of list) {
        if (!shown.has(now.name)) {
          const change = value => ask({ number: { name: now.name, value } });
          const made = slider(now.name, UNIT_OF_NUMBER[now.name], now, change);
          const place = OUTAGE_NUMBERS.includes(now.name) ? "outage-numbers" : "traffic";
          document.getElementById(place).append(made.box);
          shown.set(now.name, made);
        }
        shown.get(now.name).show(now);
      }
    };
  }

  /** One breaker's settings; gives what shows them. */
  function setup(form, lane, ask, save, copy) {
    form.append(document.getElementById("setup-template").content.cloneNode(true));
    const find = selector => form.querySelector(selector);
    const letter = "AB"[lane];
    find("legend").textContent = word("breaker", { lane: letter });
    form.setAttribute("aria-label", word("breaker", { lane: letter }));
    const kind = find(".kind"), text = find("textarea"), refusal = find(".refusal"), place = find(".sliders");
    options(kind, ["failures", "consecutive", "calls", "time", "cusum"]);
    form.addEventListener("submit", event => event.preventDefault());

    const tell = order => {
      const refused = ask(order);
      Refusals.show(refusal, refused);
      return refused;
    };
    kind.addEventListener("change", () => tell({ kind: { lane, name: kind.value } }));
    let typing = 0;
    text.addEventListener("input", () => {
      clearTimeout(typing);
      typing = setTimeout(() => {
        Refusals.show(refusal, ask({ toml: { lane, text: text.value } }, true));
      }, 250);
    });
    find(".copy-toml").addEventListener("click", () => copy(text, "copiedToml"));
    find(".save").addEventListener("click", () => save(`${letter.toLowerCase()}.toml`, [text.value]));

    let shown = new Map();
    return now => {
      kind.value = now.kind;
      if (text.value !== now.toml) text.value = now.toml;
      const keys = now.sliders.map(one => one.key);
      if (keys.join() !== [...shown.keys()].join()) {
        shown = new Map(now.sliders.map(one => {
          const { key, unit } = one, change = value => tell({ slide: { lane, key, value } });
          return [key, unit === "switch" ? checkbox(key, change) : slider(key, unit, one, change)];
        }));
        place.replaceChildren(...[...shown.values()].map(made => made.box));
      }
      for (const one of now.sliders) shown.get(one.key).show(one);
    };
  }

  return { numbers, setup, options };
})();
