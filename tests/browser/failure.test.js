import assert from "node:assert/strict";
import { readFileSync, readdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { ROOT, openPage, serve } from "./harness.js";
import { SKIPPED, drop, dropAnything, dumps, folderWith, headline } from "./page.js";

/** The first byte of a request: its place among the requests of the page's protocol. */
function requestByte(name) {
  const source = readFileSync(join(ROOT, "web/src/load/protocol.rs"), "utf8");
  const requests = source.slice(source.indexOf("enum Request {"), source.indexOf("enum Answer {"));
  const names = [...requests.matchAll(/^    ([A-Z]\w*)/gm)].map((match) => match[1]);
  assert.ok(names.includes(name), `no request ${name} among ${names}`);
  return names.indexOf(name);
}

/** Makes workers die that get a request of this name with `text` in it: all of them, or only the first. */
async function killWorkers(page, name, text, onlyFirst) {
  await page.evaluate(
    ([byte, text, onlyFirst]) => {
      const post = Worker.prototype.postMessage;
      let killed = 0;
      Worker.prototype.postMessage = function (message, ...rest) {
        const header = message[0] instanceof Uint8Array ? message[0] : new Uint8Array(message[0] ?? []);
        const isMeant = header[0] === byte && new TextDecoder().decode(header).includes(text);
        if (!isMeant || (onlyFirst && killed > 0)) {
          return post.call(this, message, ...rest);
        }
        killed += 1;
        // As the browser tells of it: later, and to the worker's own handler.
        setTimeout(() => this.dispatchEvent(new ErrorEvent("error", { message: "out of memory", cancelable: true })));
      };
    },
    [requestByte(name), text, onlyFirst],
  );
}

test("when the analysis does not fit into the browser, the page says so and names the command", async (t) => {
  const { page } = await openPage(t, await serve(t));
  await killWorkers(page, "Analyze", "", true);
  await dropAnything(page, dumps(SKIPPED));
  const alert = page.getByRole("alert");
  await alert.getByText("Out of memory").waitFor();
  await alert.getByText("hangscope analyze pickle").waitFor();

  await drop(page, dumps(SKIPPED));
  assert.match(await headline(page).textContent(), /^Rank 3 skipped/);
});

test("a reader that dies costs the file that it was at, and no other", async (t) => {
  const { page } = await openPage(t, await serve(t));
  await killWorkers(page, "ReadFile", "nccl_trace_rank_7", true);
  await drop(page, dumps(SKIPPED));
  assert.match(await headline(page).textContent(), /^Rank 3 skipped/);
  assert.match(await page.locator("header").textContent(), /7 of 8 ranks/);
  await page.getByRole("button", { name: /notes? on the data/ }).click();
  await page.getByRole("dialog").getByText(/out of memory/).waitFor();
});

test("a dump that the server does not give is listed", async (t) => {
  const { page, context, problems } = await openPage(t, await serve(t));
  await context.route("**/sample/nccl_trace_rank_7", (route) => route.fulfill({ status: 500 }));
  await page.getByRole("button", { name: "Open the sample job" }).click();
  await headline(page).waitFor();
  await page.getByRole("button", { name: /notes? on the data/ }).click();
  await page.getByRole("dialog").getByText(/status 500/).waitFor();
  problems.length = 0; // The refusal, which this test wants.
});

test("when the analysis dies later, the page says so at the next question", async (t) => {
  const { page } = await openPage(t, await serve(t));
  await drop(page, dumps(SKIPPED));
  await killWorkers(page, "Detail", "", false);
  await page.keyboard.press("n");
  await page.keyboard.press("ArrowLeft");
  await page.getByRole("alert").getByText("Out of memory").waitFor();
});

test("when the analysis dies while the report is written as JSON, the page says so", async (t) => {
  const { page } = await openPage(t, await serve(t));
  await drop(page, dumps(SKIPPED));
  await killWorkers(page, "ReportJson", "", false);
  await page.getByRole("button", { name: "Save JSON" }).click();
  await page.getByRole("alert").getByText("Out of memory").waitFor();
});

test("what a dead reader had gathered is read again", async (t) => {
  const { page } = await openPage(t, await serve(t));
  // It dies when it is to give away what it read, which is all of it.
  await killWorkers(page, "HandOver", "", true);
  await drop(page, dumps(SKIPPED));
  assert.match(await headline(page).textContent(), /^Rank 3 skipped/);
  assert.match(await page.locator("header").textContent(), /8 ranks/);
});

test("dumps that all break off are not shown as a healthy job", async (t) => {
  const folder = await folderWith(t, dumps(SKIPPED));
  for (const name of readdirSync(folder)) {
    truncateSync(join(folder, name), 3000);
  }
  const { page } = await openPage(t, await serve(t));
  await drop(page, folder);
  assert.match(await headline(page).textContent(), /^8 of 8 dumps break off: no fault is in what is left/);
  await page.getByText("Dumps break off", { exact: true }).waitFor();
  assert.equal(await page.locator(".verdict.fine").count(), 0);
  assert.equal(await page.getByText("Healthy as far as recorded").count(), 0);
});

test("what may be too large is told before it is read, with what to do instead", async (t) => {
  const { page } = await openPage(t, await serve(t));
  const folder = await folderWith(t, dumps(SKIPPED));
  // It takes no room on the disk.
  writeFileSync(join(folder, "checkpoint.bin"), "");
  truncateSync(join(folder, "checkpoint.bin"), 15e9);
  await dropAnything(page, folder);
  const alert = page.getByRole("alert");
  await alert.getByText(/15\.0 GB of dumps take up to 5\.0 GB of memory/).waitFor();
  await alert.getByText("hangscope pack job -o job.hangscope").waitFor();
  await alert.getByRole("button", { name: "Read it here all the same" }).click();
  assert.match(await headline(page).textContent(), /^Rank 3 skipped/);
});
