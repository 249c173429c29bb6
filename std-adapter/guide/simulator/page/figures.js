"use strict";
// The figures and the trips, as tables.

const Figures = (() => {
  const { word, number, duration } = Words;
  const time = us => us === null ? word("never") : duration(us);

  /** Key of the label, where the value is, how it is shown, and whether less or more of it is better. */
  const ROWS = [
    ["figCalls", lane => lane.tally.calls, number, 0],
    ["figLost", lane => lane.tally.lost, number, -1],
    ["figSaved", lane => lane.tally.saved, number, 1],
    ["figBad", lane => lane.tally.bad, number, -1],
    ["figToTrip", lane => lane.time_to_trip_us, time, -1],
    ["figToClose", lane => lane.time_to_close_us, time, -1],
    ["figTrips", lane => lane.tally.trips, number, 0],
    ["figFalse", lane => lane.tally.trips_while_well, number, -1],
    ["figReopened", lane => lane.tally.reopenings, number, 0],
    ["figNotClosed", lane => lane.tally.not_closed_us, time, 0],
    ["figWaited", lane => lane.tally.waited_us, time, -1],
    ["figUnderWay", lane => lane.tally.most_under_way, number, -1],
  ];

  /** Which of two values is better: 0, 1 or neither. */
  function better([a, b], direction) {
    if (direction === 0 || a === b || a === null || b === null) return null;
    return (a < b) === (direction < 0) ? 0 : 1;
  }

  function show(body, lanes) {
    body.replaceChildren(...ROWS.map(([key, read, format, direction]) => {
      const row = document.createElement("tr");
      const head = Object.assign(document.createElement("th"), { scope: "row", textContent: word(key) });
      const values = lanes.map(read), best = better(values, direction);
      row.append(head, ...values.map((value, lane) => {
        const cell = document.createElement("td");
        cell.textContent = format(value);
        cell.className = lane === best ? "better" : "";
        cell.dataset.figure = key;
        cell.dataset.lane = lane;
        cell.dataset.value = value;
        return cell;
      }));
      return row;
    }));
  }

  function why(trip) {
    const { evidence, cause, while_well } = trip;
    const key = cause === "slow_threshold_reached" ? "evidenceSlow" : "evidence";
    const over = duration(evidence.over_ms * 1000);
    const told = word(key, { bad: number(evidence.bad), calls: number(evidence.calls), over });
    return while_well ? `${told}; ${word("whileWell")}` : told;
  }

  function tripRow(trip) {
    const closed = trip.closed_at_us === null ? word("notYet") : duration(trip.closed_at_us - trip.at_us);
    const cells = [
      duration(trip.at_us), why(trip), number(trip.reopenings), closed, number(trip.saved), number(trip.lost),
    ];
    const row = document.createElement("tr");
    row.append(...cells.map(text => Object.assign(document.createElement("td"), { textContent: text })));
    row.dataset.atUs = trip.at_us;
    return row;
  }

  const SHOWN = 10;

  function trips(place, lanes) {
    place.replaceChildren(...lanes.flatMap((lane, index) => {
      const title = document.createElement("h3");
      title.textContent = word("breaker", { lane: "AB"[index] });
      if (lane.trips.length === 0) {
        return [title, Object.assign(document.createElement("p"), { textContent: word("noTrips") })];
      }
      const table = document.createElement("table"), head = table.createTHead().insertRow();
      table.dataset.lane = index;
      for (const key of ["tripAt", "tripWhy", "tripReopened", "tripClosed", "tripSaved", "tripLost"]) {
        head.append(Object.assign(document.createElement("th"), { scope: "col", textContent: word(key) }));
      }
      table.createTBody().append(...lane.trips.slice(0, SHOWN).map(tripRow));
      const left = lane.tally.trips - Math.min(SHOWN, lane.trips.length);
      const more = Object.assign(document.createElement("p"), { textContent: word("moreTrips", { count: number(left) }) });
      return left > 0 ? [title, table, more] : [title, table];
    }));
  }

  return { show, trips };
})();
