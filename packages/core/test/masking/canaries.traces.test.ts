import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { STATE_FILE } from '../../src/config/defaults.ts';
import { openReadOnly } from '../../src/db/createDatabase.ts';
import { maskSensitiveData } from '../../src/masking/maskSensitiveData.ts';
import type { Checks } from '../../src/orchestration/ports.ts';
import { Orchestrator } from '../../src/surface/Orchestrator.ts';
import type { PipelineResult } from '../../src/surface/views.ts';
import { MemoryWorkspace, scriptedChecks } from '../../src/testing/index.ts';
import { canaryAgents } from './canaryAgents.ts';
import { bytesOf, textsOf } from './readEverything.ts';

const ada = { kind: 'human', id: 'ada' } as const;

// Made up here, so that no scanner finds them in this file.
const made = (char: string, count: number): string => `${char}7Q`.repeat(count).slice(0, count);
/** Canaries that the precise rules claim, one per place. */
const PRECISE = {
  brief: `ghp_${made('b', 36)}`,
  model: `sk-ant-${made('m', 40)}`,
  error: `glpat-${made('e', 20)}`,
  feedback: `npm_${made('f', 36)}`,
  check: `xoxb-${made('c', 30)}`,
  environment: `canary-${made('v', 12)}`,
} as const;
/** A canary that only the broad rules know: prose in the state, and never shown. */
const NAMED = made('n', 14);

let project: string;
let dir: string;

beforeEach(() => {
  project = mkdtempSync(path.join(tmpdir(), 'devs-canary-'));
  dir = path.join(project, '.devs');
  vi.stubEnv('CANARY_TOKEN', PRECISE.environment);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(project, { recursive: true, force: true });
});

const said = `The key is ${PRECISE.model}, from ${Buffer.from(PRECISE.environment).toString('base64')}, password=${NAMED}`;
const failure = `401: token ${PRECISE.error} refused, password=${NAMED}`;

async function openCanaries(): Promise<Orchestrator> {
  const checks = scriptedChecks();
  return Orchestrator.open({
    dir,
    agents: canaryAgents({ say: said, failWith: failure }),
    workspace: new MemoryWorkspace(),
    checks: {
      run: async (request) => ({ ...(await checks.run(request)), output: `check ${PRECISE.check}` }),
    },
  });
}

async function driveWithFeedback(devs: Orchestrator): Promise<PipelineResult> {
  const run = await devs.start({
    id: 'canary',
    brief: `# Canary\n\nUse ${PRECISE.brief} and password=${NAMED}.\n`,
  });
  let now = await run.resume();
  for (let turn = 0; now.status === 'waiting'; turn += 1) {
    const approved = turn > 0;
    const feedback = approved ? {} : { feedback: `Not with ${PRECISE.feedback}, please.` };
    for (const gate of now.gates) await run.decide(gate, { approved, ...feedback, by: ada });
    now = await run.resume();
  }
  return now;
}

const expectNone = (text: string, canaries: readonly string[]): void => {
  for (const canary of canaries) expect(text.includes(canary), canary).toBe(false);
};

describe('canaries in a brief, model output, an error, feedback, a check and the environment', () => {
  test('are not in the state file, nor in events, nor in the outcome', async () => {
    const file = path.join(dir, STATE_FILE);
    const devs = await openCanaries();
    const heard: unknown[] = [];
    devs.events.onAny((name, payload) => heard.push([name, payload]));
    const result = await driveWithFeedback(devs);
    expect(result.status).toBe('completed');

    const precise = Object.values(PRECISE);
    expectNone(bytesOf(file).toString('latin1'), precise);
    devs.close();
    expectNone(bytesOf(file).toString('latin1'), precise);
    const db = openReadOnly({ dbPath: file });
    const stored = textsOf(db);
    db.close();
    expectNone(stored, precise);
    expect(stored).toContain('[REDACTED:anthropic]');
    expect(stored).toContain('[REDACTED:registered]');

    const every = [...precise, NAMED];
    expectNone(JSON.stringify(heard), every);
    expectNone(JSON.stringify({ ...result, gates: [] }), every);
  });

  test('are told of, once for each place they were masked in', async () => {
    const devs = await openCanaries();
    const places = new Set<string>();
    devs.events.on('SECRET_REDACTED', ({ place }) => places.add(place.replace(/[0-9a-f-]{36}/, '<id>')));
    await driveWithFeedback(devs);
    devs.close();
    for (const place of [
      'input',
      'step research',
      'step design',
      'step distill',
      'step implement',
      'decision <id>',
    ]) {
      expect(places).toContain(place);
    }
  });
});

describe('prose that looks like secrets', () => {
  const patterns = [
    'Send `Authorization: Bearer abc.def` with each call.',
    'The client adds api_key=<value> to the query.',
    'An id such as AKIA… names the key; const password=hash(input) is what is stored.',
    'secret=none means that no secret is set.',
    'Connect with https://user:<password>@host, or as DATABASE_URL says.',
  ];
  const prose = patterns.join('\n');

  const open = (workspace: MemoryWorkspace, onCall: () => void): Promise<Orchestrator> =>
    Orchestrator.open({
      dir,
      agents: canaryAgents({ say: prose, failWith: null, onCall }),
      workspace,
      checks: checksOf(workspace),
    });

  /** Green when every test has its implementation; the same verdict for the same files, whoever asks. */
  const checksOf = (workspace: MemoryWorkspace): Checks => ({
    run: async ({ dir: folder }) => {
      const files = await (await workspace.open(path.basename(folder))).list();
      const passed = files.every(
        (file) => !file.startsWith('test/') || files.includes(file.replace('test', 'implement')),
      );
      return { passed, exitCode: passed ? 0 : 1, timedOut: false, output: '', command: 'files' };
    },
  });

  /** Drives a run to its end; with `killAt`, whoever drives it stops at each of these calls and another one goes on. */
  async function finalTree(id: string, killAt: readonly number[]): Promise<string> {
    const workspace = new MemoryWorkspace();
    let calls = 0;
    for (;;) {
      const abort = new AbortController();
      const devs = await open(workspace, () => {
        calls += 1;
        if (killAt.includes(calls)) abort.abort();
      });
      const run = await devs.start({
        id,
        brief: `# Prose\n\n${prose}\n`,
        gates: { design: 'auto', dag: 'auto' },
      });
      const { status } = await run.resume({ drain: abort.signal });
      devs.close();
      if (status === 'completed') return (await workspace.open(id)).snapshot();
      expect(['paused', 'waiting']).toContain(status);
    }
  }

  test('comes through the gates unchanged, to the same tree whether its driver was stopped or not', async () => {
    const whole = await finalTree('whole', []);
    expect(await finalTree('stopped', [1, 3, 5, 8, 9])).toBe(whole);
  });

  test('reaches the file that is written, and the broad rules would not have let it', async () => {
    const workspace = new MemoryWorkspace();
    const devs = await open(workspace, () => {});
    const run = await devs.start({ id: 'prose', brief: '# Prose\n', gates: { design: 'auto', dag: 'auto' } });
    expect((await run.resume()).status).toBe('completed');
    devs.close();
    expect(await (await workspace.open('prose')).read('implement/1.md')).toContain(prose);
    expect(maskSensitiveData(prose)).not.toBe(prose);
  });
});
