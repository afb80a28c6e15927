import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { copyFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { COMMAND, openPage, pickPaths, serve, view } from "./harness.js";
import { SKIPPED, drop, dropAnything, dumps, folderWith, headline, openDropped, panel } from "./page.js";

const VERDICT = /^Rank 3 skipped one all_reduce in tp\[2,3\]/;

test("a dropped folder gives a verdict, and another one dropped on that gives another", async (t) => {
  const { page } = await openDropped(t, dumps(SKIPPED));
  assert.match(await headline(page).textContent(), VERDICT);
  assert.match(await page.locator("header").textContent(), /pickle.*8 ranks · 13 groups · 263 entries/);

  await drop(page, dumps("e_dtype_4r"));
  await page.getByText("4 ranks · ").waitFor();
  assert.match(await headline(page).textContent(), /BFloat16/);
  await page.locator(".seg").getByText("32 px").waitFor();
});

test("the folder button and the files button read what was picked", async (t) => {
  const { page } = await openPage(t, await serve(t));
  await pickPaths(page, page.getByRole("button", { name: "Choose a folder…" }), dumps(SKIPPED));
  await headline(page).waitFor();
  assert.match(await headline(page).textContent(), VERDICT);

  const files = [0, 1, 2, 3].map((rank) => join(dumps("e_dtype_4r"), `nccl_trace_rank_${rank}`));
  await page.getByRole("button", { name: "Open…" }).click();
  await pickPaths(page, page.getByRole("button", { name: "Choose files…" }), files);
  await page.getByText("4 ranks · ").waitFor();
  assert.match(await headline(page).textContent(), /BFloat16/);
});

test("the sample job opens with a click", async (t) => {
  const { page } = await openPage(t, await serve(t));
  await page.getByRole("button", { name: "Open the sample job" }).click();
  await headline(page).waitFor();
  assert.match(await headline(page).textContent(), VERDICT);
});

test("the local viewer's dumps open by themselves", async (t) => {
  const { page } = await openPage(t, await view(t, dumps(SKIPPED)));
  await headline(page).waitFor();
  assert.match(await headline(page).textContent(), VERDICT);
});

test("bad files are listed with their reasons, and the rest is analysed", async (t) => {
  const folder = await folderWith(t, dumps(SKIPPED));
  await writeFile(join(folder, "README.txt"), "not a dump\n");
  await writeFile(join(folder, "empty"), "");
  await truncate(join(folder, "nccl_trace_rank_7"), 2000);
  const { page } = await openDropped(t, folder);
  assert.match(await headline(page).textContent(), VERDICT);

  await page.getByRole("button", { name: /notes on the data/ }).click();
  const notes = page.getByRole("dialog").getByRole("listitem");
  for (const [file, reason] of [["README.txt", /dump/], ["empty", /empty|no bytes/], ["nccl_trace_rank_7", /trunc|ends|break/]]) {
    const note = await notes.filter({ hasText: `job/${file}` }).first().textContent();
    assert.match(note.replace(file, ""), reason, note);
  }
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
});

test("an empty folder says so", async (t) => {
  const { page } = await openPage(t, await serve(t));
  await dropAnything(page, await folderWith(t));
  await page.getByRole("alert").getByText("There are no files in it").waitFor();
});

test("a folder without any dump says so, and another one can be dropped on that", async (t) => {
  const folder = await folderWith(t);
  await writeFile(join(folder, "train.log"), "epoch 1\n");
  const { page } = await openPage(t, await serve(t));
  await dropAnything(page, folder);
  await page.getByRole("heading", { name: "No dump could be read" }).waitFor();
  assert.match(await page.locator(".notes").textContent(), /job\/train\.log/);

  await drop(page, dumps(SKIPPED));
  assert.match(await headline(page).textContent(), VERDICT);
});

for (const [how, prepare] of [
  ["as a handle", () => {}],
  ["as an entry, a hundred names at a time", () => delete DataTransferItem.prototype.getAsFileSystemHandle],
]) {
  test(`all of 150 files of a folder are read that comes ${how}`, async (t) => {
    const folder = await folderWith(t);
    const dump = join(dumps("a_healthy_ddp_4r"), "nccl_trace_rank_0");
    for (let rank = 0; rank < 150; rank++) {
      await copyFile(dump, join(folder, `nccl_trace_rank_${rank}`));
    }
    const { page } = await openPage(t, await serve(t));
    await page.evaluate(prepare);
    await drop(page, folder);
    assert.match(await page.locator("header").textContent(), /150 (of \d+ )?ranks/);
  });
}

test("reading can be cancelled, and what was there before comes back", async (t) => {
  const { page, context } = await openPage(t, await serve(t));
  // The server does not answer: the load lasts until it is cancelled.
  await context.route("**/sample/**", () => {});
  await page.getByRole("button", { name: "Open the sample job" }).click();
  await page.getByText("0 of 8").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("heading", { name: "Find out why a distributed training job hung" }).waitFor();

  await drop(page, dumps(SKIPPED));
  await page.getByRole("button", { name: "Open…" }).click();
  await page.getByRole("button", { name: "Open the sample job" }).click();
  await page.getByText("0 of 8").waitFor();
  await page.keyboard.press("Escape");
  await headline(page).waitFor();
  assert.match(await page.locator("header").textContent(), /pickle/);
});

test("dragging files over the page covers it, and dragging them away uncovers it", async (t) => {
  const { page } = await openPage(t, await serve(t));
  await page.locator("header").waitFor();
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: [dumps(SKIPPED)], dragOperationsMask: 1 };
  const cover = page.getByText("Drop the dumps anywhere");
  for (const type of ["dragEnter", "dragOver"]) {
    await session.send("Input.dispatchDragEvent", { type, x: 300, y: 300, data });
  }
  await cover.waitFor();
  // The protocol has no way to drag files out of the window; a browser says it like this.
  await page.evaluate(() => dispatchEvent(new DragEvent("dragleave")));
  await cover.waitFor({ state: "hidden" });
});

test("the page says what to set in the job, by the new and the old names", async (t) => {
  const { page } = await openPage(t, await serve(t));
  const text = await page.locator("main").textContent();
  for (const name of ["TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE", "TORCH_FR_DUMP_ON_TIMEOUT", "TORCH_NCCL_DUMP_ON_TIMEOUT"]) {
    assert.ok(text.includes(name), name);
  }
  assert.match(text, /Nothing leaves this browser/);
});

test("a pack opens as the folder does, and is told what is wrong with it", async (t) => {
  const { page } = await openPage(t, await serve(t));
  const folder = await folderWith(t, null);
  const pack = join(folder, "job.hangscope");
  execFileSync(COMMAND, ["pack", dumps(SKIPPED), "-o", pack], { stdio: "ignore" });
  await drop(page, pack);
  assert.match(await headline(page).textContent(), /^Rank 3 skipped/);
  assert.match(await page.locator("header").textContent(), /job\.hangscope.*8 ranks/);
  // The stacks came along.
  await panel(page).getByText("train_3d.py:37").first().waitFor();

  const bytes = readFileSync(pack);
  writeFileSync(pack, bytes.subarray(0, bytes.length - 9));
  await drop(page, pack);
  await page.getByRole("button", { name: /notes? on the data/ }).click();
  await page.getByRole("dialog").getByText(/the pack breaks off here/).waitFor();
});
