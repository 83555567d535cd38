import assert from 'node:assert/strict';
import type { Gate } from '../../../core/src/engine/gates/Gate.ts';
import { FOLLOW_CASES } from './followCases.ts';
import { GATE_EVENT_CASES } from './gateEventCases.ts';
import { ADA, BOB, driveMail, type MailApp, mailApp, rejected, waitingMail, YES } from './mail.ts';
import type { RunsCase } from './RunsUnderTest.ts';
import { TURN_CASES } from './turnCases.ts';

const STARTS: readonly RunsCase[] = [
  {
    name: 'a run is recorded once, however often it is started, and with another input it is refused',
    async check({ runs, elsewhere }) {
      const app = mailApp(runs, 'works');
      await Promise.all([app.start('m', { log: ['one'] }), app.start('m', { log: ['one'] })]);
      await mailApp(elsewhere, 'works').start('m', { log: ['one'] });
      await assert.rejects(app.start('m', { log: ['two'] }), rejected('INPUT_NOT_TAKEN'));
      assert.deepEqual(
        (await app.list()).runs.map(({ id, status }) => [id, status]),
        [['m', 'created']],
      );
      assert.deepEqual((await driveMail(app, 'm')).status, 'completed');
      assert.deepEqual(await app.values('m'), { log: ['one', 'worked', 'sent'] });
    },
  },
  {
    name: 'a run that nobody has started is not found',
    async check({ runs }) {
      const app = mailApp(runs, 'works');
      const finds: readonly (() => Promise<unknown>)[] = [
        () => app.values('nobody'),
        () => app.start('nobody'),
        () => app.cancel('nobody'),
        () => driveMail(app, 'nobody'),
      ];
      for (const find of finds) await assert.rejects(find, rejected('THREAD_NOT_FOUND'));
      await assert.rejects(
        app.decide({ sessionId: 'nobody', artifactHash: 'a'.repeat(64) }, YES),
        rejected('GATE_NOT_FOUND'),
      );
      assert.equal(await runs.runOfGate('nobody'), null);
    },
  },
  {
    name: 'a run is held by one, and by the next once it was let go of',
    async check({ runs, elsewhere }) {
      await mailApp(runs, 'works').start('m', { log: [] });
      const held = await runs.hold('m');
      await assert.rejects(elsewhere.hold('m'), rejected('THREAD_BUSY'));
      const end = await mailApp(runs, 'works').drive(held, { drain: LATER, signal: LATER });
      assert.equal(await held.settle(end), 'settled');
      await held.close();
      const next = await elsewhere.hold('m');
      assert.ok(next.epoch > held.epoch);
      await next.close();
    },
  },
];

