// The table of large jobs: what is folded, how it unfolds, and that nothing bad is lost however small it is drawn.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage, serve } from "./harness.js";
import { JOBS } from "./jobs.js";
import { activeCell, announcement, drop, openDropped, panel } from "./page.js";

const WORLD = 1024;
const BAD = 619;

const said = (page, text) => announcement(page).filter({ hasText: text }).waitFor({ state: "attached" });
const rows = (page, text) => page.locator(".rowcount").getByText(text).waitFor();
const columns = (page, text) => page.locator(".colcount").getByText(text).waitFor();
const chip = (page, name) => page.getByRole("button", { name, exact: true });

/** How many pixels of the table's cells have the colour of the custom property. */
const pixelsOf = (page, property) =>
  page.evaluate((property) => {
    const hex = getComputedStyle(document.documentElement).getPropertyValue(property).trim();
    const wanted = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
    const canvas = document.querySelector(".sticky canvas");
    // Below the strip of ranks and their numbers, and to the right of the marks beside the rows.
    const { data } = canvas.getContext("2d").getImageData(20, 41, canvas.width - 20, canvas.height - 41);
    let count = 0;
    for (let at = 0; at < data.length; at += 4) {
      count += wanted.every((part, index) => data[at + index] === part) ? 1 : 0;
    }
    return count;
  }, property);

/** Takes the time of the page's frames, and of what holds it up. */
async function measure(page) {
  await page.evaluate(() => {
    window.measured = { frames: [], tasks: [] };
    const request = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (run) =>
      request((time) => {
        const start = performance.now();
        run(time);
        window.measured.frames.push(performance.now() - start);
      });
    const watch = new PerformanceObserver((list) => window.measured.tasks.push(...list.getEntries().map((task) => task.duration)));
    watch.observe({ entryTypes: ["longtask"] });
  });
}

/** What was measured since the last time, in words. */
const measured = (page) =>
  page.evaluate(() => {
    const { frames, tasks } = window.measured;
    window.measured.frames = [];
    window.measured.tasks = [];
    frames.sort((left, right) => left - right);
    const part = (share) => (frames[Math.floor(frames.length * share)] ?? 0).toFixed(1);
    const longest = Math.max(0, ...tasks).toFixed(0);
    return `${frames.length} frames, half of them under ${part(0.5)} ms, 95 % under ${part(0.95)} ms; longest task ${longest} ms`;
  });

async function openGrid(t) {
  const opened = await openDropped(t, await JOBS.grid(WORLD, BAD).write(t), { viewport: { width: 1440, height: 900 } });
  await activeCell(opened.page).waitFor({ state: "attached" });
  return opened;
}

test("a thousand ranks: what is alike is folded, and unfolds by the keyboard", async (t) => {
  const { page } = await openGrid(t);
  await columns(page, /^\d+ columns for 1,024 ranks$/);
  const folded = await page.locator(".rowcount").textContent();
  assert.ok(Number.parseInt(folded, 10) < 60, `${folded}: it fits one screen`);
  await said(page, /Rank 619|rank 619/);

  // From the finding's group down to the groups that are folded.
  await page.keyboard.press("n");
  for (let step = 0; step < 60; step += 1) {
    await page.keyboard.press("ArrowDown");
    if (/^12\d groups alike/.test(await announcement(page).textContent())) {
      break;
    }
  }
  await said(page, /^12\d groups alike, .* and so on, folded\. Enter unfolds them$/);
  assert.match(await activeCell(page).textContent(), /groups alike/);
  await page.keyboard.press("Enter");
  await page.waitForFunction((before) => document.querySelector(".rowcount").textContent !== before, folded);
  await page.keyboard.press("g");
  await page.keyboard.press("g");
  await rows(page, folded);

  // The ranks that one column stands for.
  await page.keyboard.press("Control+End");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Home");
  await said(page, /stands for [\d,]+ equal ranks too$/);
  await page.keyboard.press("u");
  await page.waitForFunction(() => /^\d{3,} columns|^1,024 columns/.test(document.querySelector(".colcount").textContent));
  await page.keyboard.press("e");
  await columns(page, /^1,024 columns$/);
  assert.match(await activeCell(page).textContent(), /^rank 0, /, "the selection is still there");
});

