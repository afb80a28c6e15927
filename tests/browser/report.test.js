import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { COMMAND, ROOT, openPage, serve } from "./harness.js";
import { drop, dumps } from "./page.js";

/** What the command prints; its exit status says what was found and not whether it worked. */
function printed(folder) {
  const options = { encoding: "buffer", maxBuffer: 64 << 20 };
  return new Promise((done, failed) => {
    execFile(COMMAND, ["analyze", "--format", "json", folder], options, (error, stdout, stderr) => {
      if (error && error.code !== 1) {
        failed(new Error(`${folder}: ${error.message}\n${stderr}`));
      } else {
        done(stdout);
      }
    });
  });
}

test("the page saves byte for byte what the command prints, for every recorded job", async (t) => {
  const scenarios = (await readdir(join(ROOT, "tests/fixtures/dumps"))).sort();
  assert.ok(scenarios.length >= 30, "the recorded jobs are there");
  const { page } = await openPage(t, await serve(t));
  for (const [index, scenario] of scenarios.entries()) {
    if (index > 0) {
      // All folders have one name: the new one is told from the last by a page that starts afresh.
      await page.reload();
    }
    await drop(page, dumps(scenario));
    const [download, expected] = await Promise.all([
      page.waitForEvent("download"),
      printed(dumps(scenario)),
      page.getByRole("button", { name: "Save JSON" }).click(),
    ]);
    assert.equal(download.suggestedFilename(), "pickle.hangscope.json");
    const saved = await readFile(await download.path());
    assert.equal(saved.toString(), expected.toString(), scenario);
    assert.ok(saved.equals(expected), scenario);
  }
});