/** Metadata, tags, tenant and the beginning of the id find a run, wherever its file is. */
const LABELS: readonly RunsCase[] = [
  {
    name: 'metadata is changed whoever has the run, and the owner is not',
    async check({ runs, elsewhere }) {
      const app = mailApp(runs, 'asks');
      const other = mailApp(elsewhere, 'asks');
      const owner = { org: 'acme', admin: false };
      const ids = async (filter: Parameters<typeof app.list>[0]) =>
        (await other.list(filter)).runs.map(({ id }) => id);
      await app.create('m-1', {
        metadata: { title: 'Old', about: { b: [1], a: null } },
        tags: ['hot'],
        owner,
      });
      await app.start('m-1', { log: [] }, { metadata: { source: 'mail' }, owner: { org: 'evil' } });
      await app.start('m-2', { log: [] }, { owner: { org: 'globex' } });
      const info = await other.updateMetadata('m-1', { title: 'New', org: 'globex', read: true });
      assert.deepEqual(info.owner, owner);
      assert.deepEqual(info.tags, ['hot']);
      assert.deepEqual([info.metadata['title'], info.metadata['read']], ['New', true]);
      assert.deepEqual(info.metadata['about'], { a: null, b: [1] });
      assert.deepEqual(await ids({ metadata: { title: 'Old' } }), []);
      assert.deepEqual(await ids({ metadata: { title: 'New', about: { a: null, b: [1] } } }), ['m-1']);
      assert.deepEqual(await ids({ owner }), ['m-1']);
      assert.deepEqual(await ids({ owner: { org: 'globex' } }), ['m-2']);
      await driveMail(app, 'm-1');
      assert.deepEqual((await other.get('m-1'))?.metadata['title'], 'New');
      assert.deepEqual(await ids({ metadata: { title: 'New' }, owner }), ['m-1']);
      const asked = await other.openGates({ owner });
      assert.deepEqual(
        asked.gates.map(({ threadId }) => threadId),
        ['m-1'],
      );
      await assert.rejects(app.updateMetadata('nobody', {}), rejected('THREAD_NOT_FOUND'));
      await assert.rejects(app.updateMetadata('m-1', { at: new Date() as never }), TypeError);
      await assert.rejects(app.updateMetadata('m-1', { long: 'x'.repeat(70_000) }), RangeError);
      await assert.rejects(app.create('m-3', { owner: { a: [] as never } }), TypeError);
      assert.equal(await app.get('m-3'), null);
    },
  },
  {
    name: 'runs and gates are found by metadata, tags, tenant and the beginning of the id',
    async check({ runs, elsewhere }) {
      const [app, other] = [mailApp(runs, 'asks'), mailApp(elsewhere, 'asks')];
      const acme = { metadata: { tenant: 'acme', n: 1, deep: {} }, tags: ['hot', 'new'] };
      await app.start('m-1', { log: [] }, { ...acme, tenant: 'acme' });
      await app.start('m-2', { log: [] }, { metadata: { tenant: 'acme', n: '1' } });
      await app.start('x-3', { log: [] }, { tags: ['hot', 'a\0 "é😀'] });
      for (const id of ['m-1', 'm-2', 'x-3']) await driveMail(app, id);
      type Filter = NonNullable<Parameters<typeof app.openGates>[0]>;
      const found = async (filter: Filter): Promise<readonly (readonly string[])[]> => [
        (await other.list(filter)).runs.map(({ id }) => id).sort(),
        (await other.openGates(filter)).gates.map(({ threadId }) => threadId).sort(),
      ];
      const both = (...ids: readonly string[]) => [ids, ids];
      assert.deepEqual(await found({ metadata: { tenant: 'acme' } }), both('m-1', 'm-2'));
      assert.deepEqual(await found({ metadata: { tenant: 'acme', n: 1 } }), both('m-1'));
      assert.deepEqual(await found({ metadata: { n: '1' } }), both('m-2'));
      assert.deepEqual(await found({ tags: ['hot'] }), both('m-1', 'x-3'));
      assert.deepEqual(await found({ tags: ['hot', 'new'], idPrefix: 'm' }), both('m-1'));
      assert.deepEqual(await found({ tags: ['a\0 "é😀'] }), both('x-3'));
      assert.deepEqual(await found({ idPrefix: 'm-' }), both('m-1', 'm-2'));
      assert.deepEqual((await other.list({ tags: ['hot'], status: 'completed' })).runs, []);
      await assert.rejects(other.openGates({ tags: ['hot'], status: 'completed' } as Filter), TypeError);
      assert.deepEqual(await found({ tenant: 'acme', tags: ['cold'] }), both());
      assert.deepEqual(await found({ tenant: 'nobody' }), both());
      const info = await other.get('m-1');
      assert.deepEqual(info?.metadata, { tenant: 'acme', n: 1 });
      assert.deepEqual([info?.tags, info?.status], [['hot', 'new'], 'waiting']);
      assert.deepEqual(
        (await other.list({ tags: ['new'] })).runs.map((run) => ({ ...run, updatedAt: '' })),
        [{ ...info, updatedAt: '' }],
      );
      assert.equal(await other.get('nobody'), null);
      await assert.rejects(other.list({ metadata: { a: new Date() as never } }), TypeError);
      await assert.rejects(other.list({ owner: { a: {} as never } }), TypeError);
      await assert.rejects(other.openGates({ tags: ['x', 1 as never] }), TypeError);
    },
  },
  {
    name: 'a run that is created before its first input waits for it, and is executed by nobody until then',
    async check({ runs, elsewhere }) {
      const [app, other] = [mailApp(runs, 'works'), mailApp(elsewhere, 'works')];
      const info = await app.create('m', { metadata: { tenant: 'acme' }, tags: ['hot'] });
      assert.deepEqual([info.status, info.reason, info.tags], ['paused', 'no input yet', ['hot']]);
      await assert.rejects(other.create('m'), rejected('THREAD_EXISTS'));
      assert.equal((await other.create('m', { ifExists: 'do_nothing' })).metadata['tenant'], 'acme');
      await other.signal('m', 'word', 'early', { signalId: 's', by: ADA });
      assert.equal((await driveMail(app, 'm')).status, 'paused');
      await other.start('m');
      assert.equal((await app.get('m'))?.status, 'paused');
      await other.start('m', { log: ['one'] });
      assert.equal((await app.get('m'))?.status, 'created');
      assert.equal((await driveMail(app, 'm')).status, 'completed');
      assert.deepEqual(await app.values('m'), { log: ['one', 'worked', 'sent'] });
      assert.deepEqual((await other.list({ metadata: { tenant: 'acme' } })).runs[0]?.id, 'm');
    },
  },
];

