import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { STATE_FILE } from '../../src/config/defaults.ts';
import { openReadOnly } from '../../src/db/createDatabase.ts';
import { durable } from '../../src/engine/app/durable.ts';
import { maskPreciseDeep } from '../../src/masking/maskSensitiveData.ts';
import { registerSecrets, SecretRegistry } from '../../src/masking/SecretRegistry.ts';
import { scrub } from '../../src/masking/scrub.ts';
import { Orchestrator } from '../../src/surface/Orchestrator.ts';
import { MemoryWorkspace, scriptedChecks } from '../../src/testing/index.ts';
import { canaryAgents } from './canaryAgents.ts';
import { bytesOf, textsOf } from './readEverything.ts';

// `mask: 'broad'` is for the whole process: nothing in this file may need the other one.

const NAMED = 'Sommer2024garten';
const ada = { kind: 'human', id: 'ada' } as const;
const secrets = { fromEnv: false, mask: 'broad' } as const;

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'devs-strict-'));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

function expectNoneIn(file: string): void {
  const db = openReadOnly({ dbPath: file });
  expect(textsOf(db)).not.toContain(NAMED);
  db.close();
  expect(bytesOf(file).includes(NAMED)).toBe(false);
}

test('a secret that only its name gives away is not in the state file of a pipeline', async () => {
  const open = (): Promise<Orchestrator> =>
    Orchestrator.open({
      dir,
      secrets,
      agents: canaryAgents({ say: `password=${NAMED}`, failWith: `token: ${NAMED}` }),
      workspace: new MemoryWorkspace(),
      checks: scriptedChecks(),
    });
  const first = await open();
  const run = await first.start({ id: 'strict', brief: `# Strict\n\nUse password=${NAMED}.\n` });
  const { gates } = await run.resume();
  for (const gate of gates) {
    await run.decide(gate, { approved: false, feedback: `secret: ${NAMED}`, by: ada });
  }
  first.close();

  const second = await open();
  const again = await second.run('strict');
  let now = await again.resume();
  while (now.status === 'waiting') {
    for (const gate of now.gates) await again.decide(gate, { approved: true, by: ada });
    now = await again.resume();
  }
  expect(now.status).toBe('completed');
  second.close();
  expectNoneIn(path.join(dir, STATE_FILE));
});

test('changes nothing in the state of a graph, but what its nodes scrub', async () => {
  const State = Annotation.Root({
    login: Annotation<{ user: string; password: string }>,
    note: Annotation<string>,
    scrubbed: Annotation<unknown>,
  });
  const note = `api_key=${NAMED}`;
  const builder = new StateGraph(State)
    .addNode('say', ({ login }) => ({ note, scrubbed: scrub({ login, note }).value }))
    .addEdge(START, 'say')
    .addEdge('say', END);
  const login = { user: 'bob', password: NAMED };
  const app = durable(builder, { file: path.join(dir, 'graph.sqlite'), secrets });
  const { values } = await app.run('one', { login });
  app.close();
  const scrubbed = { login: { user: 'bob', password: '[REDACTED]' }, note: '[API_KEY=REDACTED]' };
  expect(values).toEqual({ login, note, scrubbed });
});

test('without the choice, names alone change nothing; a wrong choice is refused before anything is registered', () => {
  const registry = new SecretRegistry();
  const value = { password: NAMED, note: `password=${NAMED}` };
  registerSecrets({ fromEnv: false }, registry);
  expect(maskPreciseDeep(value, registry)).toEqual({ value, count: 0 });
  expect(() => registerSecrets({ values: ['abcdefgh'], mask: 'wide' as 'broad' }, registry)).toThrow(
    RangeError,
  );
  expect(registry.rules()).toEqual([]);
  registerSecrets({ fromEnv: false, mask: 'broad' }, registry);
  expect(maskPreciseDeep(value, registry)).toEqual({
    value: { password: '[REDACTED]', note: '[SECRET=REDACTED]' },
    count: 2,
  });
});
