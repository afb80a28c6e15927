import assert from "node:assert/strict";
import { test } from "node:test";

import { JOBS } from "./jobs.js";
import { activeCell, clickCell, dumps, headline, openDropped, panel } from "./page.js";

const verdict = (page) => page.getByRole("region", { name: "Verdict" });
const sides = (page) => verdict(page).locator(".sites .site");

test("each side says what it issued, how far it came and from where, and its stack is one click away", async (t) => {
  const { page } = await openDropped(t, await JOBS.size().write(t));
  assert.equal(await sides(page).count(), 2);
  const [suspect, others] = await sides(page).allTextContents();
  assert.match(suspect, /^Rank 5 passed.*all_reduce \[2048\] BFloat16, scheduled.*attention · train_3d\.py:32/);
  assert.match(others, /^Ranks 0-4,6-7 passed.*all_reduce \[4096\] BFloat16, scheduled/);
  assert.equal(await verdict(page).locator(".site.suspect").count(), 1);

  await verdict(page).getByRole("button", { name: "Call stack of rank 5" }).click();
  const stacks = verdict(page).locator(".more .stack");
  assert.equal(await stacks.count(), 2);
  assert.match(await stacks.first().textContent(), /attention.*layer_forward.*main/);
  await page.keyboard.press("Escape");
  await stacks.first().waitFor({ state: "detached" });
});

test("a side that issued nothing says where it left", async (t) => {
  const { page } = await openDropped(t, await JOBS.missing().write(t));
  const left = await verdict(page).locator(".site.suspect").textContent();
  assert.match(left, /^Rank 2 never issued it.*left here: all_reduce in world, row 3.*train_step · train_3d\.py:90/);
});

test("a tie shows two equals and blames nobody", async (t) => {
  const { page } = await openDropped(t, await JOBS.tie().write(t));
  assert.match(await verdict(page).locator(".kicker").textContent(), /the dumps do not tell which side is wrong/);
  assert.equal(await sides(page).count(), 2);
  assert.equal(await verdict(page).locator(".suspect").count(), 0);
  assert.equal(await page.locator(".rankkey .suspect").count(), 0);
  await activeCell(page).waitFor({ state: "attached" });
  for (const rank of [1, 2]) {
    await page.locator('[role="gridcell"]', { hasText: new RegExp(`^rank ${rank}, row 4 .*, differs`) }).first().waitFor({ state: "attached" });
  }
});

test("what happened in several groups alike has a suspect's side, and says where else", async (t) => {
  const { page } = await openDropped(t, await JOBS.alike().write(t));
  const [suspect, others] = await sides(page).allTextContents();
  assert.match(suspect, /^Rank 2 never issued it.*rank 5 likewise, in tp\[3-5\]/);
  assert.match(others, /^Ranks 0-1 wait in.*all_reduce \[4096\] BFloat16, scheduled.*ranks 3-4 likewise, in tp\[3-5\]/);
  assert.equal(await sides(page).first().getAttribute("class"), "site suspect");
});

for (const [width, height] of [[1280, 800], [1600, 1000], [1000, 800]]) {
  test(`what is opened of the verdict scrolls by itself, and nothing moves: ${width} by ${height}`, async (t) => {
    const { page } = await openDropped(t, await JOBS.several().write(t), { viewport: { width, height } });
    await panel(page).getByText(/^Rank \d+ left here|^Call stack, rank/).first().waitFor();
    const places = () => page.evaluate(() => {
      const box = (selector) => Object.values(document.querySelector(selector).getBoundingClientRect().toJSON());
      return [".verdict", ".say", ".tablebox", ".scroller", ".panel", "footer"].map(box);
    });
    const before = await places();
    for (const name of ["Why", "Next steps"]) {
      await verdict(page).getByRole("button", { name, exact: true }).click();
      const area = verdict(page).getByRole("region", { name });
      await area.waitFor();
      assert.deepEqual(await places(), before);
      const [shown, table] = [await area.boundingBox(), await page.locator(".tablebox").boundingBox()];
      assert.ok(shown.height >= 130 && shown.width >= 400, JSON.stringify(shown));
      assert.ok(table.height >= height * 0.43, JSON.stringify(table));
      assert.ok((await page.locator(".scroller").boundingBox()).height >= 40 + 8 * 18, "eight rows");
    }
    await verdict(page).getByRole("button", { name: "Close" }).click();
    await verdict(page).locator(".more").waitFor({ state: "detached" });
  });
}

test("what is opened has the keyboard where its opener is covered, scrolls by keys, and gives the keyboard back", async (t) => {
  const { page } = await openDropped(t, await JOBS.ring(16).write(t));
  const opener = verdict(page).getByRole("button", { name: "All sides" });
  await opener.focus();
  await page.keyboard.press("Enter");
  const area = verdict(page).getByRole("region", { name: "Why" });
  await area.waitFor();
  const focused = () => page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent);
  assert.equal(await focused(), "Why");
  await page.keyboard.press("End");
  await page.waitForFunction(() => document.querySelector(".more").scrollTop > 100);
  await page.keyboard.press("Escape");
  await area.waitFor({ state: "detached" });
  await page.waitForFunction(() => document.activeElement.textContent === "All sides");
});