/** A graph of another name and the same shape has other runs. */
const NAMES: readonly RunsCase[] = [
  {
    name: 'a run of another graph of the same shape is neither read, told, driven nor decided',
    async check({ runs, elsewhere }) {
      const [mail, letters] = [mailApp(runs, 'asks'), mailApp(elsewhere, 'asks', { graph: 'letters' })];
      const gate = await waitingMail(mail, 'm');
      const before = await mail.result('m');
      const tries: readonly (() => Promise<unknown>)[] = [
        () => letters.values('m'),
        () => letters.result('m'),
        () => letters.result('m', { wait: true }),
        () => letters.getState('m'),
        () => letters.start('m'),
        () => letters.start('m', { log: [] }),
        () => letters.run('m'),
        () => letters.decide(gate, YES),
        () => letters.signal('m', 'word', 'x', { signalId: 's', by: ADA }),
        () => letters.pause('m'),
        () => letters.cancel('m'),
        () => letters.updateState('m', { log: ['x'] }, { by: ADA }),
        () => letters.fork('m', { as: 'n', by: ADA }),
        () => letters.delete('m', { by: ADA }),
      ];
      for (const attempt of tries) await assert.rejects(attempt, rejected('THREAD_NOT_FOUND'));
      assert.deepEqual(await mail.result('m'), before);
      await mail.decide(gate, YES);
      assert.equal((await driveMail(mail, 'm')).status, 'completed');
    },
  },
  {
    name: 'a graph that was given another name takes its runs over where a human says so',
    async check({ runs, elsewhere }) {
      const [mail, letters] = [mailApp(runs, 'asks'), mailApp(elsewhere, 'asks', { graph: 'letters' })];
      const gate = await waitingMail(mail, 'm');
      await letters.acceptGraph('m', { by: ADA });
      await assert.rejects(mail.values('m'), rejected('THREAD_NOT_FOUND'));
      await letters.decide(gate, YES);
      assert.equal((await driveMail(letters, 'm')).status, 'completed');
    },
  },
];

const LATER = new AbortController().signal;

