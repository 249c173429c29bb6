"use strict";
// Draws the outage and what becomes of the calls. It is told every number; it decides none.

const Chart = (() => {
  const color = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

  /** A canvas as wide as it is shown, sharp on every screen. */
  function begin(canvas) {
    const scale = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    return { pen, width, height };
  }

  /** Lines at round times; their labels stand in the upper picture only. */
  function times({ pen, width, height }, lengthUs, labelled) {
    const step = [1, 2, 5, 10, 20, 30, 60, 120, 300].find(seconds => lengthUs / 1e6 / seconds <= width / 70) ?? 600;
    pen.fillStyle = color("faint");
    pen.strokeStyle = color("line");
    pen.font = "11px system-ui, sans-serif";
    pen.lineWidth = 1;
    for (let second = step; second * 1e6 < lengthUs; second += step) {
      const x = Math.round(second * 1e6 / lengthUs * width) + 0.5;
      pen.beginPath();
      pen.moveTo(x, 0);
      pen.lineTo(x, height);
      pen.stroke();
      if (labelled) pen.fillText(Words.duration(second * 1e6), x + 3, 11);
    }
  }

  function outage(canvas, scene, cursor) {
    const board = begin(canvas), { pen, width, height } = board;
    const severity = scene.severity, lengthUs = scene.lengthUs;
    times(board, lengthUs, true);
    pen.fillStyle = color("outage");
    pen.strokeStyle = color("bad");
    pen.lineWidth = 2;
    pen.beginPath();
    pen.moveTo(0, height);
    severity.forEach((permille, point) => {
      const y = height - permille / 1000 * (height - 16);
      pen.lineTo(point / severity.length * width, y);
      pen.lineTo((point + 1) / severity.length * width, y);
    });
    pen.lineTo(width, height);
    pen.fill();
    pen.stroke();
    if (cursor !== null) {
      pen.fillStyle = color("accent");
      pen.fillRect(cursor / 1000 * width, 0, 2, height);
    }
  }

  /** How high a phase stands in the strip, so that it can be told apart without its color. */
  const HEIGHTS = { closed: 0.2, recovering: 0.45, half_open: 0.7, open: 1, isolated: 1 };
  const STRIP = 22;

  function strip(pen, width, changes, nowUs, lengthUs) {
    let fromUs = 0, phase = "closed";
    const draw = toUs => {
      const x = fromUs / lengthUs * width, tall = STRIP * HEIGHTS[phase];
      pen.fillStyle = color(phase);
      pen.fillRect(x, STRIP - tall, Math.max((toUs - fromUs) / lengthUs * width, 1), tall);
    };
    for (const change of changes) {
      draw(Math.min(change.at_us, lengthUs));
      [fromUs, phase] = [change.at_us, change.to];
    }
    if (fromUs < nowUs) draw(nowUs);
  }

  function lane(canvas, view, nowUs, lengthUs) {
    const board = begin(canvas), { pen, width, height } = board;
    times(board, lengthUs, false);
    const top = STRIP + 6, room = height - top;
    const most = Math.max(1, ...view.parts.map(part => part[0] + part[1] + part[2] + part[3]));
    const columns = ["good", "bad", "saved", "lost"].map(color);
    const wide = width / view.parts.length;
    view.parts.forEach((part, index) => {
      let y = height;
      part.forEach((count, column) => {
        const tall = count / most * room;
        pen.fillStyle = columns[column];
        pen.fillRect(index * wide, y - tall, Math.max(wide, 1), tall);
        y -= tall;
      });
    });
    strip(pen, width, view.changes, nowUs, lengthUs);
    pen.fillStyle = color("accent");
    pen.fillRect(Math.min(nowUs / lengthUs * width, width - 2), 0, 1.5, height);
  }

  function legend(list) {
    const entries = [
      ["good", "good"], ["bad", "bad"], ["saved", "savedCalls"], ["lost", "lostCalls"],
      ["open", "open"], ["half_open", "half_open"], ["recovering", "recovering"], ["isolated", "isolated"],
    ];
    list.replaceChildren(...entries.map(([name, key]) => {
      const entry = document.createElement("li"), mark = document.createElement("i");
      mark.style.background = `var(--${name})`;
      entry.append(mark, Words.word(key));
      return entry;
    }));
  }

  return { outage, lane, legend };
})();
