// A test file whose name says that it may share a process, and whose text does what the others there would see: the name
// decides (vitest.workspace.ts), this looks whether it is true.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withoutComments } from './imports.mjs';

/** What a file changes for its whole process and no other file stands: modules, what is masked, `Set.prototype` (Vega-Lite). */
const OWN = /\bplot\/plots\.ts|\bvi\.(?:mock|doMock|hoisted|resetModules)\b|(?<!")\bsecretRegistry\b/;
/** The same. */
const MASKS = /\bregisterSecrets\b|\bmask: 'broad'/;
/** What these make known to be secret is in registries of their own, unless they name that of the process. */
const OWN_REGISTRIES = 'packages/core/src/masking/';
/** What it cannot take back either, and others that do such a thing stand: Playwright wraps `process.cwd`; a secret stays one. */
const TRACES =
  /\bopenChromium\b|\bModelHost\b|\bapiKey: (?!'key')|_API_KEY(?:'?: |', )(?!'key')|\bstubEnv\('\w+_TOKEN'/;

const endingOf = (path) => /\.(own|traces)\.test\.ts$/.exec(path)?.[1];

/** The kind that a file needs by its text; `undefined` for one that may share. */
function neededBy({ path, text }) {
  if (OWN.test(text)) return 'own';
  if (path.startsWith(OWN_REGISTRIES)) return undefined;
  if (MASKS.test(text)) return 'own';
  return TRACES.test(text) ? 'traces' : undefined;
}

/** What is wrong with the names of test files. @param files `{ path, text }`, paths from the root, with slashes */
export function wronglyNamed(files) {
  return files.flatMap(({ path, text }) => {
    const [ending, needed] = [endingOf(path), neededBy({ path, text: withoutComments(text) })];
    if (needed === undefined || ending === needed || ending === 'own') return [];
    return [
      `${path}: changes what others in its process would see: call it ${path.replace(/(?:\.traces)?\.test\.ts$/, `.${needed}.test.ts`)}`,
    ];
  });
}

const root = fileURLToPath(new URL('..', import.meta.url));

function testFiles() {
  const folders = readdirSync(join(root, 'packages')).flatMap((name) =>
    ['src', 'test'].map((folder) => `packages/${name}/${folder}`),
  );
  return folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true }).map((file) => `${folder}/${file}`),
    )
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => ({ path: path.replaceAll('\\', '/'), text: readFileSync(join(root, path), 'utf8') }));
}

function main() {
  const files = testFiles();
  const complaints = wronglyNamed(files);
  for (const complaint of complaints) process.stderr.write(`${complaint}\n`);
  process.stdout.write(`tests: ${files.length} files, ${complaints.length} in the wrong process\n`);
  process.exitCode = complaints.length === 0 ? 0 : 1;
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) main();
