import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { ada, bob } from '../../src/engine/__tests__/ownGraph.ts';
import { internalsOf } from '../../src/engine/file/appInternals.ts';
import type { DeclaredGate } from '../../src/engine/gates/DeclaredGate.ts';
import { type Gate, shownGate } from '../../src/engine/gates/Gate.ts';
import { withPlaceholders } from '../../src/engine/gates/hiddenPlaces.ts';
import { secretRegistry } from '../../src/masking/SecretRegistry.ts';
import { DecisionLog } from '../../src/state/gates/DecisionLog.ts';
import { test } from '../support/fixtures.ts';
import { only } from '../support/only.ts';
import { durable } from '../support/runs/durable.ts';
import { tried } from '../support/tried.ts';

const PAYLOAD = 'rm$IFS-rf$IFS~/work';

/** A command inside of what each family of masks takes for a secret, or as much of one as its alphabet can hold. */
const PROPOSED: readonly string[] = [
  'TOKEN="; rm -rf ~/work; #" npm test',
  `Authorization: Bearer x;${PAYLOAD}`,
  'secret=transfer_90000_EUR_to_DE02120300000000202051',
  `api_key="; ${PAYLOAD}; #" npm test`,
  `password=;${PAYLOAD}`,
  `--client-secret ';${PAYLOAD};'`,
  `curl -u "x:;${PAYLOAD};" https://example.com`,
  `curl -H "Cookie: sid=;${PAYLOAD};"`,
  `mysql -psecret;${PAYLOAD}`,
  `git clone https://x:;${PAYLOAD};@example.com/a`,
  `git clone https://${'a1B2'.repeat(6)}@example.com/;${PAYLOAD}`,
  `curl https://example.com/?token=;${PAYLOAD};a1B2c3`,
  `Server=db;User Id=sa;Password=;${PAYLOAD};`,
  `user:;${PAYLOAD};@tcp(db:3306)/x`,
  `-----BEGIN PRIVATE KEY-----\n${'A1b2'.repeat(20)}\n-----END PRIVATE KEY-----;${PAYLOAD}`,
  `AKIARMRFHOMEALLDATA1 npm test`,
  `npx ghp_${'rmRfHomeWork'.repeat(3)}`,
  `npx github_pat_${'a1'.repeat(11)}_${'rm'.repeat(29)}x`,
  `npx npm_${'rmRfHomeWork'.repeat(3)}`,
  `npx glpat-${'rm-rf-home'.repeat(2)}`,
  `npx sk-proj-${'no-verify-'.repeat(3)}`,
  `npx xoxb-${'rm-rf-home-'.repeat(3)}`,
  `npx AIza${'rmRfHome1'.repeat(4).slice(0, 35)}`,
  `sh -c $(echo ${Buffer.from(`password=;${PAYLOAD}; AKIA0123456789ABCDEF`).toString('base64')} | base64 -d)`,
];

const Shape = Annotation.Root({ command: Annotation<string>() });

/** Proposes a command and runs it once somebody has said yes: from its state, or from the node's own variable. */
function proposing(db: Database, proposed: string, way: 'state' | 'interrupt') {
  const ran: string[] = [];
  const run = ({ command }: { readonly command: string }) => {
    ran.push(command);
    return {};
  };
  const builder = new StateGraph(Shape)
    .addNode('propose', () => ({ command: way === 'state' ? proposed : 'none' }))
    .addNode('execute', (state) => {
      if (way === 'state') return run(state);
      const said = interrupt<{ readonly command: string }, string>({ command: proposed });
      return said === 'yes' ? run({ command: proposed }) : {};
    })
    .addEdge(START, 'propose')
    .addEdge('propose', 'execute')
    .addEdge('execute', END);
  const gates = { execute: ({ command }: typeof Shape.State) => ({ command }) };
  return { app: durable(builder, { db, ...(way === 'state' && { gates }) }), ran };
}

const YES = { state: { approved: true }, interrupt: { value: 'yes' } };

