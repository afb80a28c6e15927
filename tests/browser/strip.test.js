import assert from "node:assert/strict";
import { stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { JOBS } from "./jobs.js";
import { announcement, dumps, folderWith, openDropped, panel } from "./page.js";

const strip = (page) => page.getByRole("listbox", { name: /^All ranks/ });
const focused = (page) => page.evaluate(() => document.activeElement.getAttribute("aria-label"));

/** Waits until the rank that has the keyboard says so. */
async function onRank(page, text) {
  await page.waitForFunction((text) => document.activeElement.getAttribute("aria-label")?.startsWith(text), text);
}

test("the strip says who is what, and leads along the ranks by the keyboard", async (t) => {
  const { page } = await openDropped(t, await JOBS.mesh().write(t));
  await strip(page).getByRole("option").first().waitFor({ state: "attached" });
  assert.match(
    await strip(page).getAttribute("aria-label"),
    /64 ranks\. 1 suspect: rank 35; 7 wait here: ranks 32-34,36-39; 56 blocked elsewhere: ranks 0-31,40-63/,
  );

  await strip(page).locator('[tabindex="0"]').focus();
  assert.match(await focused(page), /^rank 35: suspect, waits in _all_gather_base/, "it begins at the finding's rank");
  await page.keyboard.press("ArrowRight");
  await onRank(page, "rank 36: ");
  assert.match(await focused(page), /^rank 36: waits in all_reduce, row 11 of tp\[32-39\], for ranks /);
  await page.keyboard.press("Control+ArrowRight");
  await onRank(page, "rank 40: blocked, ");
  await page.keyboard.press("End");
  await onRank(page, "rank 63: ");
  await page.keyboard.press("ArrowRight");
  await onRank(page, "rank 63: ");
  await page.keyboard.press("Home");
  await onRank(page, "rank 0: blocked, waits in all_reduce, row 4 of world, for ranks 32-39");
  assert.equal(await strip(page).locator('[tabindex="0"]').count(), 1, "one stop for the Tab key");

  await page.keyboard.press("Enter");
  await panel(page).getByText("world · rank 0").waitFor();
  await onRank(page, "rank 0: ");
});

test("the pointer learns what a rank waits for, and a click shows it", async (t) => {
  const { page } = await openDropped(t, await JOBS.ring().write(t));
  const first = strip(page).getByRole("option").first();
  await first.waitFor({ state: "attached" });
  const box = await first.boundingBox();
  const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  await page.mouse.move(middle.x + box.width * 2, middle.y);
  await page.locator(".hint").getByText("rank 2: waits in send, world, for rank 3").waitFor();
  await page.mouse.click(middle.x + box.width * 2, middle.y);
  await panel(page).getByText("message 2→3 #1").waitFor();
});

test("the legend counts the ranks and leads to the next of a status", async (t) => {
  const { page } = await openDropped(t, await JOBS.several().write(t));
  const legend = page.getByRole("group", { name: /^Ranks by their part/ });
  const key = legend.getByRole("button", { name: /^2 suspects 3,7$/ });
  const said = (text) => announcement(page).filter({ hasText: text }).waitFor({ state: "attached" });
  await key.click();
  await said(/^rank 7: suspect/);
  await key.click();
  await said(/^rank 3: suspect/);
  await legend.getByRole("button", { name: /^6 wait here 0-2,4-6$/ }).waitFor();
});

test("a rank whose dump breaks off is not said to wait for nothing", async (t) => {
  const folder = await folderWith(t, dumps("a_healthy_ddp_4r"));
  const file = join(folder, "nccl_trace_rank_1");
  await truncate(file, Math.floor((await stat(file)).size * 0.6));
  const { page } = await openDropped(t, folder);
  const unknown = "rank 1: its dump breaks off, so what it waits for is not known";
  await strip(page).getByRole("option", { name: unknown }).waitFor({ state: "attached" });
  const legend = page.getByRole("group", { name: /^Ranks by their part/ });
  await legend.getByRole("button", { name: /^3 wait for nothing 0,2-3$/ }).waitFor();
  await legend.getByRole("button", { name: /^1 dump breaks off 1$/ }).click();
  await announcement(page).filter({ hasText: unknown }).waitFor({ state: "attached" });
  await panel(page).getByText("not recorded: the dump breaks off, so that it may be lost").waitFor();
  assert.doesNotMatch(await panel(page).textContent(), /Call stack, rank 1/, "another operation's stack");
});

test("a thousand ranks fit, and the one suspect is still seen", async (t) => {
  const { page } = await openDropped(t, await JOBS.wide(1000).write(t), { viewport: { width: 700, height: 900 } });
  await page.getByRole("group", { name: /^Ranks by their part/ }).getByRole("button", { name: "1 suspect 960" }).waitFor();
  await page.waitForFunction(() => {
    const canvas = document.querySelector("canvas");
    // Above the other ranks, where only a suspect stands out.
    const { data } = canvas.getContext("2d").getImageData(0, 4, canvas.width, 1);
    let red = 0;
    for (let at = 0; at < data.length; at += 4) {
      red += data[at] > 180 && data[at + 1] < 90 ? 1 : 0;
    }
    return red >= 3 && red <= 6;
  });
  await page.getByRole("button", { name: "equal ranks" }).click();
  await page.getByRole("button", { name: "Fit all ranks" }).click();
  await page.getByRole("group", { name: "Size of a cell" }).getByText("½ px").waitFor();
});
