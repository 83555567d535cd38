import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { env, pid } from 'node:process';
import { fileURLToPath } from 'node:url';
import { asScript } from './asScript.ts';
import { only } from './only.ts';

/** The part of esbuild that is used. It is tsx's own compiler, and comes with it. */
interface Esbuild {
  buildSync(options: object): { readonly outputFiles: readonly { readonly text: string }[] };
}

/** Names the folder of what was bundled in this run of the tests; where it is not set, nothing is kept. */
export const BUNDLES = 'DEVS_TEST_BUNDLES';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const START = fileURLToPath(new URL('startCompiled.cjs', import.meta.url));
const PROMPTS = join(ROOT, 'packages', 'agents', 'prompts');

/** What tests start as a process of its own: those named so, and some that are there for people, too. */
const CHILD = /\.child\.ts$/;
const OTHERS = [
  'examples/deep-agent/main.ts',
  'examples/graphs/run.ts',
  'examples/graphs/watch.ts',
  'examples/own-graph/cli.ts',
  'examples/service/main.ts',
  'packages/ui/test/programs/driveShop.ts',
  'packages/ui/test/programs/serveShop.ts',
];

/** Programs of the state file alone: they start without what a graph needs. */
const OF_THE_FILE = /^packages\/core\/(?:src|test)\/(?:db|state)\//;

/**
 * The file of a program of the tests, made of it and the sources it imports. A process then starts in 0.1 s of processor
 * time instead of 1.3 s, which is what makes hundreds of them affordable; and what runs is always the sources, never an
 * old build. All programs are made together, as what they share is read and written once.
 *
 * @param dir - Where its file goes when it is made alone: it is none of the others, or nothing is kept.
 */
export function bundleProgram(program: string, dir: string): string {
  const together = bundledTogether(program);
  if (together !== null) return together;
  const file = join(dir, `${nameOf(program)}.mjs`);
  bundleAlone(program, file);
  linkBeside(dir);
  return file;
}

/** Makes one file of a program, where it is wanted. All test files of a run share what one of them has made. */
export function bundleAlone(program: string, outfile: string): void {
  const kept = env[BUNDLES];
  const name = createHash('sha256').update(program).digest('hex').slice(0, 16);
  const script = join(kept ?? dirname(outfile), `${name}.js`);
  mkdirSync(dirname(outfile), { recursive: true });
  if (kept === undefined || !existsSync(script)) {
    const made = `${script}.${pid}`;
    writeScript({ entryPoints: [program] }, made);
    renameSync(made, script);
  }
  writeFileSync(outfile, starting(kept === undefined ? `${name}.js` : script, name));
}

/** Makes one file of a module that a program imports, with what it exports. */
export function bundleModule(module: string, dir: string): string {
  const outfile = join(dir, `${nameOf(module)}.mjs`);
  // CommonJS packages inside an ES module still want `require`.
  const js =
    "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);";
  esbuild().buildSync({ ...options(), banner: { js }, entryPoints: [module], outfile });
  return outfile;
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
  mkdirSync(made);
  const all = programs();
  const ofTheFile = all.filter((program) => OF_THE_FILE.test(program));
  const others = all.filter((program) => !ofTheFile.includes(program));
  writeGroup('file.js', ofTheFile, made);
  writeGroup('runs.js', others, made);
  linkBeside(made);
  try {
    renameSync(made, folder);
  } catch (error) {
    // Another process was faster.
    rmSync(made, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
}

/** One script of several programs, and a file for each of them that starts it. */
function writeGroup(script: string, paths: readonly string[], folder: string): void {
  const quoted = (text: string): string => JSON.stringify(text);
  const cases = paths.map(
    (path) => `case ${quoted(nameOf(path))}: await import(${quoted(join(ROOT, path))}); break;`,
  );
  const contents = `switch (program) { ${cases.join('\n')} }`;
  writeScript({ stdin: { contents, resolveDir: ROOT } }, join(folder, script));
  for (const path of paths)
    writeFileSync(join(folder, `${nameOf(path)}.mjs`), starting(script, nameOf(path)));
}

function writeScript(entry: object, file: string): void {
  // Of the file that starts the script.
  const define = { 'import.meta.url': 'importMetaUrl' };
  const { outputFiles } = esbuild().buildSync({ ...options(), ...entry, define, write: false });
  writeFileSync(file, asScript(only(outputFiles).text));
}

/** @param script - Its path, absolute or from the file that starts it. */
function starting(script: string, program: string): string {
  const given = [
    'import.meta.url',
    JSON.stringify(script),
    JSON.stringify(program),
    '(name) => import(name)',
  ];
  return `import { createRequire } from 'node:module';
createRequire(import.meta.url)(${JSON.stringify(START)})(${given.join(', ')});
`;
}

/** Their paths from the root. */
function programs(): readonly string[] {
  const packages = join(ROOT, 'packages');
  const tests = readdirSync(packages).flatMap((name) =>
    ['src', 'test'].map((folder) => join(packages, name, folder)).filter((folder) => existsSync(folder)),
  );
  const children = tests.flatMap((folder) =>
    readdirSync(folder, { recursive: true })
      .map(String)
      .filter((path) => CHILD.test(path))
      .map((path) => relative(ROOT, join(folder, path)).replaceAll(sep, '/')),
  );
  return [...children, ...OTHERS];
}

/** @param program - Its path, absolute or from the root. */
const nameOf = (program: string): string =>
  relative(ROOT, resolve(ROOT, program)).replaceAll(sep, '-').replace(/\.ts$/, '');

/** Agents look for their prompts beside their code, and a program that has a key for the driver that encrypts. */
function linkBeside(dir: string): void {
  const driver = join('node_modules', 'better-sqlite3-multiple-ciphers');
  mkdirSync(join(dir, 'node_modules'), { recursive: true });
  for (const [name, target] of [
    ['prompts', PROMPTS],
    [driver, join(ROOT, driver)],
  ] as const) {
    const link = join(dir, name);
    if (!existsSync(link)) symlinkSync(target, link, 'junction');
  }
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
    // An error shows the line that it was thrown in.
    lineLimit: 200,
    alias: { 'better-sqlite3': sqlite },
    external: [sqlite, 'jiti'], // it looks for a part of itself beside its file
  };
}