describe('a proposer that hides a command where masks hide secrets', () => {
  test('has none of it run that was not read, after an ordinary yes', async ({ db, task }) => {
    db.pragma('synchronous = OFF'); // nothing dies here
    const hidden: string[] = [];
    const through: string[] = [];
    const ways = PROPOSED.flatMap((proposed) =>
      (['state', 'interrupt'] as const).map((way) => ({ proposed, way })),
    );
    for (const [index, { proposed, way }] of ways.entries()) {
      const { app, ran } = proposing(db, proposed, way);
      const id = `${way}-${index}`;
      const gate = only((await app.run(id, { command: '' })).gates);
      const { command } = shownGate(gate).artifact as { readonly command: string };
      const refused = await app.decide(gate, { ...YES[way], by: ada }).then(
        () => null,
        ({ code }: { readonly code: string }) => code,
      );
      if (refused !== null) hidden.push(refused);
      await app.run(id);
      if (ran.some((one) => one !== command)) through.push(`${way}: ${proposed}`);
    }
    tried(task, { ways: ways.length, through: through.length });
    expect(through).toEqual([]);
    // Where masks had taken something out of the node's own variable, nobody could say an ordinary yes.
    expect(new Set(hidden)).toEqual(new Set(['GATE_HIDDEN']));
    expect(hidden.length).toBeGreaterThan(10);
  });

  test.for(PROPOSED.slice(0, 3))('is read as it stands: %j', async (proposed, { db }) => {
    const { app } = proposing(db, proposed, 'state');
    const gate = only((await app.run('run', { command: '' })).gates);
    expect(shownGate(gate)).toMatchObject({
      artifact: { command: proposed },
      hiddenPlaces: [],
      hiddenCount: 0,
    });
  });
});

let made = 0;

/** Other ones each time: what is registered stays so for the process, and would be hidden at the gate. */
function madeUp(): string {
  made += 1;
  return `pw;${`q7Rk${made.toString(36)}`.repeat(4)}`;
}

/** A run at a gate that showed all of it to whoever asked, and hides three places from whoever knows the values. */
async function hiding(db: Database, gates: Partial<DeclaredGate<typeof Shape.State>> = {}) {
  const ran: unknown[] = [];
  const [PASSWORD, OTHER] = [madeUp(), madeUp()];
  const COMMAND = `login ${PASSWORD} && login ${PASSWORD} && ${OTHER}`;
  const builder = new StateGraph(Shape)
    .addNode('execute', ({ command }) => {
      ran.push(command);
      return {};
    })
    .addEdge(START, 'execute')
    .addEdge('execute', END);
  const show = ({ command }: typeof Shape.State) => ({ command });
  const app = durable(builder, { db, gates: { execute: { show, ...gates } } });
  const gate = only((await app.run('run', { command: COMMAND })).gates);
  for (const value of [PASSWORD, OTHER]) secretRegistry.register(value);
  return { app, gate, ran, PASSWORD, OTHER, COMMAND };
}

const rowsOf = (db: Database): unknown =>
  db
    .prepare('SELECT status, decision_json, (SELECT count(*) FROM events) AS events FROM hitl_sessions')
    .all();

describe('a gate that hides something', () => {
  test('shows it with its length and digest, refuses an ordinary yes and writes nothing then', async ({
    db,
  }) => {
    const { app, gate, ran, PASSWORD, OTHER, COMMAND } = await hiding(db);
    const { hiddenPlaces, hiddenCount, artifact } = shownGate(gate);
    expect(hiddenCount).toBe(3);
    expect(hiddenPlaces.map(({ in: path, at, length }) => [path, at, length])).toEqual([
      ['/artifact/command', 6, PASSWORD.length],
      ['/artifact/command', COMMAND.lastIndexOf(PASSWORD), PASSWORD.length],
      ['/artifact/command', COMMAND.indexOf(OTHER), OTHER.length],
    ]);
    const [first, second, third] = hiddenPlaces.map(({ digest }) => digest);
    expect([second === first, third === first]).toEqual([true, false]);
    expect(JSON.stringify(artifact)).not.toContain('q7Rk');
    const before = rowsOf(db);
    for (const answer of [{}, { withHidden: 2 }, { withHidden: 0 }])
      await expect(app.decide(gate, { approved: true, ...answer, by: ada })).rejects.toMatchObject({
        code: 'GATE_HIDDEN',
        context: { hidden: 3 },
      });
    for (const withHidden of [-1, 1.5, '3'])
      await expect(
        app.decide(gate, { approved: true, withHidden: withHidden as number, by: ada }),
      ).rejects.toThrow(TypeError);
    expect(rowsOf(db)).toEqual(before);
    expect(ran).toEqual([]);
  });

  test('takes a yes that names how many, and the decision says so, in its row, log and event', async ({
    db,
  }) => {
    const { app, gate, ran } = await hiding(db);
    const { hidden, decision } = await app.decide(gate, { approved: true, withHidden: 3, by: ada });
    expect({ hidden, decision }).toEqual({
      hidden: { count: 3, revealed: [] },
      decision: { approved: true },
    });
    const [body] = db.prepare<[], string>('SELECT body_json FROM hitl_decisions').pluck().all();
    expect(JSON.parse(body ?? '')).toMatchObject({ hidden: { count: 3, revealed: [] } });
    expect(internalsOf(app).store.log.listNamed('run', 'HITL_SESSION_DECIDED').at(-1)?.payload).toMatchObject(
      {
        hidden: { count: 3, revealed: [] },
      },
    );
    expect(new DecisionLog(db).verify()).toEqual({ ok: true });
    // This process knows the values by now: what was approved is what it runs all the same.
    expect((await app.run('run')).status).toBe('completed');
    expect(ran).toHaveLength(1);
  });

  test('takes a no, and a yes where nothing is hidden, as before', async ({ db }) => {
    const { app, gate } = await hiding(db);
    const no = await app.decide(gate, { approved: false, feedback: 'What is it?', by: ada });
    expect(no).toMatchObject({ status: 'decided', hidden: { count: 3, revealed: [] } });
    const plain = only((await app.run('plain', { command: 'const password = hash(input)' })).gates);
    await expect(app.decide(plain, { approved: true, withHidden: 1, by: ada })).rejects.toMatchObject({
      code: 'GATE_HIDDEN',
    });
    expect(await app.decide(plain, { approved: true, by: ada })).not.toHaveProperty('hidden');
  });

  test('asks each of several who have to say yes', async ({ db }) => {
    const { app, gate } = await hiding(db, { approvals: { of: ['ada', 'bob'], count: 2 } });
    await app.decide(gate, { approved: true, withHidden: 3, by: ada });
    await expect(app.decide(gate, { approved: true, by: bob })).rejects.toMatchObject({
      code: 'GATE_HIDDEN',
    });
    await app.decide(gate, { approved: true, withHidden: 3, by: bob });
    expect(
      internalsOf(app)
        .store.log.listNamed('run', 'GATE_VOTED')
        .map(({ payload }) => payload.hidden?.count),
    ).toEqual([3, 3]);
  });
});

