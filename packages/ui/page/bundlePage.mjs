import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const page = fileURLToPath(new URL('./', import.meta.url));

/** The style sheets, in the order in which they count; one file in the end. */
const STYLES = ['page.css', 'gate.css', 'run.css'];

/**
 * The files of the page, written to `outdir`.
 *
 * @returns Each with its name and contents; and the paths of what they were made from.
 */
export async function bundlePage(outdir) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: page,
    entryPoints: { page: 'main.tsx' },
    outdir,
    bundle: true,
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
  const files = [
    { name: 'page.js', contents: outputFiles[0].contents },
    { name: 'page.css', contents: await styles() },
    { name: 'index.html', contents: await readFile(join(page, 'index.html')) },
  ];
  await mkdir(outdir, { recursive: true });
  for (const { name, contents } of files) await writeFile(join(outdir, name), contents);
  return { files, madeFrom: Object.keys(metafile.inputs).map((input) => join(page, input)) };
}

async function styles() {
  const sheets = await Promise.all(STYLES.map((name) => readFile(join(page, name), 'utf8')));
  return Buffer.from(sheets.join(''));
}
