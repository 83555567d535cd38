import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const page = fileURLToPath(new URL('./', import.meta.url));

/** The style sheets, in the order in which they count; one file in the end. */
const STYLES = 'tokens base controls parts page inbox gate diff answered run small'.split(' ');

/**
 * The files of the page, written to `outdir`: three that a browser loads first. `code/` has the
 * colours of code, by language, to be loaded later.
 *
 * @returns Each with its name and contents, and whether a browser loads it later; and the paths of their sources.
 */
export async function bundlePage(outdir) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: page,
    entryPoints: { page: 'main.tsx' },
    outdir,
    bundle: true,
    splitting: true,
    chunkNames: 'code/[name]-[hash]',
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'inline',
    logLevel: 'warning',
    write: false,
    metafile: true,
  });
  const first = loadedFirst(metafile);
  const files = [
    ...outputFiles.map(({ path, contents }) => ({
      ...{ name: nameOf(path), contents, isLater: !first.has(basename(path)) },
    })),
    { name: 'page.css', contents: await styles(), isLater: false },
    { name: 'index.html', contents: await readFile(join(page, 'index.html')), isLater: false },
  ];
  for (const { name, contents } of files) {
    await mkdir(dirname(join(outdir, name)), { recursive: true });
    await writeFile(join(outdir, name), contents);
  }
  return { files, madeFrom: Object.keys(metafile.inputs).map((input) => join(page, input)) };
}

/** The names of the scripts that are loaded with the page. */
function loadedFirst({ outputs }) {
  const byName = new Map(Object.entries(outputs).map(([path, output]) => [basename(path), output]));
  const first = new Set();
  const add = (name) => {
    if (first.has(name)) return;
    first.add(name);
    for (const { kind, path } of byName.get(name)?.imports ?? [])
      if (kind === 'import-statement') add(basename(path));
  };
  add('page.js');
  return first;
}

const nameOf = (path) => (basename(dirname(path)) === 'code' ? `code/${basename(path)}` : basename(path));

async function styles() {
  const sheets = await Promise.all(
    STYLES.map((name) => readFile(join(page, 'styles', `${name}.css`), 'utf8')),
  );
  return Buffer.from(sheets.join(''));
}
