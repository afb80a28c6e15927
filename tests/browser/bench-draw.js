// Scrolls a job's table in Chromium, down its rows with every rank and row unfolded, and prints how long its drawing takes:
// HANGSCOPE_JOB=FOLDER_OR_PACK node bench-draw.js

import assert from "node:assert/strict";
import { test } from "node:test";

import { activeCell, openDropped } from "./page.js";

/** How often the wheel turns at each size of a cell, and how far, in pixels. */
const TURNS = 120;
const TURN = 54;

test("draw the table while it is scrolled", async (t) => {
  const { page } = await openDropped(t, process.env.HANGSCOPE_JOB, { viewport: { width: 1440, height: 900 } });
  await activeCell(page).waitFor({ state: "attached" });
  await page.evaluate(() => {
    window.draws = [];
    const request = window.requestAnimationFrame.bind(window);
    // The page asks for a frame to draw in, and for nothing else while it is scrolled.
    window.requestAnimationFrame = (run) =>
      request((time) => {
        const start = performance.now();
        run(time);
        window.draws.push(performance.now() - start);
      });
    window.gaps = [];
    let last = 0;
    const tick = (time) => {
      window.gaps.push(time - last);
      last = time;
      request(tick);
    };
    request(tick);
  });
  const fold = page.getByRole("group", { name: "What is folded" });
  const folded = fold.getByRole("button", { pressed: true });
  while ((await folded.count()) > 0) {
    await folded.first().click();
  }
  const zoom = page.getByRole("group", { name: "Size of a cell" }).locator("span");
  for (const size of ["16 px", "8 px", "4 px", "1 px", "⅛ px"]) {
    // From the upper left corner, where the first group's cells are, straight down.
    await page.getByRole("grid").focus();
    await page.keyboard.press("Control+Home");
    while ((await zoom.textContent()) !== size) {
      const current = await zoom.textContent();
      const sizes = ["⅛ px", "¼ px", "½ px", ...[1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 40].map((width) => `${width} px`)];
      await page.keyboard.press(sizes.indexOf(current) > sizes.indexOf(size) ? "-" : "+");
      await page.waitForFunction((current) => document.querySelector('[aria-label="Size of a cell"] span').textContent !== current, current);
    }
    await page.locator(".scroller").hover();
    await page.evaluate(() => { window.draws.length = 0; window.gaps.length = 0; });
    for (let turn = 0; turn < TURNS; turn += 1) {
      await page.mouse.wheel(0, turn < TURNS / 2 ? TURN : -TURN);
    }
    const { draws, gaps, filled } = await page.evaluate(() => {
      const canvas = document.querySelector(".sticky canvas");
      const { data } = canvas.getContext("2d").getImageData(canvas.width / 2, canvas.height / 2, 1, canvas.height / 2);
      const paper = getComputedStyle(document.documentElement).getPropertyValue("--surface");
      const rgb = [1, 3, 5].map((at) => Number.parseInt(paper.trim().slice(at, at + 2), 16));
      let filled = 0;
      for (let at = 0; at < data.length; at += 4) {
        filled += rgb.some((part, index) => data[at + index] !== part) ? 1 : 0;
      }
      return { draws: window.draws, gaps: window.gaps, filled: filled / (data.length / 4) };
    });
    assert.ok(draws.length > 0, "nothing was drawn");
    const part = (times, share) => [...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(1);
    const words = (times) => `${part(times, 0.5)} / ${part(times, 0.95)} / ${part(times, 1)} ms`;
    console.log(`${size}: ${draws.length} draws, middle / 95 % / longest ${words(draws)}; between frames ${words(gaps)}; ${(filled * 100).toFixed(0)} % filled`);
  }
});
