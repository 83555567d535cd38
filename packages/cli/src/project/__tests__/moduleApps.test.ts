import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { exportedBy, importedModule } from '../moduleApps.ts';

const require = createRequire(import.meta.url);
/** tsx's own compiler. */
const { transformSync } = createRequire(require.resolve('tsx/package.json'))('esbuild') as {
  transformSync(source: string, options: object): { readonly code: string };
};
const dir = mkdtempSync(join(tmpdir(), 'devs-module-apps-'));
afterAll(() => rmSync(dir, { recursive: true }));

it.each([
  ['export default { name: "a" };', ['a']],
  ['export const app = { name: "a" };', ['a']],
  ['export const apps = [{ name: "a" }, { name: "b" }];', ['a', 'b']],
  ['export const app = { name: "a" }; export default app;', ['a']],
])('finds the apps of a module that was bundled in any format: %s', async (source, names) => {
  for (const format of ['esm', 'cjs'] as const) {
    const file = join(dir, `${format}-${names.length}-${source.length}.${format === 'esm' ? 'mjs' : 'cjs'}`);
    writeFileSync(file, transformSync(source, { format, platform: 'node', minify: true }).code);
    const apps = exportedBy(await importedModule(file)) as readonly { readonly name?: string }[];
    expect(apps.flatMap((app) => app?.name ?? [])).toEqual(names);
  }
});

it('takes a default export of plain CommonJS as it is', async () => {
  const file = join(dir, 'plain.cjs');
  writeFileSync(file, 'module.exports = { name: "a" };');
  expect(exportedBy(await importedModule(file))[0]).toEqual({ name: 'a' });
});
