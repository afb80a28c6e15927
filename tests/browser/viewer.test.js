import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { COMMAND, ROOT, atEnd, openPage, serve, view } from "./harness.js";
import { SKIPPED, dumps, headline } from "./page.js";

test("the viewer's page boots and learns where the dumps are", async (t) => {
  const url = await view(t, join(ROOT, "tests/fixtures/sample"));
  const { page } = await openPage(t, url);
  await page.locator("main").waitFor();
  const list = await page.evaluate(async () => {
    const marker = document.head.querySelector('meta[name="hangscope-dumps"]');
    return (await fetch(marker.content)).json();
  });
  assert.equal(list.version, 1);
  assert.ok(list.dumps.length >= 2);
  for (const { name, size_bytes: sizeBytes, url: dump } of list.dumps) {
    const size = await page.evaluate(async (address) => (await (await fetch(address)).arrayBuffer()).byteLength, dump);
    assert.equal(size, sizeBytes, name);
  }
});

test("the job is called as what the command was given", async (t) => {
  for (const [path, name] of [[dumps(SKIPPED), "pickle"], [join(dumps(SKIPPED), "nccl_trace_rank_3"), "nccl_trace_rank_3"]]) {
    const { page } = await openPage(t, await view(t, path));
    await headline(page).waitFor();
    assert.equal(await page.locator(".job strong").textContent(), name);
    assert.equal(await page.title(), `${name}, hangscope`);
  }
  const two = [0, 1].map((rank) => join(dumps(SKIPPED), `nccl_trace_rank_${rank}`));
  const { page } = await openPage(t, await view(t, two));
  await headline(page).waitFor();
  assert.equal(await page.locator(".job strong").textContent(), "2 files");
});

test("a pack is read one section after the other", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "hangscope-pack-"));
  atEnd(t, () => rm(folder, { recursive: true }));
  const pack = join(folder, "job.hangscope");
  execFileSync(COMMAND, ["pack", join(ROOT, "tests/fixtures/sample"), "-o", pack], { stdio: "ignore" });
  const { page } = await openPage(t, await view(t, pack));
  assert.match(await headline(page).textContent(), /^Rank \d+ /);
  const gets = await Promise.all(page.workers().map((worker) => worker.evaluate(
    () => performance.getEntriesByType("resource").filter(({ name }) => name.endsWith("/dumps/0")).map((get) => [get.responseStatus, get.decodedBodySize]),
  )));
  const parts = gets.flat();
  assert.ok(parts.length >= 3 && parts.every(([status]) => status === 206), JSON.stringify(parts));
});

test("a page of another origin gets nothing from the viewer, not even with its address", async (t) => {
  const [viewer, elsewhere, open] = [await view(t, join(ROOT, "tests/fixtures/sample")), await plain(t), await plain(t)];
  const { page, problems } = await openPage(t, elsewhere);
  const ask = (address) => page.evaluate(
    async (it) => fetch(it, { mode: "no-cors" }).then(() => "read", () => "refused"),
    address,
  );
  assert.equal(await ask(open), "read", "what a server gets that does not forbid it");
  assert.equal(await ask(`${viewer}dumps/0`), "refused");
  assert.equal(await ask(viewer), "refused");
  problems.length = 0; // The refusals, which this test wants.
});

/** Some other web page on this machine, without a content policy. */
async function plain(t) {
  const folder = await mkdtemp(join(tmpdir(), "hangscope-plain-"));
  atEnd(t, () => rm(folder, { recursive: true }));
  const icon = '<link rel="icon" href="data:,">';
  await writeFile(join(folder, "index.html"), `<!doctype html>${icon}<title>elsewhere</title>`);
  return await serve(t, { folder });
}
