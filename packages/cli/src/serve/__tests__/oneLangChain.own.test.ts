import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { OLDEST, useOneLangChain } from '../oneLangChain.ts';

/** A folder with packages of these names and versions; a name with ` > ` is inside of another package. */
function folderWith(packages: Readonly<Record<string, string>>): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'devs-copies-')));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  for (const [name, version] of Object.entries(packages)) {
    const at = join(
      dir,
      'node_modules',
      ...name.split(' > ').flatMap((part, n) => (n === 0 ? [part] : ['node_modules', part])),
    );
    mkdirSync(at, { recursive: true });
    const manifest = { name: name.split(' > ').at(-1), version, type: 'module', exports: './index.js' };
    writeFileSync(join(at, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(at, 'index.js'), `export const version = '${version}';`);
  }
  const dependencies = Object.fromEntries(Object.entries(packages).filter(([name]) => !name.includes(' > ')));
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ type: 'module', dependencies }));
  writeFileSync(
    join(dir, 'probe.js'),
    "export const found = [(await import('@langchain/core')).version, (await import('other')).version];",
  );
  writeFileSync(join(dir, 'native.cjs'), "module.exports = () => import('./probe.js');");
  return dir;
}

/** The versions that modules of a folder find, by the imports of Node.js itself. */
const probe = (dir: string): Promise<object> =>
  (createRequire(join(dir, 'native.cjs'))('./native.cjs') as () => Promise<object>)();

const LANGGRAPH = '@langchain/langgraph';
const CORE = '@langchain/core';

describe('useOneLangChain', () => {
  test('makes what is in its own folder find the LangChain of the graphs, and no other package there', async () => {
    const own = folderWith({ [CORE]: '1.4.0', other: '1.0.0' });
    const project = folderWith({ [CORE]: '1.9.9', [LANGGRAPH]: OLDEST.version, other: '2.0.0' });
    await useOneLangChain(project, own);
    expect(await probe(own)).toMatchObject({ found: ['1.9.9', '1.0.0'] });
    const elsewhere = folderWith({ [CORE]: '1.4.1', other: '3.0.0' });
    expect(await probe(elsewhere)).toMatchObject({ found: ['1.4.1', '3.0.0'] });
  });

  test('refuses a second copy below a package that the project depends on, and names both', async () => {
    const project = folderWith({
      [CORE]: '1.4.0',
      [LANGGRAPH]: OLDEST.version,
      '@langchain/openai': '1.5.8',
      [`@langchain/openai > ${CORE}`]: '1.3.0',
    });
    const refused = expect(useOneLangChain(project, project)).rejects;
    await refused.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(
        /1\.4\.0 in .*, and 1\.3\.0 in .*openai.*, which @langchain\/openai uses/,
      ),
      remedy: expect.stringContaining('npm dedupe'),
    });
  });

  test.for([
    ['1.7.2', true],
    ['1.6.9', true],
    ['0.9.9', true],
    ['1.7.3', false],
    ['1.10.0', false],
    ['2.0.0', false],
  ] as const)('LangGraph %s is too old: %s', async ([version, isTooOld]) => {
    const project = folderWith({ [CORE]: '1.4.0', [LANGGRAPH]: version });
    const used = useOneLangChain(project, project);
    if (isTooOld)
      await expect(used).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining(version),
      });
    else await used;
  });

  test('leaves a project alone that has no LangChain: the import of its graphs says what is missing', async () => {
    await useOneLangChain(folderWith({ other: '1.0.0' }));
  });

  test('the oldest LangGraph is the one that the packages ask for', () => {
    const workspace = readFileSync(new URL('../../../../../pnpm-workspace.yaml', import.meta.url), 'utf8');
    const peers = workspace.slice(workspace.indexOf('peers:'));
    expect(/"@langchain\/langgraph": \^(.*)$/m.exec(peers)?.[1]).toBe(OLDEST.version);
  });
});
