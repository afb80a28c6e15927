// What the tests of the page have in common: opening jobs and reading what the page says.

import { copyFile, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { ROOT, atEnd, dropPaths, openPage, serve } from "./harness.js";

/** The dumps of a recorded job. */
export const dumps = (scenario) => join(ROOT, "tests/fixtures/dumps", scenario, "pickle");

/** Eight ranks of which rank 3 left out an all_reduce of `tp[2,3]`, row 18. */
export const SKIPPED = "h_mesh_pp2_dp2_tp2_skip_tp_8r";

/** Opens the page, served as a user would, and drops `paths` on it. */
export async function openDropped(t, paths, options) {
  const opened = await openPage(t, await serve(t), options);
  await drop(opened.page, paths);
  return opened;
}

/** Drops `paths` on the page as soon as it listens. */
export async function dropAnything(page, paths) {
  await page.locator("header").waitFor();
  await dropPaths(page, page.locator("body"), paths);
}

/** Drops `paths` on the page and waits for the verdict. */
export async function drop(page, paths) {
  await dropAnything(page, paths);
  await headline(page).waitFor();
}

/** The verdict's sentence. */
export const headline = (page) => page.locator(".verdict h1");

/** What a screen reader was told last. */
export const announcement = (page) => page.getByRole("status");

/** The cell that has the keyboard, as an element over the canvas. */
export const activeCell = (page) => page.locator('[role="gridcell"][aria-selected="true"]');

export const panel = (page) => page.getByRole("complementary", { name: "Cell" });

/** Clicks the canvas where a cell of the grid's elements is. */
export async function clickCell(page, cell) {
  const { x, y, width, height } = await cell.boundingBox();
  await page.mouse.click(x + width / 2, y + height / 2);
}

/** A folder of its own for the test `t`, with copies of the files in `from`. Gives its path. */
export async function folderWith(t, from, name = "job") {
  const parent = await mkdtemp(join(tmpdir(), "hangscope-page-"));
  atEnd(t, () => rm(parent, { recursive: true }));
  const folder = join(parent, name);
  await mkdir(folder);
  for (const file of from ? await readdir(from) : []) {
    await copyFile(join(from, file), join(folder, file));
  }
  return folder;
}