const GATES: readonly RunsCase[] = [
  {
    name: 'of two who decide a gate one wins, and the other is told who',
    async check({ runs, elsewhere }) {
      const app = mailApp(runs, 'asks');
      const gate = await waitingMail(app, 'm');
      const both = await Promise.allSettled([
        app.decide(gate, YES),
        mailApp(elsewhere, 'asks').decide(gate, { value: 'no', by: BOB }),
      ]);
      const [winner] = both.filter(({ status }) => status === 'fulfilled');
      const [loser] = both.filter(({ status }) => status === 'rejected');
      assert.ok(winner?.status === 'fulfilled' && loser?.status === 'rejected');
      assert.ok(rejected('GATE_ALREADY_DECIDED')(loser.reason));
      assert.deepEqual((await app.openGates()).gates, []);
      assert.equal((await driveMail(app, 'm')).status, 'completed');
      const said = winner.value.principal?.id === 'ada' ? 'yes' : 'no';
      assert.deepEqual(await app.values('m'), { log: [`asked: ${said}`, 'sent'] });
      await assert.rejects(app.decide(gate, YES), rejected('GATE_ALREADY_DECIDED'));
    },
  },
  {
    name: 'an answer to something else than is shown is refused, and nothing is told',
    async check({ runs }) {
      const app = mailApp(runs, 'asks');
      const gate = await waitingMail(app, 'm');
      const stale = { ...gate, artifactHash: '0'.repeat(64) };
      await assert.rejects(app.decide(stale, YES), rejected('GATE_STALE'));
      await assert.rejects(app.decide(gate, { approved: true, by: ADA }), rejected('INVALID_ANSWER'));
      assert.deepEqual(
        (await app.openGates()).gates.map(({ sessionId }) => sessionId),
        [gate.sessionId],
      );
      assert.equal((await driveMail(app, 'm')).status, 'waiting');
    },
  },
  {
    name: 'votes are counted, each once, and the last one that is wanted decides',
    async check({ runs, elsewhere }) {
      const app = mailApp(runs, 'works', { approvals: 2 });
      const gate = await waitingMail(app, 'm');
      const other = mailApp(elsewhere, 'works', { approvals: 2 });
      for (const voting of [app, other, app]) {
        const { status, votes } = await voting.decide(gate, { approved: true, by: ADA });
        assert.deepEqual([status, votes?.length], ['awaiting_approval', 1]);
      }
      assert.equal((await app.openGates()).gates.length, 1);
      assert.equal((await driveMail(app, 'm')).status, 'waiting');
      const { status } = await other.decide(gate, { approved: true, by: BOB });
      assert.equal(status, 'decided');
      assert.equal((await app.openGates()).gates.length, 0);
      assert.equal((await driveMail(app, 'm')).status, 'completed');
    },
  },
  {
    name: 'the inbox has every open question, oldest first, each on one page',
    async check({ runs }) {
      const app = mailApp(runs, 'asks');
      const asked = [];
      for (const id of ['m-1', 'm-2', 'm-3']) asked.push(await waitingMail(app, id));
      const read: Gate[] = [];
      let after: string | undefined;
      do {
        const page = await app.openGates({ limit: 2, ...(after !== undefined && { after }) });
        assert.ok(page.gates.length <= 2);
        read.push(...page.gates);
        after = page.next ?? undefined;
      } while (after !== undefined);
      assert.deepEqual(sessionsOf(read).sort(), sessionsOf(asked).sort());
      assert.deepEqual(read, [...read].sort(byAge));
      assert.equal(await runs.runOfGate(asked[1]?.sessionId ?? ''), 'm-2');
    },
  },
];

const sessionsOf = (gates: readonly Gate[]): string[] => gates.map(({ sessionId }) => sessionId);

const byAge = (one: Gate, other: Gate): number =>
  one.openedAt < other.openedAt || (one.openedAt === other.openedAt && one.sessionId < other.sessionId)
    ? -1
    : 1;

