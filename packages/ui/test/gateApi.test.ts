import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Gate, Run } from '@devs/core';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '@devs/core/testing';
import { describe, expect } from 'vitest';
import type { UiOptions } from '../src/createUi.ts';
import type { Draft } from '../src/drafts/Draft.ts';
import type { GateView } from '../src/views/gateView.ts';
import { ADA, mounted, openShop, test, waitingRun } from './support/fixtures.ts';

const draftOf = (words: string): Draft => ({ at: 1, words, comments: [], fields: {} });

/** The routes of the one gate that a run waits at. */
async function atGate(dir: string, run: Run, options: Partial<UiOptions> = {}) {
  const [gate] = (await run.gates()) as [Gate];
  const { artifactHash, sessionId } = gate;
  const { ask, post, errorAt } = mounted(dir, options);
  const at = `/inbox/api/runs/${run.id}/gates/${sessionId}`;
  return {
    gate,
    errorAt,
    get: async (path = '') => (await ask(at + path)).json(),
    view: async () => (await (await ask(at)).json()) as GateView & { readonly canAsk: boolean },
    post: (path: string, body: object) => post(at + path, { artifactHash, ...body }),
    kept: async (hash = artifactHash) =>
      ((await (await ask(`${at}/drafts/${hash}`)).json()) as { draft: Draft | null }).draft,
  };
}

