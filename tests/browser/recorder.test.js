// From a real MPI program that hangs, through the recorder's dumps, to what the page shows of them.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { access, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { test } from "node:test";

import { COMMAND, ROOT, atEnd, openPage, view } from "./harness.js";
import { activeCell, headline, panel } from "./page.js";

// The recorder's own tests put it there.
const MPI = resolve(ROOT, process.env.HANGSCOPE_MPI ?? "target/tmp/mpich-5.0.2");
const PROGRAM = join(ROOT, "recorder/mpi-preload/tests/programs/faults.py");
const RANKS = 4;

test("a Python MPI program of which rank 2 leaves out a barrier is recorded, blamed and shown", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "hangscope-recorder-"));
  atEnd(t, () => rm(folder, { recursive: true }));
  const said = await hang(t, folder);
  assert.match(said, /hangscope: recording; if the job hangs, its dumps will be in /);
  assert.equal(said.match(/recording; if/g).length, 1, "one line, not one a rank");
  assert.match(said, /hangscope analyze /);

  const analysed = spawnSync(COMMAND, ["analyze", folder], { encoding: "utf8" });
  assert.equal(analysed.status, 1, analysed.stderr);
  assert.match(analysed.stdout, /^Rank 2 /);

  const { page } = await openPage(t, await view(t, folder));
  await headline(page).waitFor();
  const sentence = await headline(page).textContent();
  assert.match(sentence, /^Rank 2 .*barrier/);
  await activeCell(page).waitFor({ state: "attached" });
  assert.match(await activeCell(page).textContent(), /^rank 2, /);
  await page.keyboard.press("Enter");
  await panel(page).waitFor();
  if (process.env.HANGSCOPE_SHOTS) {
    await page.screenshot({ path: join(process.env.HANGSCOPE_SHOTS, "recorder.png") });
  }
});

/** Runs the program until all its ranks have written their dumps; gives what it said. */
async function hang(t, folder) {
  const ranks = String(RANKS);
  const recorded = [COMMAND, "record", "--mode", "mpi", "--timeout", "2s", "--stacks", "native", "--out", folder, "--"];
  const environment = Object.entries(process.env).filter(([name]) => !name.startsWith("HANGSCOPE_"));
  const job = spawn(join(MPI, "bin/mpiexec"), ["-n", ranks, ...recorded, join(MPI, "bin/python"), PROGRAM, "skip"], {
    env: Object.fromEntries(environment),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const output of [job.stdout, job.stderr]) {
    output.setEncoding("utf8").on("data", (text) => {
      said += text;
    });
  }
  const ended = new Promise((end) => job.once("close", end));
  job.once("error", () => {});
  atEnd(t, async () => {
    job.kill("SIGTERM");
    await Promise.race([ended, pause(3000)]);
    job.kill("SIGKILL");
  });
  await access(join(MPI, "bin/mpiexec"));
  const outcome = /have written their dumps[^]*hangscope analyze/;
  for (let waited = 0; waited < 600; waited += 1) {
    const names = (await readdir(folder)).filter((name) => name.startsWith("comm_lib_trace_rank_"));
    if (names.length === RANKS && outcome.test(said)) {
      return said;
    }
    await pause(100);
  }
  throw new Error(`no dumps of ${RANKS} ranks: ${said}`);
}
