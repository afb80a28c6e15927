import assert from "node:assert/strict";
import { test } from "node:test";

import { SKIPPED, activeCell, announcement, clickCell, drop, dumps, headline, openDropped, panel } from "./page.js";

test("a click on a cell shows its call stack beside the other side's", async (t) => {
  const { page } = await openDropped(t, dumps(SKIPPED));
  await activeCell(page).waitFor({ state: "attached" });
  const cell = (rank) => page.locator('[role="gridcell"]', { hasText: `rank ${rank}, row 18 ` });

  await clickCell(page, cell(2));
  await panel(page).getByText("Call stack, rank 2").waitFor();
  assert.match(await panel(page).locator(".stack").first().textContent(), /attention.*train_3d\.py:32/);

  await clickCell(page, cell(3));
  await panel(page).getByText("Call stack, rank 3").waitFor();
  const [own, other] = await panel(page).locator(".stack").allTextContents();
  assert.match(own, /mlp.*train_3d\.py:37.*attention :32/, "the culprit's function, and the other's in its place");
  assert.match(other, /rank 2.*attention.*train_3d\.py:32/);
  assert.match(await panel(page).locator(".f.first").first().textContent(), /the stacks part here/);
});

test("library frames are folded and can be opened", async (t) => {
  const { page } = await openDropped(t, dumps(SKIPPED));
  const fold = panel(page).getByRole("button", { name: /^\d+ torch frames/ }).first();
  const frame = panel(page).getByText(/distributed_c10d\.py:\d+/).first();
  assert.equal(await frame.count(), 0);
  await fold.click();
  await frame.waitFor();
  await fold.click();
  await frame.waitFor({ state: "detached" });
});

test("all of it works by the keyboard alone, and is said", async (t) => {
  const { page } = await openDropped(t, dumps(SKIPPED));
  await page.keyboard.press("n");
  const said = (text) => announcement(page).filter({ hasText: text }).waitFor({ state: "attached" });
  await said(/^rank 3, row 18 all_reduce.*, tp\[2,3\]: .*origin of finding F1$/);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("role")), "grid");

  await page.keyboard.press("ArrowLeft");
  await said(/^rank 2, row 18 all_reduce/);
  await page.keyboard.press("ArrowUp");
  await said(/^rank 2, row 17 /);
  await page.keyboard.press("Home");
  await page.keyboard.press("End");
  await said(/^rank 3, row 17 /);
  await page.keyboard.press("Control+End");
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("p");
  await said(/^rank 3, row 18 /);
  const active = await page.getByRole("grid").getAttribute("aria-activedescendant");
  assert.equal(await activeCell(page).getAttribute("id"), active);

  await page.keyboard.press("Escape");
  await panel(page).getByText("Click a cell").waitFor();
  await page.keyboard.press("Enter");
  await panel(page).getByText("Call stack, rank 3").waitFor();

  await page.keyboard.press("?");
  const keys = page.getByRole("dialog");
  await keys.getByText("next and previous finding").waitFor();
  await page.keyboard.press("Escape");
  await keys.waitFor({ state: "hidden" });
});

test("a link leads past everything to the table, and keys that move mean it where nothing has the keyboard", async (t) => {
  const { page } = await openDropped(t, dumps(SKIPPED));
  await activeCell(page).waitFor({ state: "attached" });
  const role = () => page.evaluate(() => document.activeElement.getAttribute("role"));
  await page.keyboard.press("Tab");
  const link = page.getByRole("link", { name: "Skip to the table" });
  assert.ok(await link.evaluate((element) => element === document.activeElement), "it is first");
  const { x, y } = await link.boundingBox();
  assert.ok(x >= 0 && y >= 0, "it is seen when it has the keyboard");
  await page.keyboard.press("Enter");
  assert.equal(await role(), "grid");
  assert.ok((await link.boundingBox()).y < 0, "and is not else");

  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("ArrowUp");
  await announcement(page).filter({ hasText: /^rank 3, row 17 / }).waitFor({ state: "attached" });
  assert.equal(await role(), "grid");
});

test("names of operations are whole where there is room beside them", async (t) => {
  const { page } = await openDropped(t, dumps(SKIPPED));
  await activeCell(page).waitFor({ state: "attached" });
  const texts = async () => {
    await page.evaluate(() => {
      window.written = [];
      const { fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
        window.written.push(text);
        fillText.call(this, text, ...rest);
      };
    });
    await page.keyboard.press("ArrowUp");
    await page.waitForFunction(() => window.written.length > 10);
    return await page.evaluate(() => window.written);
  };
  const written = await texts();
  assert.deepEqual(written.filter((text) => text.endsWith("…")), []);
  assert.ok(written.includes("_reduce_scatter_base [8, 16] → [4, 16]"), written.join("\n"));
  // In a narrow window the cells need the room.
  await page.setViewportSize({ width: 420, height: 800 });
  await page.waitForFunction(() => window.written.some((text) => text.endsWith("…")));
});

