import assert from 'node:assert/strict';
import type { RunSignal } from '../../engine/runs/Runs.ts';
import { isDevsError } from '../../errors/DevsError.ts';
import { ThreadStore } from '../../state/ThreadStore.ts';
import { ADA, drive, mailApp } from './mail.ts';
import type { RunsCase, RunsUnderTest } from './RunsUnderTest.ts';

const LATER = new AbortController().signal;

const rejected = (code: string) => (error: unknown) => isDevsError(error) && error.code === code;

const word = (text: string): RunSignal => ({
  ...{ id: `message:${text}`, kind: 'message', name: 'word', payload: text, by: ADA, signalId: text },
});

/** Tells a run something as of a new look. */
async function told({ runs }: Pick<RunsUnderTest, 'runs'>, id: string, signal: RunSignal): Promise<boolean> {
  const looked = await runs.look(id);
  try {
    return await looked.tell(signal);
  } finally {
    looked.close();
  }
}

const idsOf = (signals: readonly RunSignal[]): readonly string[] => signals.map(({ id }) => id);

/** A run that waits at its question, and that question as a decision. */
async function waiting(
  { runs }: Pick<RunsUnderTest, 'runs'>,
  id: string,
): Promise<RunSignal & { readonly kind: 'decision' }> {
  const app = mailApp(runs, 'asks');
  await app.start(id, { log: [] });
  const { gates } = await drive(app, id);
  const { sessionId = '', artifactHash = '' } = gates[0] ?? {};
  const answer = { value: 'yes', by: ADA };
  return { id: `decision:${sessionId}`, kind: 'decision', sessionId, artifactHash, answer, closes: true };
}

const TELLING: readonly RunsCase[] = [
  {
    name: 'what is written to a copy goes nowhere',
    async check({ runs, elsewhere }) {
      await waiting({ runs }, 'm');
      const looked = await runs.look('m');
      assert.equal(looked.isCopy, true);
      new ThreadStore(looked.db).signal('m', { id: 'x', kind: 'cancel', payload: null });
      looked.close();
      const again = await elsewhere.look('m');
      assert.equal(new ThreadStore(again.db).signals.find('x'), null);
      assert.deepEqual(again.signals, []);
      again.close();
    },
  },
  {
    name: 'a run is told something as of what was seen: of two who have seen the same one is told to look again',
    async check({ runs, elsewhere }) {
      await waiting({ runs }, 'm');
      const [one, other] = [await runs.look('m'), await elsewhere.look('m')];
      assert.deepEqual(
        await Promise.all([one.tell(word('a')), other.tell(word('b'))]).then((all) => all.sort()),
        [false, true],
      );
      one.close();
      other.close();
      const { signals, close } = await runs.look('m');
      assert.equal(signals.length, 1);
      close();
    },
  },
  {
    name: 'the same signal is told once',
    async check({ runs, elsewhere }) {
      await waiting({ runs }, 'm');
      assert.equal(await told({ runs }, 'm', word('a')), true);
      assert.equal(await told({ runs: elsewhere }, 'm', word('a')), true);
      const looked = await runs.look('m');
      assert.deepEqual(looked.signals, [word('a')]);
      looked.close();
    },
  },
  {
    name: 'a decision takes its gate out of the inbox with it, and is refused at another gate or version of it',
    async check({ runs }) {
      const decision = await waiting({ runs }, 'm');
      assert.equal(
        await told({ runs }, 'm', { ...decision, id: 'd-1', artifactHash: '0'.repeat(64) }),
        false,
      );
      assert.equal(await told({ runs }, 'm', { ...decision, id: 'd-2', sessionId: 'nobody' }), false);
      assert.equal((await runs.gates()).gates.length, 1);
      assert.equal(await told({ runs }, 'm', { ...decision, id: 'a vote', closes: false }), true);
      assert.equal((await runs.gates()).gates.length, 1);
      assert.equal(await told({ runs }, 'm', decision), true);
      assert.equal((await runs.gates()).gates.length, 0);
      assert.equal(await told({ runs }, 'm', { ...decision, id: 'late' }), false);
      assert.equal(await runs.runOfGate(decision.sessionId), 'm');
    },
  },
  {
    name: 'a gate that is still asked when all that was told is taken is open again',
    async check({ runs }) {
      const decision = await waiting({ runs }, 'm');
      assert.equal(await told({ runs }, 'm', { ...decision, answer: { approved: true, by: ADA } }), true);
      assert.equal((await runs.gates()).gates.length, 0);
      assert.equal((await drive(mailApp(runs, 'asks'), 'm')).status, 'waiting');
      assert.equal((await runs.gates()).gates.length, 1);
    },
  },
];