test("several findings are listed, and each has its evidence, other readings and next steps", async (t) => {
  const { page } = await openDropped(t, await JOBS.several().write(t));
  const list = page.getByRole("navigation", { name: "Findings" }).getByRole("button");
  assert.equal(await list.count(), 2);
  for (const [index, sentence] of [/^Rank 3 never issued/, /^Dtype mismatch: all_reduce in tp\[4-7\]/].entries()) {
    await list.nth(index).click();
    await headline(page).filter({ hasText: sentence }).waitFor();
    await verdict(page).locator(".brief dt").getByText("Next").waitFor();
    await verdict(page).getByRole("button", { name: "Why" }).click();
    for (const heading of ["Evidence", "It could also be"]) {
      await verdict(page).getByRole("heading", { name: heading }).waitFor();
    }
    await verdict(page).getByRole("button", { name: "Next steps" }).click();
    assert.ok(await verdict(page).locator(".more li").count() > 0, "what to do");
    await verdict(page).getByRole("button", { name: "Next steps" }).click();
  }
});

test("a deadlock is drawn, and said step by step", async (t) => {
  for (const colorScheme of ["light", "dark"]) {
    const { page } = await openDropped(t, await JOBS.deadlock().write(t), { colorScheme });
    const graph = verdict(page).getByRole("img", { name: /^A circle of 2 waits/ });
    assert.equal(await graph.locator(".cyclenode").count(), 2);
    assert.equal(await graph.locator(".cyclearrow").count(), 2);
    assert.match(await graph.locator(".cyclenode.suspect").textContent(), /ranks 6-7/);
    const steps = await verdict(page).getByRole("list", { name: "The circle, step by step" }).getByRole("listitem").allTextContents();
    assert.deepEqual(steps.sort(), [
      "Ranks 0-5 wait in all_to_all, row 2 of shard[0-7], for ranks 6-7",
      "Ranks 6-7 wait in allreduce_coalesced, row 2 of replicate[0-7], for ranks 0-5",
    ]);
    await verdict(page).getByRole("button", { name: "Call stacks" }).click();
    assert.equal(await verdict(page).locator(".more .stack").count(), 2);
  }
});

test("of a long circle the last node stands for the rest", async (t) => {
  const { page } = await openDropped(t, await JOBS.ring(16).write(t));
  const graph = verdict(page).getByRole("img", { name: /^A circle of 16 waits/ });
  assert.equal(await graph.locator(".cyclenode").count(), 12);
  await graph.getByText("and 5 more").waitFor();
  assert.equal(await verdict(page).getByRole("list", { name: "The circle, step by step" }).getByRole("listitem").count(), 16);
  await page.setViewportSize({ width: 320, height: 800 });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 320));
});

test("jobs without a finding and of one rank have a verdict too", async (t) => {
  const { page } = await openDropped(t, await JOBS.nothingPending().write(t));
  assert.match(await headline(page).textContent(), /^Nothing is pending/);
  await page.getByText("4 wait for nothing").waitFor();
  const single = await openDropped(t, await JOBS.single().write(t));
  await single.page.getByText("1 waits here").waitFor();
});

test("a rank without a dump: look for its file, not for a stack", async (t) => {
  const { page } = await openDropped(t, await JOBS.noDump().write(t));
  await panel(page).getByText(/Look for the file that rank 2 should have left/).waitFor();
  assert.doesNotMatch(await panel(page).textContent(), /TORCH_INCLUDE_STACK_TRACE/);
});

test("nothing moves once the verdict is there", async (t) => {
  const { page } = await openDropped(t, await JOBS.mesh().write(t));
  const places = () => page.evaluate(() => {
    const box = (selector) => Object.values(document.querySelector(selector).getBoundingClientRect().toJSON());
    return [".verdict", ".bar", ".ranklegend", ".scroller", ".panel", "footer"].map(box);
  });
  const before = await places();
  await panel(page).getByText("Call stack, rank 35").waitFor();
  await page.keyboard.press("n");
  await page.keyboard.press("ArrowUp");
  await panel(page).getByText("row 10", { exact: false }).first().waitFor();
  assert.deepEqual(await places(), before);
});

test("in a narrow window the panel is a sheet that leaves its cell in sight", async (t) => {
  const { page } = await openDropped(t, await JOBS.missing().write(t), { viewport: { width: 700, height: 900 } });
  await activeCell(page).waitFor({ state: "attached" });
  assert.ok(await panel(page).isHidden(), "until it is asked for");
  await activeCell(page).scrollIntoViewIfNeeded();
  await clickCell(page, activeCell(page));
  await panel(page).getByText("Rank 2 left here").waitFor();
  await page.waitForFunction(() => {
    const edge = (selector, side) => document.querySelector(selector).getBoundingClientRect()[side];
    const [cell, top, bottom] = [edge('[role="gridcell"][aria-selected="true"]', "bottom"), edge(".panel", "top"), edge(".panel", "bottom")];
    return cell <= top && Math.abs(bottom - innerHeight) < 1;
  });
  await page.keyboard.press("Escape");
  await panel(page).waitFor({ state: "hidden" });
});

test("where a message without its other end led to a circle, both are shown", async (t) => {
  const { page } = await openDropped(t, dumps("i_ring_skip_recv_4r"));
  assert.equal(await sides(page).count(), 2);
  assert.equal(await verdict(page).getByRole("img").count(), 0);
  await verdict(page).getByRole("button", { name: "Why" }).click();
  await verdict(page).getByRole("img", { name: /^A circle of 2 waits/ }).waitFor();
});

test("a swapped order over two groups is drawn", async (t) => {
  const { page } = await openDropped(t, dumps("p_twin_groups_swapped_4r"));
  await verdict(page).getByRole("img", { name: /^A circle of 2 waits/ }).waitFor();
});
