import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage, serve } from "./harness.js";

test("the page boots in a sub-path, its worker too, from its own files alone", async () => {
  const server = await serve();
  const { page, requests, close } = await openPage(server.url);
  await page.locator('#worker[data-state="ready"]').waitFor();
  if (process.env.SHOT) await page.screenshot({ path: process.env.SHOT });
  assert.ok(requests.length >= 5, requests.join("\n"));
  await close();
  await server.close();
});

test("the browser lets neither the page nor a worker reach another host", async () => {
  const server = await serve();
  const { page, problems, foreign, close } = await openPage(server.url);
  const reach = `fetch("http://192.0.2.1/").then(() => "reached", () => "refused")`;
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
  problems.length = 0; // The refusals are what this test wants.
  await close();
  await server.close();
});