const LOOKING: readonly RunsCase[] = [
  {
    name: 'who looks again is given what is new, as a whole, and nothing where nothing is',
    async check({ runs, elsewhere }) {
      await waiting({ runs }, 'm');
      const first = await elsewhere.look('m');
      assert.equal(await elsewhere.lookAgain('m', first.at), null);
      assert.equal(await told({ runs }, 'm', word('a')), true);
      const second = await elsewhere.lookAgain('m', first.at);
      assert.deepEqual(second?.signals, [word('a')]);
      const held = await runs.hold('m');
      new ThreadStore(held.db).signal('m', { id: 'x', kind: 'pause', payload: null });
      await held.outlet.arrived();
      const third = await elsewhere.lookAgain('m', second.at);
      assert.ok(third !== null);
      assert.notEqual(new ThreadStore(third.db).signals.find('x'), null);
      assert.equal(new ThreadStore(first.db).signals.find('x'), null);
      await held.signals();
      assert.equal(await held.settle(STANDS), 'settled');
      const fourth = await elsewhere.lookAgain('m', third.at);
      assert.deepEqual(fourth?.signals, []);
      assert.deepEqual(third.db.serialize(), fourth.db.serialize());
      for (const each of [first, second, third, fourth, held]) await each.close();
      await assert.rejects(elsewhere.lookAgain('nobody', first.at), rejected('THREAD_NOT_FOUND'));
    },
  },
  {
    name: 'what is listed of a run is what its file says: nothing while somebody drives it or it was told something',
    async check({ runs, elsewhere, free }) {
      const app = mailApp(runs, 'asks');
      const decision = await waiting({ runs }, 'm');
      await app.start('n', { log: [] });
      const index = async (id: string) => (await elsewhere.indexed(['m', 'n', 'nobody'])).get(id)?.index;
      assert.deepEqual([(await index('m'))?.status, (await index('n'))?.status], ['waiting', 'created']);
      assert.deepEqual((await index('m'))?.gates, await app.gates('m'));
      assert.equal(await index('nobody'), undefined);
      assert.equal(await elsewhere.countGates(), 1);
      assert.equal(await told({ runs }, 'm', decision), true);
      assert.equal(await index('m'), null);
      assert.equal(await elsewhere.countGates(), 0);
      const dying = await runs.hold('n');
      assert.equal(await index('n'), null);
      await app.drive(dying, { signal: LATER, abort: LATER });
      await dying.close();
      await free('n');
      assert.equal(await index('n'), null);
      await drive(app, 'm');
      assert.deepEqual([(await index('m'))?.status, (await index('m'))?.gates], ['completed', []]);
    },
  },
  {
    name: 'who watches a run is told of what arrives and of what the run is told, who watches all of every new run',
    async check({ runs, elsewhere }) {
      await waiting({ runs }, 'm');
      const heard = { one: 0, all: 0 };
      const ends = [
        await elsewhere.watch('m', () => {
          heard.one += 1;
        }),
        await elsewhere.watch(null, () => {
          heard.all += 1;
        }),
      ];
      const hears = async (who: keyof typeof heard, work: () => Promise<unknown>): Promise<void> => {
        const before = heard[who];
        await work();
        while (heard[who] === before) await new Promise((resolve) => setTimeout(resolve, 5));
      };
      await hears('one', () => told({ runs }, 'm', word('a')));
      const held = await runs.hold('m');
      const write = async (): Promise<void> => {
        new ThreadStore(held.db).signal('m', { id: 'x', kind: 'pause', payload: null });
        await held.outlet.arrived();
      };
      await hears('one', write);
      await held.close();
      await hears('all', () => waiting({ runs }, 'n'));
      for (const end of ends) end();
    },
  },
];