describe('a version of one’s own of what hides something', () => {
  const edit = (_state: typeof Shape.State, own: unknown) => ({
    command: (own as { readonly command: string }).command,
  });
  const editable = (gate: Gate): string =>
    (withPlaceholders(gate.artifact) as { readonly command: string }).command;

  test('has each placeholder put back by its place, wherever it was moved to', async ({ db }) => {
    const { app, gate, PASSWORD, OTHER } = await hiding(db, { edit });
    const [first, second, third] = editable(gate).match(/\[REDACTED[^\]]+\]/g) ?? [];
    expect(new Set([first, second, third]).size).toBe(3);
    const own = `echo ${third} ${first} # not ${OTHER.slice(0, 5)}`;
    const given = { edit: { command: own }, by: ada };
    await expect(app.decide(gate, given)).rejects.toMatchObject({ code: 'GATE_HIDDEN' });
    await app.decide(gate, { ...given, withHidden: 3 });
    const [json] = db.prepare<[], string>('SELECT decision_json FROM hitl_sessions').pluck().all();
    expect(JSON.parse(json ?? '')).toMatchObject({
      edit: { command: `echo ${OTHER} ${PASSWORD} # not ${OTHER.slice(0, 5)}` },
    });
  });

  test.for([
    '[REDACTED]',
    '[SECRET=REDACTED]',
    '[REDACTED:github]',
    '[REDACTED:registered:19:00000000]',
    '[REDACTED:registered:19:000000000000]',
  ])('is refused with %s, which is never a value', async (mark, { db }) => {
    const { app, gate } = await hiding(db, { edit });
    const before = rowsOf(db);
    const given = { edit: { command: `login ${mark}` }, withHidden: 3, by: ada };
    await expect(app.decide(gate, given)).rejects.toMatchObject({ code: 'INVALID_ANSWER' });
    const nested = { edit: { command: 'x', more: [{ [mark]: 1 }] }, withHidden: 3, by: ada };
    await expect(app.decide(gate, nested)).rejects.toMatchObject({ code: 'INVALID_ANSWER' });
    expect(rowsOf(db)).toEqual(before);
    // What is said about it is no value.
    await app.decide(gate, { approved: false, feedback: `What is ${mark}?`, by: ada });
  });

  test('keeps a mask that the gate shows as text of its own, as often as it shows it', async ({ db }) => {
    const { app } = await hiding(db, { edit });
    const gate = only((await app.run('own', { command: 'print [REDACTED]' })).gates);
    const twice = { edit: { command: 'print [REDACTED] [REDACTED]' }, by: ada };
    await expect(app.decide(gate, twice)).rejects.toMatchObject({ code: 'INVALID_ANSWER' });
    await app.decide(gate, { edit: { command: 'say [REDACTED]' }, by: ada });
  });
});
