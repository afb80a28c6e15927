import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage, serve } from "./harness.js";
import { SKIPPED, drop, dropAnything, dumps, headline } from "./page.js";

/** Makes workers die that get a message with `text` in it: all of them, or only the first. */
async function killWorkers(page, text, onlyFirst) {
  await page.evaluate(
    ([text, onlyFirst]) => {
      const post = Worker.prototype.postMessage;
      let killed = 0;
      Worker.prototype.postMessage = function (message, ...rest) {
        if (!String(message[0]).includes(text) || (onlyFirst && killed > 0)) {
          return post.call(this, message, ...rest);
        }
        killed += 1;
        // As the browser tells of it: later, and to the worker's own handler.
        setTimeout(() => this.dispatchEvent(new ErrorEvent("error", { message: "out of memory", cancelable: true })));
      };
    },
    [text, onlyFirst],
  );
}

test("when the analysis does not fit into the browser, the page says so and names the command", async (t) => {
  const { page } = await openPage(t, await serve(t));
  await killWorkers(page, "Analyze", true);
  await dropAnything(page, dumps(SKIPPED));
  const alert = page.getByRole("alert");
  await alert.getByText("Out of memory").waitFor();
  await alert.getByText("hangscope analyze pickle").waitFor();

  await drop(page, dumps(SKIPPED));
  assert.match(await headline(page).textContent(), /^Rank 3 skipped/);
});

test("a reader that dies costs the file that it was at, and no other", async (t) => {
  const { page } = await openPage(t, await serve(t));
  await killWorkers(page, "nccl_trace_rank_7", true);
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
  await killWorkers(page, "Detail", false);
  await page.keyboard.press("n");
  await page.keyboard.press("ArrowLeft");
  await page.getByRole("alert").getByText("Out of memory").waitFor();
});
