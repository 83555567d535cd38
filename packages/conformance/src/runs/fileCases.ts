import assert from 'node:assert/strict';
import type { RunSignal } from '../../../core/src/engine/runs/Runs.ts';
import { ThreadStore } from '../../../core/src/state/threads/ThreadStore.ts';
import { LOOK_CASES } from './lookCases.ts';
import {
  ADA,
  driveMail,
  LATER,
  mailApp,
  rejected,
  STANDS,
  sendSignal,
  waitingDecision,
  word,
} from './mail.ts';
import type { RunsCase } from './RunsUnderTest.ts';

const signalIds = (signals: readonly RunSignal[]): readonly string[] => signals.map(({ id }) => id);

const TELLING: readonly RunsCase[] = [
  {
    name: 'what is written to a copy goes nowhere',
    async check({ runs, elsewhere }) {
      await waitingDecision({ runs }, 'm');
      const looked = await runs.open('m');
      assert.equal(looked.isCopy, true);
      new ThreadStore(looked.db).signal('m', { id: 'x', kind: 'cancel', payload: null });
      looked.close();
      const again = await elsewhere.open('m');
      assert.equal(new ThreadStore(again.db).signals.find('x'), null);
      assert.deepEqual(again.signals, []);
      again.close();
    },
  },
  {
    name: 'a run is told something as of what was seen: of two who have seen the same one is told to look again',
    async check({ runs, elsewhere }) {
      await waitingDecision({ runs }, 'm');
      const [one, other] = [await runs.open('m'), await elsewhere.open('m')];
      assert.deepEqual(
        await Promise.all([one.tell(word('a')), other.tell(word('b'))]).then((all) => all.sort()),
        [false, true],
      );
      one.close();
      other.close();
      const { signals, close } = await runs.open('m');
      assert.equal(signals.length, 1);
      close();
    },
  },
  {
    name: 'the same signal is told once',
    async check({ runs, elsewhere }) {
      await waitingDecision({ runs }, 'm');
      assert.equal(await sendSignal({ runs }, 'm', word('a')), true);
      assert.equal(await sendSignal({ runs: elsewhere }, 'm', word('a')), true);
      const looked = await runs.open('m');
      assert.deepEqual(looked.signals, [word('a')]);
      looked.close();
    },
  },
  {
    name: 'a decision takes its gate out of the inbox with it, and is refused at another gate or version of it',
    async check({ runs }) {
      const decision = await waitingDecision({ runs }, 'm');
      assert.equal(
        await sendSignal({ runs }, 'm', { ...decision, id: 'd-1', artifactHash: '0'.repeat(64) }),
        false,
      );
      assert.equal(await sendSignal({ runs }, 'm', { ...decision, id: 'd-2', sessionId: 'nobody' }), false);
      assert.equal((await runs.gates()).gates.length, 1);
      assert.equal(await sendSignal({ runs }, 'm', { ...decision, id: 'a vote', closes: false }), true);
      assert.equal((await runs.gates()).gates.length, 1);
      assert.equal(await sendSignal({ runs }, 'm', decision), true);
      assert.equal((await runs.gates()).gates.length, 0);
      assert.equal(await sendSignal({ runs }, 'm', { ...decision, id: 'late' }), false);
      assert.equal(await runs.runOfGate(decision.sessionId), 'm');
    },
  },
  {
    name: 'a gate that is still asked when all that was told is taken is open again',
    async check({ runs }) {
      const decision = await waitingDecision({ runs }, 'm');
      assert.equal(
        await sendSignal({ runs }, 'm', { ...decision, answer: { approved: true, by: ADA } }),
        true,
      );
      assert.equal((await runs.gates()).gates.length, 0);
      assert.equal((await driveMail(mailApp(runs, 'asks'), 'm')).status, 'waiting');
      assert.equal((await runs.gates()).gates.length, 1);
    },
  },
];

