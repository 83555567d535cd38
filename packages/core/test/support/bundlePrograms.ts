import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { env, pid } from 'node:process';
import { fileURLToPath } from 'node:url';

/** The part of esbuild that is used. It is tsx's own compiler, and comes with it. */
interface Esbuild {
  buildSync(options: object): unknown;
}

/** Names the folder of what was bundled in this run of the tests; where it is not set, nothing is kept. */
export const BUNDLES = 'DEVS_TEST_BUNDLES';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const PROMPTS = join(ROOT, 'packages', 'agents', 'prompts');

/** What tests start as a process of its own: those named so, and some that are there for people, too. */
const CHILD = /\.child\.ts$/;
const OTHERS = [
  'examples/graphs/run.ts',
  'examples/graphs/watch.ts',
  'examples/own-graph/cli.ts',
  'examples/service/main.ts',
  'packages/ui/test/programs/driveShop.ts',
  'packages/ui/test/programs/serveShop.ts',
];

/**
 * The file of a program of the tests, made of it and the sources it imports. A process then starts in 0.2 s of processor
 * time instead of 1.3 s, which is what makes a hundred of them affordable; and what runs is always the sources, never an
 * old build. All programs are made together, as what they share is read and written once.
 *
 * @param dir - Where its file goes when it is made alone: it is none of the others, or nothing is kept.
 */
export function bundleProgram(program: string, dir: string): string {
  const together = bundledTogether(program);
  if (together !== null) return together;
  const file = join(dir, `${nameOf(program)}.mjs`);
  bundleAlone(program, file);
  linkPrompts(dir);
  return file;
}

/** Makes one file of a program, where it is wanted. All test files of a run share what one of them has made. */
export function bundleAlone(program: string, outfile: string): void {
  const kept = env[BUNDLES];
  if (kept === undefined) return void esbuild().buildSync({ ...options(), entryPoints: [program], outfile });
  const bundle = join(kept, `${createHash('sha256').update(program).digest('hex').slice(0, 16)}.mjs`);
  if (!existsSync(bundle)) {
    const made = `${bundle}.${pid}`;
    esbuild().buildSync({ ...options(), entryPoints: [program], outfile: made });
    renameSync(made, bundle);
  }
  mkdirSync(dirname(outfile), { recursive: true });
  copyFileSync(bundle, outfile);
}

function bundledTogether(program: string): string | null {
  const kept = env[BUNDLES];
  if (kept === undefined) return null;
  const folder = join(kept, 'programs');
  if (!existsSync(folder)) bundleTogether(folder);
  const file = join(folder, `${nameOf(program)}.mjs`);
  return existsSync(file) ? file : null;
}

function bundleTogether(folder: string): void {
  const made = `${folder}.${pid}`;
  esbuild().buildSync({
    ...options(),
    entryPoints: programs().map((program) => ({ in: program, out: nameOf(program) })),
    outdir: made,
    outExtension: { '.js': '.mjs' },
    splitting: true,
  });
  linkPrompts(made);
  try {
    renameSync(made, folder);
  } catch (error) {
    // Another process was faster.
    rmSync(made, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
}

function programs(): readonly string[] {
  const packages = join(ROOT, 'packages');
  const tests = readdirSync(packages).flatMap((name) =>
    ['src', 'test'].map((folder) => join(packages, name, folder)).filter((folder) => existsSync(folder)),
  );
  const children = tests.flatMap((folder) =>
    readdirSync(folder, { recursive: true })
      .map(String)
      .filter((path) => CHILD.test(path))
      .map((path) => join(folder, path)),
  );
  return [...children, ...OTHERS.map((path) => join(ROOT, path))];
}

const nameOf = (program: string): string => relative(ROOT, program).replaceAll(sep, '-').replace(/\.ts$/, '');

/** Agents look for their prompts beside their code. */
function linkPrompts(dir: string): void {
  const link = join(dir, 'prompts');
  if (!existsSync(link)) symlinkSync(PROMPTS, link, 'junction');
}

function esbuild(): Esbuild {
  const fromRoot = createRequire(join(ROOT, 'package.json'));
  return createRequire(fromRoot.resolve('tsx'))('esbuild') as Esbuild;
}

function options(): object {
  // A native addon cannot be part of a bundle: it is loaded from where it is installed.
  const sqlite = createRequire(join(ROOT, 'packages', 'core', 'package.json')).resolve('better-sqlite3');
  return {
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['@devs/source'],
    logLevel: 'error',
    // A process reads all of it, and runs little.
    minifyWhitespace: true,
    legalComments: 'none',
    // CommonJS packages inside an ES module still want `require`.
    banner: {
      js: "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);",
    },
    alias: { 'better-sqlite3': sqlite },
    external: [sqlite],
  };
}
