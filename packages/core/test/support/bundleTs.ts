import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Bundler {
  buildSync(options: Readonly<Record<string, unknown>>): void;
}

const here = createRequire(import.meta.url);
// The bundler that runs our TypeScript in every other process; it is tsx's dependency, not ours.
const esbuild = createRequire(here.resolve('tsx'))('esbuild') as Bundler;

/** Inside the package, so that what stays outside the bundle is found. */
const OUTPUT = fileURLToPath(new URL('../../node_modules/.cache/test-bundles', import.meta.url));

/**
 * Bundles a TypeScript file of a test into one module, whose process starts in a fifth of the time: for tests that start
 * a process a hundred times.
 *
 * @returns The path of the module.
 */
export function bundleTs(file: string, name: string): string {
  mkdirSync(OUTPUT, { recursive: true });
  const outfile = join(OUTPUT, `${name}-${process.pid}.mjs`);
  esbuild.buildSync({
    entryPoints: [file],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: ['better-sqlite3', '@langchain/langgraph'],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'error',
  });
  return outfile;
}
