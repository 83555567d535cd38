// `pnpm bench:import [--rounds N] [--json]`: what importing the built packages costs above LangGraph, and what both cost in one
// file (docs/reference/platforms.md), a process for each import, in turn. See docs/internals/benchmarks.md.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { median, round, table } from './state/figures.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '25' }, json: { type: 'boolean', default: false } },
});
const rounds = Number(values.rounds);

const BASE = '@langchain/langgraph';
const ONE_FILE = 'both in one file';
const IMPORTS = [BASE, '@devs/core/langgraph', '@devs/core', ONE_FILE] as const;

const CORE = fileURLToPath(new URL('..', import.meta.url));
/** In the package, where the driver is found. */
const cache = join(CORE, 'node_modules', '.cache');
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, 'devs-import-'));
const oneFile = join(folder, 'server.cjs');

/** As docs/reference/platforms.md has it. */
function bundle(): void {
  const require = createRequire(import.meta.url);
  const esbuild = createRequire(require.resolve('tsx/package.json'))('esbuild') as {
    buildSync(options: object): unknown;
  };
  esbuild.buildSync({
    stdin: {
      contents: `export * from '@devs/core/langgraph'; export { StateGraph } from '${BASE}';`,
      resolveDir: CORE,
    },
    alias: { '@devs/core/langgraph': join(CORE, 'dist', 'langgraph.js') },
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'cjs',
    external: ['better-sqlite3'],
    logLevel: 'error',
    outfile: oneFile,
  });
}
bundle();

interface Cost {
  /** Of the import, by the clock. */
  readonly ms: number;
  /** Of the processor, of the whole process. */
  readonly cpuMs: number;
  /** MB after it. */
  readonly rss: number;
}

/** Run in the package's folder, so that its own name leads to its build. */
function costOf(name: string): Cost {
  const code = `const begin = performance.now();
    await import(${JSON.stringify(name === ONE_FILE ? oneFile : name)});
    const ms = performance.now() - begin;
    const { user, system } = process.cpuUsage();
    console.log(JSON.stringify({ ms, cpuMs: (user + system) / 1000, rss: process.memoryUsage().rss / 1e6 }));`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', code], { cwd: CORE });
  return JSON.parse(printed.toString()) as Cost;
}

const costs = new Map<string, Cost[]>(IMPORTS.map((name) => [name, []]));
for (let pass = -1; pass < rounds; pass += 1) {
  for (const name of IMPORTS) {
    const cost = costOf(name);
    if (pass >= 0) costs.get(name)?.push(cost); // the first one warms the disk
  }
}

rmSync(folder, { recursive: true });

const medianOf = (name: string, of: keyof Cost): number =>
  median((costs.get(name) ?? []).map((cost) => cost[of]));
/** Within each round, so that what disturbs one disturbs both. */
const above = (name: string, of: keyof Cost): number =>
  median((costs.get(name) ?? []).map((cost, at) => cost[of] - (costs.get(BASE)?.[at]?.[of] ?? Number.NaN)));

const results = IMPORTS.map((name) => ({
  name,
  ms: round(medianOf(name, 'ms'), 0),
  cpuMs: round(medianOf(name, 'cpuMs'), 0),
  rss: round(medianOf(name, 'rss'), 1),
  aboveMs: round(above(name, 'ms'), 0),
  aboveCpuMs: round(above(name, 'cpuMs'), 0),
  aboveRss: round(above(name, 'rss'), 1),
}));

if (values.json) console.log(JSON.stringify(results, null, 2));
else {
  const head = [
    'import',
    'ms',
    'ms of processor',
    'RSS, MB',
    'above LangGraph: ms',
    'ms of processor',
    'RSS, MB',
  ];
  console.log(
    table(
      head,
      results.map((row) => Object.values(row).map(String)),
    ),
  );
}