describe('at a gate', () => {
  test('comments go to the lines that were read, as they stand there, and come back with what became of them', async ({
    dir,
  }) => {
    const content = '# Design\n\npay \u202Eeve\u202C now\nTwo tables.\n';
    const agents = fakeAgents({ tasks: 2 });
    const run = await waitingRun(dir, {
      ...agents,
      design: async (request) => ({
        documents: [{ type: 'TAS', title: 'T', content: request.feedback ?? content }],
      }),
    });
    const first = await atGate(dir, run);
    const place = (await first.view()).places.find(({ names }) => names.includes('TAS'));
    expect(place?.texts[0].split('\n')[2]).toBe('pay ⟨U+202E⟩eve⟨U+202C⟩ now');
    const comments = [
      { in: 'TAS', quote: '⟨U+202E⟩eve', line: 3, text: 'Whom?' },
      { in: 'TAS', quote: 'Two tables.', line: 4, text: 'Why not one?' },
    ];
    const wrong = [{ in: 'TAS', quote: 'Three tables.', line: 4, text: 'No.' }];
    expect(
      await first.errorAt(first.post('/decision', { answer: { approved: false, comments: wrong } })),
    ).toMatchObject({ code: 'QUOTE_NOT_SHOWN' });
    expect((await first.post('/decision', { answer: { approved: false, comments } })).status).toBe(200);
    await run.resume();

    const second = await (await atGate(dir, run)).view();
    expect(second.before).toMatchObject({ feedback: null, sessionId: first.gate.sessionId });
    expect(second.lastComments).toMatchObject([
      { quote: 'pay ⟨U+202E⟩eve⟨U+202C⟩ now', by: 'human:ada', since: 'unchanged' },
      { quote: 'Two tables.', text: 'Why not one?', since: 'unchanged' },
    ]);
  });

  test('who reads is told what they read before, however often they look', async ({ dir }) => {
    const run = await waitingRun(dir);
    const first = await atGate(dir, run);
    expect(await first.view()).toMatchObject({ readBefore: null, versions: [] });
    expect((await first.post('/shown', {})).status).toBe(200);
    expect((await first.post('/shown', { artifactHash: 'f'.repeat(64) })).status).toBe(200);
    await first.post('/decision', { answer: { approved: false, feedback: 'Shorter.' } });
    await run.resume();
    const second = await atGate(dir, run);
    await second.post('/shown', {});
    const { sessionId } = first.gate;
    expect(await second.view()).toMatchObject({ readBefore: sessionId, versions: [{ sessionId }] });
    const grace = await atGate(dir, run, { identify: () => ({ kind: 'human', id: 'grace' }) });
    expect(await grace.view()).toMatchObject({ readBefore: null });
    const told = (await run.log()).filter(({ name }) => name === 'GATE_SHOWN');
    expect(told).toHaveLength(2);
  });

  test('documents and plans are edited as they are, and whoever edits an older version is refused', async ({
    dir,
  }) => {
    const run = await waitingRun(dir);
    const { get, post, errorAt } = await atGate(dir, run);
    const { documents } = (await get('/edit')) as { documents: readonly { content: string }[] };
    const changed = documents.slice(0, 1).map((each) => ({ ...each, content: 'Mine.\n' }));
    const answer = { action: 'edit', documents: changed };
    expect((await post('/decision', { answer })).status).toBe(200);
    expect(await errorAt(post('/decision', { answer }))).toMatchObject({ code: 'GATE_ALREADY_DECIDED' });
    await run.resume();
    const design = await atGate(dir, run);
    expect(JSON.stringify((await design.view()).places)).toContain('Mine.');
    expect(
      await design.errorAt(design.post('/decision', { artifactHash: 'f'.repeat(64), answer })),
    ).toMatchObject({
      code: 'GATE_STALE',
    });
    await design.post('/decision', { answer: { approved: true } });
    await run.resume();

    const plan = await atGate(dir, run);
    const draft = (await plan.get('/edit')) as { plan: { epics: { tasks: object[] }[] } };
    const first = draft.plan.epics[0]?.tasks[0];
    const broken = {
      ...draft.plan,
      epics: [{ name: 'E', description: '', tasks: [{ ...first, dependsOn: ['T9'] }] }],
    };
    expect(
      await plan.errorAt(plan.post('/decision', { answer: { action: 'edit', plan: broken } })),
    ).toMatchObject({ code: 'DAG_INVALID' });
    expect((await plan.post('/decision', { answer: { action: 'edit', ...draft } })).status).toBe(200);
  });

  test('an agent is asked where whoever serves the page gave some, and nothing is decided', async ({
    dir,
  }) => {
    const agents = fakeAgents({ tasks: 2 });
    const run = await waitingRun(dir, agents);
    const alone = await atGate(dir, run);
    expect(await alone.view()).toMatchObject({ canAsk: false });
    expect(await alone.errorAt(alone.post('/question', { question: 'Why?' }))).toMatchObject({
      code: 'ASK_UNSUPPORTED',
    });
    const asking = { agents, workspace: new MemoryWorkspace(), checks: scriptedChecks() };
    const { view, post } = await atGate(dir, run, { asking });
    expect(await view()).toMatchObject({ canAsk: true, exchanges: [] });
    const answer = await (await post('/question', { question: 'Why two?' })).json();
    expect(answer).toMatchObject({ exchange: { question: 'Why two?', answer: 'Answer 1 to: Why two?' } });
    expect(await view()).toMatchObject({ isOpen: true, exchanges: [{ principal: 'human:ada' }] });
  });

  test('code is read when it is asked for: all of it, and since an older version', async ({ dir }) => {
    const devs = await openShop(dir);
    const policies = { design: 'auto', dag: 'auto' } as const;
    const run = await devs.start({ id: 'shop', brief: '# Shop', review: 'task', gates: policies });
    await run.resume();
    const first = await atGate(dir, run);
    const sinces: (string | undefined)[] = [];
    const readCode: UiOptions['readCode'] = async (_gate, since) => {
      sinces.push(since);
      return { diff: `password=Tr0ub4dor-and-3-canaries ghp_${'a1B2'.repeat(9)}`, unshown: [] };
    };
    const { get } = await atGate(dir, run, { readCode });
    const hidden = [{ in: '/code', at: 34, length: 40, name: 'github', digest: expect.any(String) }];
    expect(await get('/code')).toEqual({
      code: {
        diff: expect.stringMatching(
          /^password=Tr0ub4dor-and-3-canaries \[REDACTED:github:40:[0-9a-f]{12}\]$/,
        ),
        unshown: [],
        hidden,
      },
    });
    await get(`/code/${first.gate.sessionId}`);
    const { to } = (first.gate.artifact as { range: { to: string } }).range;
    expect(sinces).toEqual([undefined, to]);
    expect(await get('/code/none')).toMatchObject({ error: { code: 'GATE_NOT_FOUND' } });
    expect(await first.get('/code')).toEqual({ code: null });
  });
});

describe('a gate of another run', () => {
  test('is not decided, shown or drafted at under the path of this one', async ({ dir }) => {
    const devs = await openShop(dir);
    const run = await waitingRun(dir);
    const other = await devs.start({ id: 'other', brief: '# Other' });
    await other.resume();
    const { sessionId } = (await other.gates())[0] as Gate;
    const { gate, errorAt } = await atGate(dir, other);
    const drafts = join(dir, 'drafts');
    const { ask, post } = mounted(dir, { drafts });
    const at = `/inbox/api/runs/${run.id}/gates/${sessionId}`;
    const { artifactHash } = gate;
    const missing = { code: 'GATE_NOT_FOUND' };
    const answer = { approved: true };
    expect(await errorAt(post(`${at}/decision`, { artifactHash, answer }))).toMatchObject(missing);
    expect(await errorAt(post(`${at}/shown`, { artifactHash }))).toMatchObject(missing);
    expect(await errorAt(post(`${at}/draft`, { artifactHash, draft: draftOf('x') }))).toMatchObject(missing);
    expect(await errorAt(ask(`${at}/drafts/${artifactHash}`))).toMatchObject(missing);
    expect(await errorAt(ask(`${at}/edit`))).toMatchObject(missing);
    expect(await other.gates()).toMatchObject([{ sessionId }]);
    expect(existsSync(drafts)).toBe(false);
  });
});