test("one bad cell is seen at the smallest zoom, and found by the keyboard", async (t) => {
  const { page } = await openGrid(t);
  await measure(page);
  for (const key of ["f", "e", "g"]) {
    await page.keyboard.press(key);
  }
  await columns(page, /^1,024 columns$/);
  t.diagnostic(`unfolding: ${await measured(page)}`);
  const zoom = page.getByRole("group", { name: "Size of a cell" }).locator("span");
  const loud = async () => (await pixelsOf(page, "--missing")) + (await pixelsOf(page, "--mismatch"));
  for (const step of ["4 px", "3 px", "2 px", "1 px", "½ px", "¼ px", "⅛ px"]) {
    while ((await zoom.textContent()) !== step) {
      await page.getByRole("button", { name: "Zoom out" }).click();
    }
    await page.keyboard.press("n");
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    const count = await loud();
    assert.ok(count >= 8 && count <= 120, `${count} loud pixels at ${step}`);
  }
  await page.locator(".sticky canvas").hover();
  for (let step = 0; step < 40; step += 1) {
    await page.mouse.wheel(0, 40);
  }
  t.diagnostic(`scrolling at ⅛ px: ${await measured(page)}`);

  // From the table's first cell to the next row that does not agree, and there to the next rank that did otherwise.
  await page.getByRole("grid").focus();
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("Control+ArrowDown");
  await page.keyboard.press("Home");
  await page.keyboard.press("Control+ArrowRight");
  await said(page, /^rank 619, row 6 all_reduce/);
  // A click on its pixel leads to it as well.
  await page.keyboard.press("n");
  const box = await activeCell(page).boundingBox();
  await page.keyboard.press("Control+End");
  await page.keyboard.press("n");
  const now = await activeCell(page).boundingBox();
  assert.deepEqual([now.width, now.height], [box.width, box.height]);
  await page.mouse.click(now.x + now.width / 2, now.y + now.height / 2);
  await said(page, /^rank 619, row 6 /);
});

/** The largest memory of each worker's module that was seen, in bytes, until `ended` is. */
async function memories(page, ended) {
  const seen = new Map();
  const bytes = () => {
    const exported = Object.values(globalThis.hangscope ?? {});
    return exported.find((item) => item instanceof WebAssembly.Memory)?.buffer.byteLength ?? 0;
  };
  const look = async (worker) => {
    // A reader goes when all is read: what it had last is known by then.
    const now = await worker.evaluate(bytes).catch(() => 0);
    seen.set(worker, Math.max(now, seen.get(worker) ?? 0));
  };
  let isOver = false;
  ended.finally(() => (isOver = true)).catch(() => {});
  while (!isOver) {
    await Promise.all(page.workers().map(look));
    await new Promise((later) => setTimeout(later, 5));
  }
  await ended;
  await Promise.all(page.workers().map(look));
  return [...seen.values()];
}

test("what the workers take for a thousand ranks", async (t) => {
  const { page } = await openPage(t, await serve(t));
  const folder = await JOBS.grid(WORLD, BAD).write(t);
  await page.locator("header").waitFor();
  const all = await memories(page, drop(page, folder));
  const entries = Number((await page.locator("header").textContent()).match(/([\d,]+) entries/)[1].replaceAll(",", ""));
  const megabytes = all.map((bytes) => (bytes / 1e6).toFixed(1));
  t.diagnostic(`${entries} entries: ${megabytes.join(" + ")} MB`);
  assert.ok(all.length >= 2 && all.every((bytes) => bytes > 1_000_000), `${megabytes}: a reader and the analysis`);
  // 700 MB are for two million entries; each worker has its stack and the symbols of the job besides.
  const most = all.length * 8e6 + (entries / 2_048_000) * 700e6;
  assert.ok(all.reduce((sum, bytes) => sum + bytes) < most, `${megabytes} MB`);
});

