import { spawnSync } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';

const source = (path: string): string =>
  pathToFileURL(fileURLToPath(new URL(`../src/${path}`, import.meta.url))).href;

// Every module the process asked for, whether loaded with import or require.
const HOOKS = `
  export async function resolve(specifier, context, next) {
    const found = await next(specifier, context);
    process._rawDebug(found.url);
    return found;
  }`;

/** Addresses of all modules that a new process loads for an entry point. */
function modulesLoadedBy(entry: string): readonly string[] {
  const script = `
    import { register } from 'node:module';
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(HOOKS)}));
    await import(${JSON.stringify(source(entry))});
    for (const path of Object.keys((await import('node:module')).default._cache)) process._rawDebug(path);`;
  const args = ['--import', 'tsx', '--input-type=module', '-e', script];
  const { stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return stderr.split('\n').filter((line) => line !== '');
}

describe('@devs/core/langgraph', () => {
  test('loads nothing that moves files or keeps packs of git: only an app with `runs` needs it', () => {
    const all = modulesLoadedBy('langgraph.ts');
    const modules = all.filter((url) => url.includes('/core/src/'));
    expect(all.filter((url) => url.includes('/node_modules/langchain/'))).toEqual([]);
    expect(modules.some((url) => url.endsWith('/engine/app/durable.ts'))).toBe(true);
    const moving =
      /\/engine\/remote\/(?!FileRuns)|\/(?:adoptRun|extractRun|gitRecord|GitPackStore|packRun)\.ts$/;
    expect(modules.filter((url) => moving.test(url))).toEqual([]);
  });
});

describe('@devs/core/state', () => {
  test('loads the driver of the state file, and nothing of LangGraph', () => {
    const modules = modulesLoadedBy('state.ts');
    expect(modules.some((url) => url.includes('better-sqlite3'))).toBe(true);
    expect(
      modules.filter((url) => /langchain|langgraph|langsmith/.test(url) && !url.includes('/src/')),
    ).toEqual([]);
    expect(modules.filter((url) => url.includes('/src/orchestration/'))).toEqual([]);
  });

  test('would be found loading it: the checkpointer does', () => {
    expect(
      modulesLoadedBy('engine/saver/SqliteSaver.ts').some((url) => url.includes('@langchain/langgraph')),
    ).toBe(true);
  });
});