test("the search finds ranks, operations and functions", async (t) => {
  const { page } = await openDropped(t, dumps(SKIPPED));
  const said = (text) => announcement(page).filter({ hasText: text }).waitFor({ state: "attached" });
  const find = async (text, hit) => {
    await page.keyboard.press("/");
    await page.keyboard.press("Control+a");
    await page.keyboard.type(text);
    await page.getByRole("listbox", { name: "Found" }).getByRole("option", { name: hit }).waitFor();
    await page.keyboard.press("Enter");
  };
  await find("rank 6", /rank 6/);
  await said(/^rank 6, /);
  await find("dp[0", /dp\[0/);
  await said(/, dp\[0/);
  await find("attention", /attention/);
  await panel(page).getByText("attention").first().waitFor();
});

test("groups, operations and folding decide which rows are there", async (t) => {
  const { page } = await openDropped(t, dumps(SKIPPED));
  const rows = page.locator(".rowcount");
  await rows.getByText(/^\d+ of 111 rows$/).waitFor();
  await page.getByRole("button", { name: "agreeing rows" }).click();
  await rows.getByText(/^111 rows$/).waitFor();
  await page.getByLabel("Groups to show").selectOption({ label: "world" });
  await rows.getByText(/^3 of 111 rows$/).waitFor();
  // The way to a finding uncovers its row.
  await page.getByRole("button", { name: "Show in table" }).click();
  await rows.getByText(/^111 rows$/).waitFor();
});

test("zoom by buttons, keys and the wheel", async (t) => {
  const { page } = await openDropped(t, dumps(SKIPPED));
  const size = page.getByRole("group", { name: "Size of a cell" }).locator("span");
  await size.getByText("32 px").waitFor();
  await page.getByRole("button", { name: "Zoom out" }).click();
  await size.getByText("24 px").waitFor();
  await page.keyboard.press("+");
  await size.getByText("32 px").waitFor();
  await page.locator("canvas").hover();
  await page.keyboard.down("Control");
  for (let step = 0; step < 5; step++) {
    await page.mouse.wheel(0, 100);
  }
  await page.keyboard.up("Control");
  await size.getByText("8 px").waitFor();
  await activeCell(page).waitFor({ state: "attached" });
});

test("evidence and next steps unfold below the verdict", async (t) => {
  const { page } = await openDropped(t, dumps(SKIPPED));
  await page.getByRole("button", { name: "Why" }).click();
  await page.getByRole("heading", { name: "Evidence" }).waitFor();
  await page.getByRole("button", { name: "Next steps" }).click();
  await page.getByRole("heading", { name: "Next steps" }).waitFor();
  assert.ok((await page.locator(".more li").count()) >= 1);
  await page.keyboard.press("Escape");
  await page.locator(".more").waitFor({ state: "detached" });
});

test("a healthy job has no fault, and its cells can be looked at", async (t) => {
  const { page } = await openDropped(t, dumps("a_healthy_ddp_4r"));
  assert.match(await headline(page).textContent(), /^No fault/);
  await page.getByRole("grid").focus();
  await page.keyboard.press("ArrowDown");
  await announcement(page).filter({ hasText: /rows of world agree, folded\. Enter unfolds them$/ }).waitFor({ state: "attached" });
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await panel(page).getByText("completed").first().waitFor();
});

test("light and dark by the system's setting, and narrow without a sideways scroll", async (t) => {
  const colours = [];
  for (const colorScheme of ["light", "dark"]) {
    const { page } = await openDropped(t, dumps(SKIPPED), { colorScheme });
    colours.push(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
    const picture = await page.screenshot();
    assert.ok(picture.length > 20_000, "there is something to see");
    for (const width of [320, 480, 700, 1000]) {
      await page.setViewportSize({ width, height: 800 });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${wide} pixels at a width of ${width}`);
    }
  }
  assert.notEqual(colours[0], colours[1]);
});

test("the canvas changes its colours when the system does", async (t) => {
  const { page } = await openDropped(t, dumps(SKIPPED));
  const corner = () => page.evaluate(() => [...document.querySelector("canvas").getContext("2d").getImageData(2, 2, 1, 1).data].join());
  await page.waitForFunction(() => document.querySelector("canvas").getContext("2d").getImageData(2, 2, 1, 1).data.join() === "255,255,255,255");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForFunction(() => document.querySelector("canvas").getContext("2d").getImageData(2, 2, 1, 1).data[0] < 64);
  assert.notEqual(await corner(), "255,255,255,255");
});

test("jobs of two ranks and of one group are shown as well", async (t) => {
  const { page } = await openDropped(t, dumps("a_healthy_ddp_2r_hook"));
  assert.match(await page.locator("header").textContent(), /2 ranks/);
  await drop(page, dumps("i_ring_skip_recv_4r"));
  await page.getByText("4 ranks · ").waitFor();
  await activeCell(page).waitFor({ state: "attached" });
  assert.match(await announcement(page).textContent(), /.+/);
});
