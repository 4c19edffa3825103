import { readFile, readdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

const COMPRESSIBLE = /\.(css|html|js|json|map|svg|wasm)$/;
const SMALLEST_BYTES = 1024;
// The best quality takes half a minute for the 11 MB of the linter, to save an eighth.
const LARGE_BYTES = 2 ** 20;
const QUALITY = constants.BROTLI_MAX_QUALITY;
const QUALITY_OF_LARGE = 7;

/** Write `.br` and `.gz` beside each file that shrinks, so that the server compresses nothing. */
export function precompress(): Plugin {
  let folder = "";
  return {
    name: "precompress",
    apply: "build",
    configResolved(config) {
      folder = resolve(config.root, config.build.outDir);
    },
    async closeBundle() {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile() && COMPRESSIBLE.test(entry.name));
      await Promise.all(files.map((file) => compress(join(file.parentPath, file.name))));
    },
  };
}

async function compress(path: string): Promise<void> {
  const content = await readFile(path);
  if (content.length < SMALLEST_BYTES) return;
  const brotli = brotliCompressSync(content, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: content.length > LARGE_BYTES ? QUALITY_OF_LARGE : QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
    },
  });
  await Promise.all([
    writeFile(`${path}.br`, brotli),
    writeFile(`${path}.gz`, gzipSync(content, { level: 9 })),
  ]);
}
