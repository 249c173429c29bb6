"use strict";
// The simulator itself, compiled to WebAssembly: orders in, answers out. Every rule is in there.

const Engine = (() => {
  async function module() {
    if (location.protocol !== "file:") {
      const response = await fetch("simulator.wasm");
      if (!response.ok) throw new Error(`simulator.wasm: ${response.status}`);
      return response.arrayBuffer();
    }
    // A page that is opened as a file may load scripts but fetch nothing.
    await new Promise((loaded, failed) => {
      const script = document.createElement("script");
      Object.assign(script, { src: "simulator.wasm.js", onload: loaded, onerror: () => failed(new Error(script.src)) });
      document.head.append(script);
    });
    return Uint8Array.from(atob(SIMULATOR_WASM), letter => letter.charCodeAt(0));
  }

  /** Starts the simulator; gives a function from an order to the content of its answer. */
  async function start() {
    // It imports nothing: no clock, no random numbers, no network.
    const { instance } = await WebAssembly.instantiate(await module(), {});
    const { memory, simulator_new, simulator_room, simulator_ask, simulator_answer } = instance.exports;
    const booth = simulator_new();
    if (booth === 0) throw new Error("the simulator did not start");
    const encoder = new TextEncoder(), decoder = new TextDecoder();
    return order => {
      const text = encoder.encode(JSON.stringify(order));
      const room = simulator_room(booth, text.length);
      new Uint8Array(memory.buffer, room, text.length).set(text);
      const length = simulator_ask(booth);
      const answer = new Uint8Array(memory.buffer, simulator_answer(booth), length);
      return JSON.parse(decoder.decode(answer));
    };
  }

  return { start };
})();