const HOLDING: readonly RunsCase[] = [
  {
    name: 'what a run was told is given out in order, once to each holder until one of them has settled it',
    async check({ runs, free }) {
      await waitingDecision({ runs }, 'm');
      for (const text of ['a', 'b', 'c']) assert.equal(await sendSignal({ runs }, 'm', word(text)), true);
      const all = ['message:a', 'message:b', 'message:c'];
      const dying = await runs.hold('m');
      assert.deepEqual(signalIds(await dying.signals()), all);
      await dying.outlet.pending();
      await dying.close();
      await free('m');
      const held = await runs.hold('m');
      assert.deepEqual(signalIds(await held.signals()), all);
      assert.deepEqual(signalIds(await held.signals()), []);
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
      await waitingDecision({ runs }, 'm');
      const held = await runs.hold('m');
      assert.deepEqual(await held.signals(), []);
      assert.equal(await sendSignal({ runs: elsewhere }, 'm', word('a')), true);
      assert.equal(await held.settle(STANDS), 'again');
      assert.deepEqual(signalIds(await held.signals()), ['message:a']);
      assert.equal(await held.settle(STANDS), 'settled');
      await held.close();
    },
  },
  {
    name: 'its holder hears that a run was told something',
    async check({ runs, elsewhere }) {
      await waitingDecision({ runs }, 'm');
      const held = await runs.hold('m');
      const heard = new Promise<void>((resolve) => held.onSignal(resolve));
      assert.equal(await sendSignal({ runs: elsewhere }, 'm', word('a')), true);
      await heard;
      assert.deepEqual(signalIds(await held.signals()), ['message:a']);
      await held.close();
    },
  },
  {
    name: 'who was taken over is told, and nothing of his arrives',
    async check({ runs, elsewhere, free }) {
      await waitingDecision({ runs }, 'm');
      const zombie = await runs.hold('m');
      await free('m');
      const held = await elsewhere.hold('m');
      assert.ok(held.epoch > zombie.epoch);
      new ThreadStore(zombie.db).signal('m', { id: 'x', kind: 'cancel', payload: null });
      await assert.rejects(async () => zombie.outlet.pending(), rejected('LEASE_LOST'));
      await assert.rejects(zombie.settle(STANDS), rejected('LEASE_LOST'));
      if (!zombie.lost.aborted)
        await new Promise((resolve) => zombie.lost.addEventListener('abort', resolve, { once: true }));
      await zombie.close();
      assert.equal(new ThreadStore(held.db).signals.find('x'), null);
      new ThreadStore(held.db).signal('m', { id: 'y', kind: 'pause', payload: null });
      assert.equal(await held.settle(STANDS), 'settled');
      await held.close();
      const looked = await runs.open('m');
      assert.notEqual(new ThreadStore(looked.db).signals.find('y'), null);
      assert.equal(new ThreadStore(looked.db).signals.find('x'), null);
      looked.close();
    },
  },
  {
    name: 'a lease in a file that was handed out keeps nobody waiting',
    async check({ runs, elsewhere, free }) {
      await waitingDecision({ runs }, 'm');
      const dying = await runs.hold('m');
      assert.equal(new ThreadStore(dying.db).claim('m').kind, 'claimed');
      await dying.outlet.pending();
      await free('m');
      const held = await elsewhere.hold('m');
      assert.equal(held.isCopy, true);
      const end = await mailApp(elsewhere, 'asks').drive(held, { drain: LATER, signal: LATER });
      assert.equal(end.status, 'waiting');
      await held.close();
      await dying.close();
    },
  },
  {
    name: 'a run can be given to other workers when it is let go of',
    async check({ runs }) {
      await waitingDecision({ runs }, 'm');
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

/** Promises of a storage in which each run has a file of its own. */
export const FILE_CASES: readonly RunsCase[] = [...TELLING, ...LOOK_CASES, ...HOLDING];