test("filters by state, rank, group and place in the code", async (t) => {
  const { page } = await openDropped(t, await JOBS.mesh().write(t));
  await chip(page, "Filter").click();
  const filter = page.getByRole("group", { name: "Filter", exact: true });
  await filter.getByLabel("state").selectOption("differs");
  await rows(page, /^[1-3] of /);
  await filter.getByLabel("state").selectOption("any state");
  const [all] = (await page.locator(".rowcount").textContent()).match(/\d+ rows/);
  await filter.getByLabel("ranks").fill("32-39,60-");
  await columns(page, /^12 of 64 ranks$/);
  await filter.getByLabel("ranks").fill("no rank");
  assert.equal(await filter.getByLabel("ranks").getAttribute("aria-invalid"), "true");
  await columns(page, /^64 columns$/);
  await filter.getByLabel("ranks").fill("");
  await filter.getByLabel("group").fill("tp[32");
  await rows(page, /^\d+ of /);
  await filter.getByLabel("group").fill("");
  // While it is typed; the key only says that no more comes.
  const place = filter.getByLabel("called from");
  await place.pressSequentially("finish_grads");
  await rows(page, /^1 of /);
  assert.equal(await place.inputValue(), "finish_grads");
  await place.press("Escape");
  await rows(page, new RegExp(` of ${all}$|^${all}$`));
  assert.equal(await place.inputValue(), "");
  await place.fill("no such place");
  await place.press("Enter");
  await rows(page, /^0 of /);
  await place.fill("attention");
  await place.fill("finish_grads");
  await place.press("Enter");
  await rows(page, /^1 of /);
  // The way to a finding leads through all of it.
  await page.getByRole("button", { name: "Show in table" }).click();
  await rows(page, new RegExp(` of ${all}$|^${all}$`));
  await said(page, /^rank 35, /);
});

test("cells by signature and by call site, with a legend, and columns by status", async (t) => {
  const { page } = await openDropped(t, await JOBS.mesh().write(t));
  const legend = page.getByRole("list", { name: "Colours of the cells" });
  assert.equal(await legend.count(), 0);
  await page.getByRole("button", { name: "Signature" }).click();
  await legend.getByText("all_reduce [4096] BFloat16").waitFor();
  assert.ok((await pixelsOf(page, "--hue1")) > 500);
  await page.getByRole("button", { name: "Call site" }).click();
  await legend.getByText(/^attention/).first().waitFor();
  await page.getByRole("button", { name: "State", exact: true }).click();
  await legend.waitFor({ state: "detached" });

  await page.getByLabel("Order of the columns").selectOption("columns by status");
  await page.keyboard.press("n");
  await page.keyboard.press("Home");
  await said(page, /^rank 35, row 11 /);
  await page.keyboard.press("ArrowRight");
  await said(page, /^rank 32, row 11 /);
});

test("rows in program order, and where ranks contradict each other", async (t) => {
  const { page } = await openDropped(t, await JOBS.race().write(t));
  await page.getByRole("button", { name: "Program order" }).click();
  const contradiction = page.getByRole("button", { name: /^ranks 4-7: allreduce_coalesced 1 of .* before all_to_all 1 of .*; ranks 0-3: the other way round$/ });
  await contradiction.waitFor();
  await page.getByText("⇅ Ranks contradict each other in 1 place").waitFor();
  await contradiction.click();
  await said(page, /^rank 4, row 1 allreduce_coalesced/);
  const place = await activeCell(page).getAttribute("id");
  await page.getByRole("button", { name: "By group" }).click();
  await contradiction.waitFor({ state: "detached" });
  await page.waitForFunction((place) => document.getElementById(place)?.ariaSelected === "true", place);
  await panel(page).getByText("rank 4").first().waitFor();
});

test("the map moves the table", async (t) => {
  const { page } = await openDropped(t, await JOBS.mesh().write(t), { viewport: { width: 1200, height: 700 } });
  await page.keyboard.press("f");
  await page.keyboard.press("m");
  const map = page.locator(".map canvas");
  const scrolled = () => page.locator(".scroller").evaluate((element) => element.scrollTop);
  const { x, y, height } = await map.boundingBox();
  await page.mouse.move(x + 56, y + 20);
  await page.mouse.down();
  await page.mouse.move(x + 56, y + height - 10, { steps: 4 });
  await page.mouse.up();
  const low = await scrolled();
  assert.ok(low > 100, `${low}`);
  await page.mouse.click(x + 56, y + 10);
  assert.ok((await scrolled()) < 50);
  await page.keyboard.press("m");
  await map.waitFor({ state: "detached" });
});
