// Reads one dump over and over in the page's own wasm, in Chromium, and prints the shortest time of a reading in microseconds.
// `cargo xtask bench-wasm` runs it beside analyzer-core/examples/read_rounds.rs, which does the same without a browser.

import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { test } from "node:test";

import { DIST, openPage, serve } from "./harness.js";

// Readings timed together, since the browser's clock is coarse, and how often.
const TOGETHER = 4;
const ROUNDS = 200;

test("read a dump in the page", async (t) => {
  const bytes = await readFile(process.env.HANGSCOPE_DUMP);
  const glue = (await readdir(DIST)).find((name) => /^hangscope-web-.*\.js$/.test(name));
  const { page } = await openPage(t, await serve(t));
  const { microseconds, entries } = await page.evaluate(
    async ({ base64, glue, together, rounds }) => {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const { default: load, read_once: readOnce } = await import(`./${glue}`);
      await load();
      let entries = 0;
      let best = Infinity;
      for (let round = 0; round < rounds; round += 1) {
        const started = performance.now();
        for (let time = 0; time < together; time += 1) {
          entries = readOnce(bytes);
        }
        best = Math.min(best, (performance.now() - started) / together);
      }
      return { microseconds: best * 1000, entries };
    },
    { base64: bytes.toString("base64"), glue, together: TOGETHER, rounds: ROUNDS },
  );
  assert.ok(entries > 0, "no dump was read");
  console.log(`microseconds: ${microseconds.toFixed(1)}`);
});
