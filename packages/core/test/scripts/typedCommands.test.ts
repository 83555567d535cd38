import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OWNERS_CERTIFICATES } from '../support/bareMachine.ts';
import { howMany } from '../support/howMany.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

/** What the scripts have, as JSON. */
function ask(expression: string, names: string, script: string): unknown {
  const code = `import { ${names} } from ${JSON.stringify(join(root, 'scripts', script))};
    console.log(JSON.stringify(${expression}));`;
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' }),
  );
}

interface Typed {
  readonly command: string;
  readonly typed: 'short' | 'long';
}

const TYPED = ask('typedCommands(readLedger())', 'readLedger, typedCommands', 'ledger.mjs') as Typed[];
const SHORT = TYPED.filter(({ typed }) => typed === 'short').map(({ command }) => command);
/** By default what failed once, without an installation, a build and the whole suite. */
const WANTED = howMany('DEVS_TYPED_COMMANDS', SHORT.length);

/** A run of tests within a test, on a machine that is busy. */
const LIMIT_MS = 300_000;
/** An installation, a build and the whole suite three times. */
const WHOLE_MS = 3_600_000;

/** What two of them run. Whether these pass is for themselves to say, once in a run of the tests. */
const NAMED = ['orchestrator/__tests__/recursionGuard', 'orchestration/__tests__/TaskFailureGate'];

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** A checkout that is whole, and the environment of somebody who has just come. */
interface Copy {
  readonly folder: string;
  readonly source: string;
  readonly env: NodeJS.ProcessEnv;
}

/** What a test's own run has set is not there. */
const OF_THIS_RUN = /^(?:npm_|pnpm_|devs_|vitest|vite_|node_env$|node_options$|test$)/i;

async function end(command: string, { source, folder, env }: Copy): Promise<Ended> {
  // A file in /tmp would be another run's.
  const typed = command.replaceAll('/tmp/', `${folder}/`);
  const child = spawn('bash', ['-c', typed], { cwd: source, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [code, ...output] = await Promise.all([closed, text(child.stdout), text(child.stderr)]);
  return { code, output: output.join('') };
}

function makeCopy(): Copy {
  const { folder, source } = ask('copySource()', 'copySource', 'sourceCopy.mjs') as Copy;
  const [bin, home] = ['bin', 'home'].map((name) => join(folder, name)) as [string, string];
  for (const each of [bin, home]) mkdirSync(each);
  // Stands for pnpm, which is not everywhere without a network: it starts a program of the installed ones, as that does.
  writeFileSync(join(bin, 'pnpm'), '#!/bin/sh\nname=$1\nshift\nexec "node_modules/.bin/$name" "$@"\n');
  chmodSync(join(bin, 'pnpm'), 0o755);
  const kept = Object.entries(process.env).filter(([name]) => !OF_THIS_RUN.test(name));
  const PATH = `${bin}${delimiter}${process.env['PATH']}`;
  return { folder, source, env: { ...Object.fromEntries(kept), PATH, HOME: home, NO_COLOR: '1' } };
}

test('the specifications tell to type thirteen commands', () => {
  expect(TYPED.map(({ command }) => command)).toHaveLength(13);
});

if (WANTED <= SHORT.length) {
  describe('in the root of a copy with an empty home', () => {
    let copy: Copy;
    beforeAll(async () => {
      copy = makeCopy();
      for (const name of NAMED) {
        const file = join(copy.source, 'packages/core/src', `${name}.test.ts`);
        expect(readFileSync(file, 'utf8')).toContain('test(');
        writeFileSync(file, "import { test } from 'vitest';\ntest('runs', () => {});\n");
      }
      // All that the build does for one of them.
      const { code, output } = await end('node scripts/bundle-core.mjs', copy);
      expect(output).toBe('');
      expect(code).toBe(0);
    });
    afterAll(() => rmSync(copy.folder, { recursive: true, force: true }));

    test.for(SHORT.slice(0, WANTED))('%s', { timeout: LIMIT_MS }, async (command) => {
      const { code, output } = await end(command, copy);
      expect(code, output).toBe(0);
      // Of console.assert, which leaves the exit code as it is.
      expect(output).not.toContain('Assertion failed');
    });

    test('npx jest refuses what it does not hand on, in a sentence, before a test starts', async () => {
      const { code, output } = await end('npx jest --watchAll', copy);
      expect(output).toBe(
        "Unknown option '--watchAll': these tests run on Vitest, and jest understands a few options only (--help).\n",
      );
      expect(code).toBe(2);
    });

    test('a command of npm that fails says why in words', async () => {
      const { code, output } = await end('npm run nonesuch', copy);
      expect(code).toBe(1);
      expect(output).toMatch(/Missing script: "nonesuch"/);
      expect(output).not.toContain('{');
    });
  });
} else {
  test(
    'all of them, with an installation, in a fresh clone with an empty home',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'devs-typed-'));
      const { code, output } = await end('node scripts/fresh-clone.mjs --node 20 --only typed', {
        folder,
        source: root,
        env: { ...process.env, NODE_EXTRA_CA_CERTS: process.env[OWNERS_CERTIFICATES] },
      });
      rmSync(folder, { recursive: true, force: true });
      expect(code, output).toBe(0);
      for (const { command } of TYPED) expect(output).toContain(`  ${command}\n`);
    },
    WHOLE_MS,
  );
}
