// The first message brings the glue's address and the compiled module; from then on the wasm side listens.
addEventListener(
  "message",
  async ({ data }) => {
    const glue = await import(data.glue);
    // Its memory is to be seen there: by tests, and by whoever looks with the browser's tools.
    globalThis.hangscope = await glue.default({ module_or_path: data.module });
    glue.worker_main();
  },
  { once: true },
);
