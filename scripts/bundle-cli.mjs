// Makes of the `devs` command a few files: what every verb has, what only those with agents have, and what only a graph
// needs. Third-party code is inside, with its licences beside it; left outside are LangChain, which a user's model packages
// share, and the native driver. For a process without models, LangGraph is inside as well (langGraphDoor.mjs).
//   node scripts/bundle-cli.mjs          into packages/cli/dist; the page into packages/ui/dist, too
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundlePage } from '../packages/ui/page/bundlePage.mjs';
import { buildPage } from './buildPage.mjs';
import { bundledLicences } from './bundledLicences.mjs';
import { bundleLangGraph, langGraphDoor, OWN_COPY } from './langGraphDoor.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const cli = join(root, 'packages', 'cli');
const fromRoot = createRequire(new URL('../package.json', import.meta.url));
/** tsx's own compiler, which comes with it. */
const esbuild = createRequire(fromRoot.resolve('tsx'))('esbuild');

/** What `devs` leaves outside, by the beginnings of names. */
const OUTSIDE = ['@langchain/*', 'langchain', 'better-sqlite3', '@devs/postgres', 'jiti'];

/** Whose sources are in the command. */
const SOURCES = ['core', 'agents', 'cli', 'ui'].map((name) => join(root, 'packages', name, 'src'));

/** What makes schemas, apart from what every verb has. */
const ZOD_FILE = 'zod.cjs';
const LATE_ZOD = "import { z } from 'devs:zod';";
/** How others import it. */
const ZOD = /^import \* as z from ['"]zod(?:\/v4)?['"];$/m;

const LIST = /^(import|export) (\{[^}]*\}|\*) from '([^']+)';/gms;
const namesIn = (list) =>
  list
    .slice(1, -1)
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '));

/** The file that declares each name of a module that only hands on. */
function declaredIn(file) {
  const handsOn = [...readFileSync(file, 'utf8').matchAll(LIST)].filter(([, word]) => word === 'export');
  return new Map(
    handsOn.flatMap(([, , list, from]) => {
      const target = resolve(dirname(file), from);
      const deeper = declaredIn(target);
      const names = list === '*' ? [...deeper.keys()] : namesIn(list);
      return names.map((name) => [name, deeper.get(name) ?? target]);
    }),
  );
}

/** The entries of a package that hand on what other files declare, with the file of each name. */
function frontDoors(name) {
  const folder = join(root, 'packages', name);
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return ['.', './internal']
    .filter((entry) => exports[entry] !== undefined)
    .map((entry) => [
      `@devs/${name}${entry.slice(1)}`,
      declaredIn(join(folder, exports[entry]['@devs/source'])),
    ]);
}

/**
 * Imports from the front door of a package become imports from the files behind it. esbuild keeps the order in which a
 * front door loads its rooms, so that whoever wants one of them would load them all.
 */
function pastFrontDoors() {
  const doors = new Map(['core', 'agents'].flatMap(frontDoors));
  const direct = (statement, word, list, from) => {
    if (from === 'zod' && list === '{ z }') return LATE_ZOD;
    const door = doors.get(from);
    if (door === undefined || list === '*') return statement;
    const imports = namesIn(list).map((name) => {
      const file = door.get(name.split(' as ')[0]);
      if (file === undefined) throw new Error(`${from} has no ${name}`);
      return `${word} { ${name} } from ${JSON.stringify(file)};`;
    });
    return imports.join(' ') + '\n'.repeat(statement.split('\n').length - 1); // lines stay what they were
  };
  return {
    name: 'past front doors',
    setup: (build) =>
      build.onLoad(
        { filter: /[\\/]packages[\\/](?:agents|cli|core|server|ui)[\\/]src[\\/].*\.ts$/ },
        ({ path }) => ({
          contents: readFileSync(path, 'utf8').replace(LIST, direct),
          loader: 'ts',
        }),
      ),
  };
}

/**
 * zod is a file of its own, read with the first schema that is made: a reader makes none, and loading zod takes as long as
 * all that it shows.
 */
