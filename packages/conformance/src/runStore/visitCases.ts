import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import type { NewEvent } from '../../../core/src/events/events.ts';
import type { StepEnd } from '../../../core/src/state/RunStore.ts';
import { claimed, isLost, takenOver } from './driversCases.ts';
import type { RunStoreCase } from './RunStoreUnderTest.ts';
import { aQuestion, aTurn, DRAFT, MAY_BEGIN, RUN, started } from './verbs.ts';

const done: StepEnd = { kind: 'done', result: { text: 'hello' }, usage: { tokensOut: 3 }, facts: [] };

const finished: NewEvent = {
  name: 'NODE_FINISHED',
  payload: { node: 'work', durationMs: 1 },
  scope: { threadId: RUN },
};

/** The Action is the one write that its caller does not wait for. */
const LEAVING: readonly RunStoreCase[] = [
  {
    name: 'leave is on record with the next commit, before what that writes, and told then',
    check(made) {
      const lease = claimed(made);
      made.runs.enter(lease, aTurn('Thought'));
      made.runs.leave(lease, aTurn('Action', [finished]));
      assert.deepEqual([made.read(RUN).turns, made.told], [['Thought work'], []]);
      made.runs.enter(lease, aTurn('Thought', [started]));
      assert.deepEqual(made.read(RUN).turns, ['Thought work', 'Action work', 'Thought work']);
      assert.deepEqual(made.told, ['NODE_FINISHED', 'NODE_STARTED']);
    },
  },
  {
    name: 'leave is on record once the event loop has turned',
    async check(made) {
      made.runs.leave(claimed(made), aTurn('Action', [finished]));
      await setImmediate();
      await setImmediate();
      assert.deepEqual([made.read(RUN).turns, made.told], [['Action work'], ['NODE_FINISHED']]);
    },
  },
  {
    name: 'leave writes nothing once there is a newer driver, whose own writes are as ever',
    async check(made) {
      const lease = claimed(made);
      made.runs.release(lease);
      const next = made.elsewhere.claim(RUN);
      made.runs.leave(lease, aTurn('Action', [finished]));
      await setImmediate();
      await setImmediate();
      assert.deepEqual([made.read(RUN).turns, made.told], [[], []]);
      assert.throws(() => made.runs.note(lease, [started]), isLost);
      assert.equal(next.kind, 'claimed');
      if (next.kind === 'claimed') made.elsewhere.enter(next.lease, aTurn('Thought'));
      assert.deepEqual(made.read(RUN).turns, ['Thought work']);
    },
  },
];

const STEPS: readonly RunStoreCase[] = [
  {
    name: 'beginStep counts the attempts, whoever made them',
    check(made) {
      const lease = claimed(made);
      assert.equal(made.runs.beginStep(lease, DRAFT, () => MAY_BEGIN).attempt, 1);
      made.runs.endStep(lease, DRAFT, { kind: 'failed', usage: {}, facts: [] });
      made.runs.release(lease);
      const next = made.elsewhere.claim(RUN);
      assert.equal(next.kind, 'claimed');
      if (next.kind !== 'claimed') return;
      assert.equal(made.elsewhere.beginStep(next.lease, DRAFT, () => MAY_BEGIN).attempt, 2);
      assert.deepEqual(made.read(RUN).steps, ['draft intent 2']);
    },
  },
  {
    name: 'beginStep begins nothing that its guard does not let, and tells nothing of it',
    check(made) {
      const lease = claimed(made);
      const verdict = { ...MAY_BEGIN, mayBegin: false, facts: [started] };
      assert.deepEqual(
        made.runs.beginStep(lease, DRAFT, () => verdict),
        { attempt: null, verdict },
      );
      assert.deepEqual([made.read(RUN).steps, made.told], [[], []]);
      assert.equal(made.runs.hasBegun(RUN, DRAFT.lgTaskId), false);
    },
  },
  {
    name: 'a finished step is neither begun again nor finished twice',
    check(made) {
      const lease = claimed(made);
      assert.throws(() => made.runs.endStep(lease, DRAFT, done), RangeError);
      made.runs.beginStep(lease, DRAFT, () => MAY_BEGIN);
      made.runs.endStep(lease, DRAFT, done);
      assert.throws(() => made.runs.beginStep(lease, DRAFT, () => MAY_BEGIN), RangeError);
      assert.throws(() => made.runs.endStep(lease, DRAFT, done), RangeError);
      assert.deepEqual(made.read(RUN).steps, ['draft done 1']);
      assert.equal(made.elsewhere.hasBegun(RUN, DRAFT.lgTaskId), true);
    },
  },
  {
    name: 'a recorded result is progress: recoveries are counted anew',
    check(made) {
      const lease = claimed(made);
      made.runs.begin(lease, { recovered: true, allowsRefused: false });
      assert.equal(made.read(RUN).recoveries, 1);
      made.runs.beginStep(lease, DRAFT, () => MAY_BEGIN);
      assert.equal(made.read(RUN).recoveries, 1);
      made.runs.endStep(lease, DRAFT, done);
      assert.equal(made.read(RUN).recoveries, 0);
    },
  },
  {
    name: 'what is written beside the end of a step goes with it',
    check(made) {
      const lease = claimed(made);
      made.runs.beginStep(lease, DRAFT, () => MAY_BEGIN);
      const failing = {
        ...done,
        inSameTransaction: () => made.runs.note({ ...lease, epoch: lease.epoch + 1 }, [started]),
      };
      assert.throws(() => made.runs.endStep(lease, DRAFT, failing), isLost);
      assert.deepEqual([made.read(RUN).steps, made.told], [['draft intent 1'], []]);
      made.runs.endStep(lease, DRAFT, { ...done, inSameTransaction: () => made.runs.note(lease, [started]) });
      assert.deepEqual([made.read(RUN).steps, made.told], [['draft done 1'], ['NODE_STARTED']]);
    },
  },
];