const TOLD: readonly RunsCase[] = [
  {
    name: 'messages are taken in the order they were told, each once',
    async check({ runs, elsewhere }) {
      const app = mailApp(runs, 'listens');
      await app.start('m', { log: [] });
      assert.equal((await driveMail(app, 'm')).status, 'waiting');
      const tell = (from: MailApp, word: string) =>
        from.signal('m', 'word', word, { by: ADA, signalId: word });
      assert.deepEqual(await tell(app, 'one'), { isNew: true });
      assert.deepEqual(await tell(mailApp(elsewhere, 'listens'), 'one'), { isNew: false });
      assert.deepEqual(await tell(mailApp(elsewhere, 'listens'), 'two'), { isNew: true });
      assert.equal((await driveMail(app, 'm')).status, 'completed');
      assert.deepEqual(await app.values('m'), { log: ['heard: one two', 'sent'] });
      await assert.rejects(tell(app, 'three'), rejected('SIGNAL_NOT_TAKEN'));
    },
  },
  {
    name: 'a run that waits is cancelled without being driven, and its question is withdrawn',
    async check({ runs }) {
      const app = mailApp(runs, 'asks');
      const gate = await waitingMail(app, 'm');
      assert.deepEqual(await app.cancel('m'), { isAccepted: true, status: 'cancelled' });
      assert.deepEqual(await app.gates('m'), []);
      assert.equal((await app.result('m', { wait: true })).status, 'cancelled');
      await assert.rejects(app.decide(gate, YES), rejected('GATE_STALE'));
      assert.equal((await driveMail(app, 'm')).status, 'cancelled');
      for (const stop of [app.pause('m', { by: ADA }), app.cancel('m', { by: ADA })])
        assert.deepEqual(await stop, { isAccepted: false, status: 'cancelled' });
      assert.deepEqual((await app.openGates()).gates, []);
      assert.deepEqual(
        (await app.list({ status: 'cancelled' })).runs.map(({ id }) => id),
        ['m'],
      );
    },
  },
];

const STANDS: readonly RunsCase[] = [
  {
    name: 'it is known when a run goes on by itself',
    async check({ runs }) {
      const app = mailApp(runs, 'sleeps');
      await app.start('m', { log: [] });
      const { status, until } = await driveMail(app, 'm');
      assert.equal(status, 'waiting');
      assert.ok(until !== null && until > Date.now());
      assert.equal((await app.result('m')).until, until);
    },
  },
  {
    name: 'runs are listed newest first, by status and graph, each on one page',
    async check({ runs }) {
      const [asking, working] = [mailApp(runs, 'asks'), mailApp(runs, 'works', { version: '2' })];
      for (const id of ['m-1', 'm-2', 'm-3']) await asking.start(id, { log: [] });
      await working.start('w', { log: [] });
      await driveMail(working, 'w');
      const ids: string[] = [];
      let after: string | undefined;
      do {
        const page = await runs.list({ limit: 3, ...(after !== undefined && { after }) });
        ids.push(...page.runs.map(({ id }) => id));
        after = page.next ?? undefined;
      } while (after !== undefined);
      assert.deepEqual([...ids].sort(), ['m-1', 'm-2', 'm-3', 'w']);
      const only = async (filter: Parameters<typeof runs.list>[0]) =>
        (await runs.list(filter)).runs.map(({ id }) => id).sort();
      assert.deepEqual(await only({ status: ['completed', 'failed'] }), ['w']);
      assert.deepEqual(await only({ graph: asking.fingerprint }), ['m-1', 'm-2', 'm-3']);
      await assert.rejects(runs.list({ limit: 0 }), RangeError);
      await assert.rejects(runs.gates({ after: 'nowhere' }), RangeError);
    },
  },
  {
    name: 'what a run has come to arrives, and is left where its driver dies',
    async check({ runs, elsewhere, free }) {
      const app = mailApp(runs, 'asks');
      await app.start('m', { log: [] });
      const held = await runs.hold('m');
      await app.drive(held, { drain: LATER, signal: LATER });
      await held.close();
      await free('m');
      const other = mailApp(elsewhere, 'asks');
      assert.equal((await other.gates('m')).length, 1);
      assert.equal((await driveMail(other, 'm')).status, 'waiting');
      const [gate] = await other.gates('m');
      await other.decide(gate as Gate, YES);
      assert.equal((await driveMail(other, 'm')).status, 'completed');
    },
  },
];

/** Promises through an app, wherever its runs are. */
export const APP_CASES: readonly RunsCase[] = [
  ...STARTS,
  ...LABELS,
  ...TURN_CASES,
  ...NAMES,
  ...GATES,
  ...TOLD,
  ...STANDS,
  ...FOLLOW_CASES,
  ...GATE_EVENT_CASES,
];