function lateZod() {
  return {
    name: 'late zod',
    setup: (build) => {
      build.onResolve({ filter: /^devs:zod$/ }, () => ({ path: 'zod', namespace: 'devs' }));
      build.onLoad({ filter: /^zod$/, namespace: 'devs' }, () => ({
        contents: `let zod;
          export const z = new Proxy({}, { get: (_, name) => (zod ??= require('./${ZOD_FILE}'))[name] });`,
      }));
      build.onResolve({ filter: /^\.\/zod\.cjs$/ }, ({ path }) => ({ path, external: true }));
    },
  };
}

/** The code of others without its comments and lines, which no report of a defect of ours is about. */
function othersTerse() {
  return {
    name: 'others terse',
    setup: (build) =>
      build.onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, async ({ path }) => {
        // Only the language in which zod speaks by itself.
        if (/zod[\\/]v4[\\/]locales[\\/]index\.[cm]?js$/.test(path)) return { contents: 'export {};' };
        const source = readFileSync(path, 'utf8').replace(ZOD, LATE_ZOD);
        return { contents: (await esbuild.transform(source, { minifyWhitespace: true })).code };
      }),
  };
}

/** CommonJS packages inside an ES module still want `require`. */
const REQUIRE =
  "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);";

const OPTIONS = {
  absWorkingDir: cli,
  entryPoints: { bin: 'src/bin.ts', index: 'src/index.ts', driver: 'src/chaos/driver.ts' },
  bundle: true,
  splitting: true,
  chunkNames: 'shared-[hash]',
  format: 'esm',
  platform: 'node',
  target: 'node20',
  conditions: ['@devs/source'],
  external: OUTSIDE,
  banner: { js: REQUIRE },
  logLevel: 'warning',
  metafile: true,
};

/** What reads and decides, in the order in which a process loads it. */
const READERS = ['src/bin.ts', 'src/runProcess.ts', 'src/commands/reading.ts', 'src/commands/deciding.ts'];

const STATIC = /^import (?:\{([^}]*)\} from )?"\.\/([^"]+)";/gm;
const LATE = /\bimport\("\.\/([^"]+)"\)/g;

/** The outputs that a source loads, those that it loads late left out. */
function loadedFor(source, outputs) {
  const loaded = new Set(Object.keys(outputs).filter((path) => outputs[path].entryPoint === source));
  for (const path of loaded) {
    const imports = outputs[path].imports.filter(
      ({ kind, external }) => kind === 'import-statement' && !external,
    );
    for (const imported of imports) loaded.add(imported.path);
  }
  return loaded;
}

/**
 * By its name, the file that an output for readers becomes a part of: one for what all processes load before and after
 * the compile cache is there, one for what each of the others has, one for what they share.
 */
function filesOfReaders(outputs) {
  const closures = READERS.map((source) => ({
    name: basename(source, '.ts'),
    paths: loadedFor(source, outputs),
  }));
  const always = closures.slice(0, 2);
  const fileOf = (path) => {
    const first = always.filter(({ paths }) => paths.has(path)).slice(0, 1);
    const all = first.length > 0 ? first : closures.filter(({ paths }) => paths.has(path));
    return `${all.map(({ name }) => name).join('-')}.cjs`;
  };
  const paths = new Set(closures.flatMap((closure) => [...closure.paths]));
  const parts = [...paths].filter((path) => outputs[path].entryPoint !== READERS[0]);
  return new Map(parts.map((path) => [basename(path), fileOf(path)]));
}

/**
 * Makes CommonJS of what readers load, in a few files, which takes Node.js a third less time than ES modules: no file is
 * waited for, and of a module of Node.js only what is used is read.
 *
 * @returns The outputs as they are then.
 */
async function plainReaders(dist, outputs) {
  const fileOf = filesOfReaders(outputs);
  const partOf = (name) => `require("./${fileOf.get(name)}").part("${name}")`;
  const required = (text) =>
    text
      .replaceAll(STATIC, (statement, list, name) => {
        if (!fileOf.has(name)) return statement;
        const taken = list === undefined ? '' : `const {${list.replaceAll(' as ', ': ')}} = `;
        return `${taken}${partOf(name)};`;
      })
      .replaceAll(LATE, (statement, name) =>
        fileOf.has(name) ? `Promise.resolve().then(() => ${partOf(name)})` : statement,
      );
  const files = new Map([...fileOf.values()].map((file) => [file, { text: PARTS, inputs: {} }]));
  const after = {};
  for (const [path, output] of Object.entries(outputs).filter(([each]) => each.endsWith('.js'))) {
    const name = basename(path);
    const text = required(readFileSync(join(dist, name), 'utf8'));
    const file = files.get(fileOf.get(name));
    if (file === undefined) {
      writeFileSync(join(dist, name), text);
      after[path] = output;
      continue;
    }
    file.text += `parts["${name}"] = (function (exports, module) {\n${await plainModule(text)}});\n`;
    Object.assign(file.inputs, output.inputs);
    rmSync(join(dist, name));
    after[join(dirname(path), fileOf.get(name))] = file;
  }
  for (const [file, { text }] of files) writeFileSync(join(dist, file), text);
  return after;
}

