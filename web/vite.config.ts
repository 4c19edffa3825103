import preact from "@preact/preset-vite";
import { defineConfig } from "vite";

import { keepEmacsKeys } from "./build/emacs.ts";
import { woff2Only } from "./build/fonts.ts";
import { precompress } from "./build/precompress.ts";

const judge = process.env.JUDGE_ADDRESS ?? "http://127.0.0.1:8000";

export default defineConfig({
  plugins: [preact({ devToolsEnabled: false }), woff2Only(), keepEmacsKeys(), precompress()],
  build: {
    target: "es2022",
    // The server says which files may be kept for ever by this folder: their names hold a hash.
    assetsDir: "assets",
    // A data: address would need a wider content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
  },
  worker: { format: "es" },
  // `npm run dev`: the page is rebuilt on save, everything else comes from a judge that runs.
  server: { proxy: { "/api": { target: judge, ws: true } } },
});