describe('what was written and not sent', () => {
  test('is kept for its person and version, readable by its owner alone, and gone once it is sent', async ({
    dir,
  }) => {
    const run = await waitingRun(dir);
    const drafts = join(dir, 'ui', 'drafts');
    const { post, kept } = await atGate(dir, run, { drafts });
    expect(await kept()).toBeNull();
    const secret = 'Use ghp_0123456789abcdefghijklmnopqrstuvwxyz.';
    const comment = { in: 'PRD', quote: 'x', line: 2, text: secret };
    const draft = { at: 7, words: secret, comments: [comment], fields: { value: secret } };
    expect(await (await post('/draft', { draft })).json()).toEqual({ isKept: true });
    const [name = ''] = readdirSync(drafts);
    expect(statSync(join(drafts, name)).mode & 0o777).toBe(0o600);
    expect(statSync(drafts).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(drafts, name), 'utf8')).not.toContain('0123456789');
    const masked = 'Use [REDACTED:github].';
    expect(await kept()).toEqual({
      ...{ at: 7, words: masked, comments: [{ ...comment, text: masked }], fields: { value: masked } },
    });
    expect(await kept('f'.repeat(64))).toBeNull();
    const grace = await atGate(dir, run, { drafts, identify: () => ({ kind: 'human', id: 'grace' }) });
    expect(await grace.kept()).toBeNull();

    await post('/draft', { draft: draftOf('Again.') });
    expect(await kept()).toEqual(draftOf('Again.'));
    expect(readdirSync(drafts)).toEqual([name]);
    await post('/draft', { draft: null });
    expect(readdirSync(drafts)).toEqual([]);

    await post('/draft', { draft: draftOf('Shorter.') });
    await grace.post('/draft', { draft: draftOf('Hm.') });
    await post('/decision', { answer: { approved: false, feedback: 'Shorter.' } });
    expect(await kept()).toBeNull();
    expect(await grace.kept()).toEqual(draftOf('Hm.'));
    expect(await (await post('/draft', { draft: draftOf('Late.') })).json()).toEqual({ isKept: false });
    expect(readdirSync(drafts), 'of a gate that is closed, nothing stays').toEqual([]);
  });

  test('is bounded, and damaged files and what a killed process left are no drafts', async ({ dir }) => {
    const run = await waitingRun(dir);
    const drafts = join(dir, 'drafts');
    const { post, kept, gate, errorAt } = await atGate(dir, run, { drafts });
    mkdirSync(drafts);
    const own = JSON.stringify({ gate: gate.sessionId, draft: draftOf('x') });
    for (let at = 0; at < 199; at += 1) writeFileSync(join(drafts, `${at}.json`), own);
    writeFileSync(join(drafts, 'half.json'), '{');
    writeFileSync(join(drafts, 'old.json.1'), '{');
    utimesSync(join(drafts, 'old.json.1'), 1, 1);
    writeFileSync(join(drafts, 'new.json.2'), '{');
    expect(await errorAt(post('/draft', { draft: draftOf('One more.') }))).toMatchObject({
      code: 'DRAFTS_FULL',
    });
    expect(readdirSync(drafts)).toHaveLength(200);
    expect(readdirSync(drafts)).not.toContain('half.json');
    const long = 'x'.repeat(5_000_000);
    expect(await errorAt(post('/draft', { draft: draftOf(long) }))).toMatchObject({
      code: 'INVALID_REQUEST',
    });
    expect(await kept()).toBeNull();
  });

  test('is the tab’s alone where nobody named a folder, and where nobody decides', async ({ dir }) => {
    const run = await waitingRun(dir);
    const plain = await atGate(dir, run);
    expect(await (await plain.post('/draft', { draft: draftOf('x') })).json()).toEqual({ isKept: false });
    expect(await plain.kept()).toBeNull();
    const reader = await atGate(dir, run, {
      drafts: join(dir, 'drafts'),
      readOnly: true,
      identify: () => ADA,
    });
    expect(await reader.errorAt(reader.post('/draft', { draft: draftOf('x') }))).toMatchObject({
      code: 'READ_ONLY',
    });
  });
});