const ASKING: readonly RunStoreCase[] = [
  {
    name: 'ask opens a question once, whoever asks it again',
    check(made) {
      const opened: boolean[] = [];
      const asking = [
        {
          question: aQuestion,
          facts: (one: { readonly opened: boolean }) => {
            opened.push(one.opened);
            return one.opened ? [started] : [];
          },
        },
      ];
      const lease = claimed(made);
      const [first] = made.runs.ask(lease, asking);
      made.runs.release(lease);
      const next = made.elsewhere.claim(RUN);
      assert.equal(next.kind, 'claimed');
      const [again] = next.kind === 'claimed' ? made.elsewhere.ask(next.lease, asking) : [];
      assert.equal(again?.id, first?.id);
      assert.deepEqual([opened, made.read(RUN).questions.length], [[true, false], 1]);
    },
  },
  {
    name: 'the deadlines of a question begin with it, and once',
    check(made) {
      const lease = claimed(made);
      const deadline = {
        ...({ threadId: RUN, place: 'gate', name: '0', purpose: 'deadline', subject: null } as const),
        ...{ interruptId: 'deadline/gate', dueAt: 1 },
      };
      const later = (count: number) => [{ ...deadline, name: String(count) }];
      const asked = { question: aQuestion, facts: () => [] };
      made.runs.ask(lease, [{ ...asked, waits: () => later(0) }]);
      made.runs.ask(lease, [{ ...asked, waits: () => later(1) }]);
      assert.deepEqual(made.read(RUN).waits, ['deadline pending']);
    },
  },
  {
    name: 'ask opens all questions of a node or none',
    check(made) {
      const failing = () => {
        throw new Error('no');
      };
      const asked = [
        { question: aQuestion, facts: () => [started] },
        { question: { ...aQuestion, interruptId: 'i-2', questionKey: 'interrupt/i-2' }, facts: failing },
      ];
      assert.throws(() => made.runs.ask(claimed(made), asked), { message: 'no' });
      assert.deepEqual([made.read(RUN).questions, made.told], [[], []]);
    },
  },
  {
    name: 'nobody has decided what nobody was asked',
    check(made) {
      const lease = claimed(made);
      made.runs.ask(lease, [{ question: aQuestion, facts: () => [] }]);
      for (const checkpointId of ['c-1', null])
        assert.equal(made.runs.humanDecided({ threadId: RUN, checkpointId }), false);
    },
  },
  {
    name: 'a fact of which there is one is told once, over drivers and executions',
    check(made) {
      const once = { ...started, once: 'GUARD_WARNED/depth/1' };
      const lease = claimed(made);
      made.runs.note(lease, [once, once]);
      assert.deepEqual([made.read(RUN).events, made.told], [['NODE_STARTED'], ['NODE_STARTED']]);
      takenOver(made, lease);
      made.elsewhere.note({ threadId: RUN, epoch: lease.epoch + 1 }, [once, { ...once, once: 'another' }]);
      assert.deepEqual(made.read(RUN).events, ['NODE_STARTED', 'NODE_STARTED']);
    },
  },
];

/** A node's execution relies on these. */
export const VISIT_CASES: readonly RunStoreCase[] = [...LEAVING, ...STEPS, ...ASKING];
