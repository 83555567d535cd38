import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { STATE_FILE } from '../../src/config/defaults.ts';
import { openReadOnly } from '../../src/db/createDatabase.ts';
import { durable } from '../../src/engine/durable.ts';
import { maskPreciseDeep } from '../../src/masking/maskPrecise.ts';
import { registerSecrets } from '../../src/masking/registerSecrets.ts';
import { SecretRegistry } from '../../src/masking/SecretRegistry.ts';
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
  const { gates } = await run.drive();
  for (const gate of gates) {
    await run.decide(gate, { approved: false, feedback: `secret: ${NAMED}`, by: ada });
  }
  first.close();

  const second = await open();
  const again = await second.run('strict');
  let now = await again.drive();
  while (now.status === 'suspended') {
    for (const gate of now.gates) await again.decide(gate, { approved: true, by: ada });
    now = await again.drive();
  }
  expect(now.status).toBe('completed');
  second.close();
  expectNoneIn(path.join(dir, STATE_FILE));
});

test('nor in that of a graph, where the name is the name of a field; the same input is the same run', async () => {
  const State = Annotation.Root({
    login: Annotation<{ user: string; password: string }>,
    note: Annotation<string>,
  });
  const builder = new StateGraph(State)
    .addNode('say', ({ login }) => ({ note: `api_key=${login.password}${NAMED}` }))
    .addEdge(START, 'say')
    .addEdge('say', END);
  const file = path.join(dir, 'graph.sqlite');
  const input = { login: { user: 'bob', password: NAMED } };
  const app = durable(builder, { file, secrets });
  const { values } = await app.run('one', input);
  expect(values).toEqual({ login: { user: 'bob', password: '[REDACTED]' }, note: '[API_KEY=REDACTED]' });
  expect((await app.run('one', input)).status).toBe('completed');
  app.close();
  expectNoneIn(file);
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
