// Serves a built page under a sub-path, opens it in Debian's Chromium, and watches everything that the browser asks for.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

/** The repository's root. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The built page: `cargo xtask web` writes it. */
export const DIST = resolve(ROOT, process.env.HANGSCOPE_DIST ?? "dist");

/** The command, with the page inside. */
export const COMMAND = resolve(ROOT, process.env.HANGSCOPE_COMMAND ?? "target/debug/hangscope");

const CHROMIUM = process.env.HANGSCOPE_CHROMIUM ?? "/usr/bin/chromium";

const CHROMIUM_FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // Else the browser asks its maker about every text field.
  "--disable-features=AutofillServerCommunication",
  "--hide-scrollbars",
  "--font-render-hinting=none",
];

const CONTENT_TYPES = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

const endings = new WeakMap();

/** Runs `end` when the test `t` is over: the last one first, so that a browser closes before the server that it talks to. */
export function atEnd(t, end) {
  if (!endings.has(t)) {
    endings.set(t, []);
    t.after(async () => {
      const errors = [];
      for (const each of endings.get(t).reverse()) {
        // A server that stays up would keep the whole run from ending.
        await Promise.resolve().then(each).catch((error) => errors.push(error));
      }
      if (errors.length > 0) {
        throw errors[0];
      }
    });
  }
  endings.get(t).push(end);
}

async function listen(server) {
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return server.address().port;
}

async function closeServer(server) {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
}

/**
 * A plain static server, as a user would have one: `folder` under `subPath` and nothing else. It ends with the test `t`.
 * Gives its address.
 */
export async function serve(t, { folder = DIST, subPath = "/some/where/" } = {}) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const inside = decodeURIComponent(pathname.slice(subPath.length)) || "index.html";
    const file = normalize(join(folder, inside));
    const found =
      pathname.startsWith(subPath) &&
      file.startsWith(folder + sep) &&
      (await stat(file).then((entry) => entry.isFile(), () => false));
    if (!found) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": CONTENT_TYPES[extname(file)] ?? "application/octet-stream" });
    createReadStream(file).pipe(response);
  });
  const port = await listen(server);
  atEnd(t, () => closeServer(server));
  return `http://127.0.0.1:${port}${subPath}`;
}

/** Starts the command's own viewer with `paths`. It ends with the test `t`. Gives its address. */
export async function view(t, paths) {
  const viewer = spawn(COMMAND, ["view", "--no-open", "--", ...[paths].flat()], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise((resolve) => viewer.once("close", resolve));
  atEnd(t, async () => {
    viewer.kill("SIGINT");
    assert.equal(await ended, 0, "the viewer's exit status after Ctrl-C");
  });
  let said = "";
  return await new Promise((found, failed) => {
    viewer.once("error", failed);
    viewer.once("close", () => failed(new Error(`the viewer ended by itself: ${said}`)));
    for (const output of [viewer.stdout, viewer.stderr]) {
      output.setEncoding("utf8").on("data", (text) => {
        said += text;
        const address = said.match(/http:\/\/\S+\//);
        if (address) {
          found(address[0]);
        }
      });
    }
  });
}

/** A proxy that lets nothing through and notes who was asked for. Chromium sends it all that isn't for this machine. */
async function refusingProxy() {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(403).end();
  });
  server.on("connect", (request, socket) => {
    asked.push(request.url);
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  const port = await listen(server);
  return { asked, url: `http://127.0.0.1:${port}`, close: () => closeServer(server) };
}

/**
 * Starts Chromium and opens `url` in a page of `viewport`'s size. It ends with the test `t`.
 *
 * Gives `{ page, context, requests, problems, foreign }`: `requests` are all addresses that the page asked for, `problems`
 * what a person would call wrong (console errors, uncaught exceptions, failed or foreign requests), `foreign` what went
 * out to another host. When the test is over, any problem makes it fail: whoever provokes one on purpose takes it out of
 * `problems`.
 */
export async function openPage(t, url, { viewport = { width: 1280, height: 800 }, colorScheme = "light" } = {}) {
  const proxy = await refusingProxy();
  atEnd(t, proxy.close);
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_FLAGS });
  const requests = [];
  const problems = [];
  atEnd(t, async () => {
    await browser.close();
    const all = [...problems, ...proxy.asked.map((address) => `the browser asked for ${address}`)];
    assert.deepEqual(all, [], "the page misbehaved");
  });
  const context = await browser.newContext({
    viewport,
    colorScheme,
    deviceScaleFactor: 1,
    reducedMotion: "reduce",
    // Of the context and not of the browser, whose own calls home are not the page's.
    proxy: { server: proxy.url, bypass: "127.0.0.1" },
  });
  watch(context, new URL(url).origin, requests, problems);
  const page = await context.newPage();
  await page.goto(url);
  return { page, context, requests, problems, foreign: proxy.asked };
}

function watch(context, origin, requests, problems) {
  context.on("request", (request) => {
    const url = request.url();
    requests.push(url);
    const own = url.startsWith(`${origin}/`) || url.startsWith("data:") || url.startsWith(`blob:${origin}/`);
    if (!own) {
      problems.push(`a request to another host: ${url}`);
    }
  });
  context.on("response", (response) => {
    if (response.status() >= 400) {
      problems.push(`${response.status()} for ${response.url()}`);
    }
  });
  context.on("console", (message) => {
    if (message.type() === "error") {
      problems.push(`console: ${message.text()} (${message.location().url})`);
    }
  });
  context.on("weberror", (error) => problems.push(`uncaught: ${error.error()}`));
}

/** Drops real files or folders, by their paths on disk, on the middle of `target` (a locator), as a file manager would. */
export async function dropPaths(page, target, paths) {
  const box = await target.boundingBox();
  const point = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  const data = { items: [], files: [paths].flat().map((path) => resolve(path)), dragOperationsMask: 1 };
  const session = await page.context().newCDPSession(page);
  for (const type of ["dragEnter", "dragOver", "drop"]) {
    await session.send("Input.dispatchDragEvent", { type, ...point, data });
  }
  await session.detach();
}

/** Presses `button` (a locator), which opens the browser's own dialogue for files or a folder, and picks `paths` there. */
export async function pickPaths(page, button, paths) {
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), button.click()]);
  await chooser.setFiles([paths].flat().map((path) => resolve(path)));
}