/** Each part is run when it is first required, as a file would be; in brackets, V8 reads it only once. */
const PARTS = `'use strict';
const parts = {};
const made = {};
exports.part = (name) => {
  if (made[name] === undefined) parts[name]((made[name] = { exports: {} }).exports, made[name]);
  return made[name].exports;
};
`;

/** @throws Error for one that assigns what it has exported: whoever requires it would not hear of it. */
async function plainModule(text) {
  if (text.includes('__esm(')) throw new Error('an output for readers assigns what it has exported');
  const { code } = await esbuild.transform(text.replace(REQUIRE, ''), {
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    define: { 'import.meta.url': 'hereUrl' },
  });
  const here = "const hereUrl = require('node:url').pathToFileURL(__filename).href;\n";
  return code.includes('hereUrl') ? here + code : code;
}

async function bundleZod(outfile) {
  const { metafile } = await esbuild.build({
    absWorkingDir: cli,
    stdin: { contents: "export * from 'zod';", resolveDir: cli },
    outfile,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    minifyWhitespace: true,
    plugins: [othersTerse()],
    metafile: true,
  });
  return metafile;
}

/**
 * Bundles the command.
 *
 * @param dist - Gets the files: `bin.js`, `index.js`, `driver.js`, what they share, `zod.cjs`, the prompts, the page, the licences.
 * @param build - Makes the page.
 * @returns What is in them, as esbuild tells it.
 */
export async function bundleCli(dist, build = bundlePage) {
  const { metafile } = await esbuild.build({
    ...OPTIONS,
    outdir: dist,
    plugins: [
      pastFrontDoors(),
      lateZod(),
      langGraphDoor(SOURCES, join(cli, 'src', 'drive', 'langGraphCopy.ts')),
      othersTerse(),
    ],
  });
  const zod = await bundleZod(join(dist, ZOD_FILE));
  const langGraph = await bundleLangGraph(esbuild, {
    folders: SOURCES,
    outfile: join(dist, OWN_COPY),
    resolveDir: join(root, 'packages', 'core'),
  });
  cpSync(join(root, 'packages', 'agents', 'prompts'), join(dist, 'prompts'), { recursive: true });
  const page = await build(join(dist, 'page'));
  const inputs = [...Object.keys(metafile.inputs), ...Object.keys(zod.inputs)];
  const made = [
    ...inputs.map((input) => resolve(cli, input)),
    ...Object.keys(langGraph.inputs).map((input) => resolve(root, 'packages', 'core', input)),
  ];
  writeFileSync(join(dist, 'THIRD_PARTY_LICENSES.txt'), bundledLicences('devs', [...made, ...page.madeFrom]));
  return { ...metafile, outputs: await plainReaders(dist, metafile.outputs) };
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const dist = join(cli, 'dist');
  const made = new Set();
  const { outputs } = await bundleCli(dist, async (into) => {
    const page = await buildPage();
    mkdirSync(join(into, 'code'), { recursive: true });
    for (const { name, contents } of page.files) {
      writeFileSync(join(into, name), contents);
      if (name.endsWith('.js')) made.add(join(into, name));
    }
    return page;
  });
  for (const output of Object.keys(outputs)) made.add(resolve(cli, output));
  for (const other of [ZOD_FILE, OWN_COPY]) made.add(join(dist, other));
  // What tsc or an earlier build has left. Nothing else is JavaScript there: tsc writes the declarations.
  for (const name of readdirSync(dist, { recursive: true })) {
    const file = join(dist, name);
    if (/\.c?js(?:\.map)?$/.test(name) && !made.has(file)) rmSync(file);
  }
}