const HOLDING: readonly RunsCase[] = [
  {
    name: 'what a run was told is given out in order, once to each holder until one of them has settled it',
    async check({ runs, free }) {
      await waiting({ runs }, 'm');
      for (const text of ['a', 'b', 'c']) assert.equal(await told({ runs }, 'm', word(text)), true);
      const all = ['message:a', 'message:b', 'message:c'];
      const dying = await runs.hold('m');
      assert.deepEqual(idsOf(await dying.signals()), all);
      await dying.outlet.arrived();
      await dying.close();
      await free('m');
      const held = await runs.hold('m');
      assert.deepEqual(idsOf(await held.signals()), all);
      assert.deepEqual(idsOf(await held.signals()), []);
      assert.equal(await held.settle(STANDS), 'settled');
      await held.close();
      const next = await runs.hold('m');
      assert.deepEqual(await next.signals(), []);
      await next.close();
    },
  },
  {
    name: 'a run is not let go of while it was told something that its holder does not know',
    async check({ runs, elsewhere }) {
      await waiting({ runs }, 'm');
      const held = await runs.hold('m');
      assert.deepEqual(await held.signals(), []);
      assert.equal(await told({ runs: elsewhere }, 'm', word('a')), true);
      assert.equal(await held.settle(STANDS), 'again');
      assert.deepEqual(idsOf(await held.signals()), ['message:a']);
      assert.equal(await held.settle(STANDS), 'settled');
      await held.close();
    },
  },
  {
    name: 'its holder hears that a run was told something',
    async check({ runs, elsewhere }) {
      await waiting({ runs }, 'm');
      const held = await runs.hold('m');
      const heard = new Promise<void>((resolve) => held.onSignal(resolve));
      assert.equal(await told({ runs: elsewhere }, 'm', word('a')), true);
      await heard;
      assert.deepEqual(idsOf(await held.signals()), ['message:a']);
      await held.close();
    },
  },
  {
    name: 'who was taken over is told, and nothing of his arrives',
    async check({ runs, elsewhere, free }) {
      await waiting({ runs }, 'm');
      const zombie = await runs.hold('m');
      await free('m');
      const held = await elsewhere.hold('m');
      assert.ok(held.epoch > zombie.epoch);
      new ThreadStore(zombie.db).signal('m', { id: 'x', kind: 'cancel', payload: null });
      await assert.rejects(async () => zombie.outlet.arrived(), rejected('LEASE_LOST'));
      await assert.rejects(zombie.settle(STANDS), rejected('LEASE_LOST'));
      if (!zombie.lost.aborted)
        await new Promise((resolve) => zombie.lost.addEventListener('abort', resolve, { once: true }));
      await zombie.close();
      assert.equal(new ThreadStore(held.db).signals.find('x'), null);
      new ThreadStore(held.db).signal('m', { id: 'y', kind: 'pause', payload: null });
      assert.equal(await held.settle(STANDS), 'settled');
      await held.close();
      const looked = await runs.look('m');
      assert.notEqual(new ThreadStore(looked.db).signals.find('y'), null);
      assert.equal(new ThreadStore(looked.db).signals.find('x'), null);
      looked.close();
    },
  },
  {
    name: 'a lease in a file that was handed out keeps nobody waiting',
    async check({ runs, elsewhere, free }) {
      await waiting({ runs }, 'm');
      const dying = await runs.hold('m');
      assert.equal(new ThreadStore(dying.db).claim('m').kind, 'claimed');
      await dying.outlet.arrived();
      await free('m');
      const held = await elsewhere.hold('m');
      assert.equal(held.isCopy, true);
      const end = await mailApp(elsewhere, 'asks').drive(held, { signal: LATER, abort: LATER });
      assert.equal(end.status, 'waiting');
      await held.close();
      await dying.close();
    },
  },
  {
    name: 'a run can be given to other workers when it is let go of',
    async check({ runs }) {
      await waiting({ runs }, 'm');
      const held = await runs.hold('m');
      const fingerprint = 'f'.repeat(64);
      assert.equal(await held.settle({ ...STANDS, queue: { graph: 'mail', fingerprint } }), 'settled');
      await held.close();
      assert.deepEqual(
        (await runs.list({ graph: fingerprint })).runs.map(({ id, status }) => [id, status]),
        [['m', 'waiting']],
      );
    },
  },
];

const STANDS = { status: 'waiting', reason: null, title: null, view: null, gates: [], until: null } as const;

/** What holds where each run has a file of its own. */
export const FILE_CASES: readonly RunsCase[] = [...TELLING, ...LOOKING, ...HOLDING];
