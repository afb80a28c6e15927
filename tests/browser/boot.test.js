import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage, serve } from "./harness.js";

test("the page boots in a sub-path, from its own files alone", async (t) => {
  const url = await serve(t);
  const { page, requests } = await openPage(t, url);
  await page.locator("main").waitFor();
  // The index, the style, the script, the glue and the wasm.
  assert.ok(requests.length >= 5, requests.join("\n"));
});

test("the browser lets neither the page nor a worker reach another host", async (t) => {
  const url = await serve(t);
  const { page, problems, foreign } = await openPage(t, url);
  await page.locator("main").waitFor();
  const reach = `fetch("http://192.0.2.1/", { mode: "no-cors" }).then(() => "reached", () => "refused")`;
  assert.equal(await page.evaluate(reach), "refused");
  // The page's own workers come from a Blob, as this one does.
  const inWorker = await page.evaluate(`new Promise((done) => {
    const source = new Blob(['${reach}.then(postMessage)'], { type: "text/javascript" });
    const worker = new Worker(URL.createObjectURL(source), { type: "module" });
    worker.onmessage = ({ data }) => done(data);
    worker.onerror = ({ message }) => done(message);
  })`);
  assert.equal(inWorker, "refused");
  assert.deepEqual(foreign, []);
  problems.length = 0; // The refusals, which this test wants.
});
