import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { test as base, describe, expect } from 'vitest';
import { Orchestrator } from '../../src/surface/Orchestrator.ts';
import { moduleFile } from '../support/programFile.ts';

interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Fixtures {
  /** An empty project folder. */
  dir: string;
  /** Runs a script of the repository in that folder, against the sources. */
  run: (script: string, ...args: readonly string[]) => Promise<Ended>;
}

const CORE = new URL('../../src/index.ts', import.meta.url);

/** Gives a script the sources as one file in the place of each by itself: ten processes start in a tenth of the time. */
const insteadOfSources = (file: string): string => {
  const resolve = `(name, context, next) =>
    name === '${CORE.href}' ? { url: '${pathToFileURL(file).href}', shortCircuit: true } : next(name, context)`;
  const hooks = asModule(`export const resolve = ${resolve};`);
  // Node.js 20 has only the one, and 26 warns of it.
  return asModule(`import module from 'node:module';
    if (module.registerHooks) module.registerHooks({ resolve: ${resolve} });
    else module.register(${JSON.stringify(hooks)});`);
};
const asModule = (text: string): string => `data:text/javascript,${encodeURIComponent(text)}`;

const scriptPath = (name: string): string =>
  fileURLToPath(new URL(`../../../../scripts/${name}.mjs`, import.meta.url));

const test = base.extend<Fixtures>({
  dir: async ({}, use) => {
    const dir = mkdtempSync(join(tmpdir(), 'devs-scripts-'));
    await use(dir);
    rmSync(dir, { recursive: true, force: true });
  },
  run: async ({ dir }, use) => {
    const node = ['--conditions=@devs/source', '--import', insteadOfSources(moduleFile(CORE))];
    await use(
      (script, ...args) =>
        new Promise((resolve) => {
          const argv = [...node, scriptPath(script), ...args];
          execFile(process.execPath, argv, { cwd: dir }, (error, stdout, stderr) => {
            resolve({ exitCode: error === null ? 0 : Number(error.code), stdout, stderr });
          });
        }),
    );
  },
});

const countOf = (text: string, word: string): number => text.split(word).length - 1;

describe('the entry scripts', () => {
  test('walk a brief through both gates and tell its story', async ({ dir, run }) => {
    writeFileSync(join(dir, 'brief.md'), '# CSV export\n\nExport a table.\n');
    const ran = await run('run-brief', 'brief.md');
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    const id = /^(csv-export-\w+): completed$/m.exec(ran.stdout)?.[1] ?? '';
    expect(countOf(ran.stdout, `"principal":"human:${userInfo().username}"`)).toBe(2);

    const told = await run('story', '.', id);
    expect(told).toMatchObject({ exitCode: 0, stderr: '' });
    expect(told.stdout).toContain(`${id}  CSV export  completed`);
    expect(countOf(told.stdout, 'HITL_SESSION_DECIDED')).toBe(2);
    expect(told.stdout).toMatch(/"sessionId":"[0-9a-f-]{36}","kind":"design_approval"/);
  });

  test('go on with a run that another process has begun, until a human is needed', async ({ dir, run }) => {
    const devs = await Orchestrator.open({ dir: join(dir, '.devs') });
    await devs.start({ id: 'csv-export', brief: '# CSV export' });
    devs.close();
    const { exitCode, stdout, stderr } = await run('resume-thread', '.', 'csv-export');
    expect({ exitCode, stderr }).toEqual({ exitCode: 75, stderr: '' });
    expect(stdout).toMatch(/csv-export: waiting\n {2}waits for a human: design_approval [0-9a-f-]{36}\n$/);
  });

  test('say which run is missing and create no state file while looking', async ({ dir, run }) => {
    const ended = await Promise.all(['story', 'resume-thread'].map((script) => run(script, '.', 'nope')));
    for (const { exitCode, stderr } of ended) {
      expect(exitCode).toBe(1);
      expect(stderr).toContain('THREAD_NOT_FOUND: There are no runs in .');
    }
    expect(existsSync(join(dir, '.devs'))).toBe(false);
  });

  test('explain themselves with --help, and on stderr when called wrongly', async ({ run }) => {
    for (const script of ['run-brief', 'resume-thread', 'story']) {
      const [helped, wrong] = await Promise.all([run(script, '--help'), run(script)]);
      expect(helped.exitCode).toBe(0);
      expect(wrong).toMatchObject({ exitCode: 2, stdout: '' });
      expect(wrong.stderr).toBe(helped.stdout);
      expect(helped.stdout).toContain(`Usage: node scripts/${script}.mjs`);
    }
  });
});
