// Loads the wasm and starts the page. A file of its own, since the content policy allows no inline script.
import load, { start } from "./hangscope-web.js";

try {
  await load();
  start(new URL("./hangscope-web.js", import.meta.url).href);
} catch (error) {
  const message = document.createElement("p");
  message.setAttribute("role", "alert");
  message.textContent = `hangscope could not start in this browser (${error}). It needs WebAssembly and module scripts: a current Firefox, Chrome, Edge or Safari.`;
  document.body.append(message);
  throw error;
}
