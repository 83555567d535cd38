// Puts the modules behind each entry point of @devs/core into a few files. Node.js takes half a millisecond for every module
// it loads, and there are hundreds. What entry points share is in files that they share, so that a class, a registry or an
// AsyncLocalStorage is there once, whatever is imported. Nothing else is JavaScript there: tsc writes the declarations.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const core = fileURLToPath(new URL('../packages/core/', import.meta.url));
const dist = join(core, 'dist');
const fromRoot = createRequire(new URL('../package.json', import.meta.url));
/** tsx's own compiler, which comes with it. */
const esbuild = createRequire(fromRoot.resolve('tsx'))('esbuild');

const { exports } = JSON.parse(readFileSync(join(core, 'package.json'), 'utf8'));
const entryPoints = Object.values(exports).flatMap(({ '@devs/source': source }) =>
  source === undefined ? [] : [join(core, source)],
);

const { metafile } = await esbuild.build({
  absWorkingDir: core,
  entryPoints,
  outbase: join(core, 'src'),
  outdir: dist,
  bundle: true,
  splitting: true,
  chunkNames: 'shared-[hash]',
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
  metafile: true,
});
// What an earlier build has left.
for (const name of readdirSync(dist, { recursive: true })) {
  const path = join('dist', name);
  if (/\.js(\.map)?$/.test(name) && metafile.outputs[path.replaceAll('\\', '/')] === undefined)
    rmSync(join(core, path));
}

// In the root `require('./dist/db/migrate')` works, too, for who tries the migrations on a database of their own.
const door = fileURLToPath(new URL('../dist/', import.meta.url));
mkdirSync(join(door, 'db'), { recursive: true });
writeFileSync(join(door, 'package.json'), '{ "type": "commonjs" }\n');
writeFileSync(
  join(door, 'db', 'migrate.js'),
  "module.exports = require('../../packages/core/dist/db/migrate.js');\n",
);
