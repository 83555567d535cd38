import assert from 'node:assert/strict';
import { ThreadStore } from '../../../core/src/state/threads/ThreadStore.ts';
import { driveMail, LATER, mailApp, rejected, STANDS, sendSignal, waitingDecision, word } from './mail.ts';
import type { RunsCase } from './RunsUnderTest.ts';

/** Looking at a run that has a file of its own, and looking again. */
export const LOOK_CASES: readonly RunsCase[] = [
  {
    name: 'who looks again is given what is new, as a whole, and nothing where nothing is',
    async check({ runs, elsewhere }) {
      await waitingDecision({ runs }, 'm');
      const first = await elsewhere.open('m');
      assert.equal(await elsewhere.reopen('m', first.at), null);
      assert.equal(await sendSignal({ runs }, 'm', word('a')), true);
      const second = await elsewhere.reopen('m', first.at);
      assert.deepEqual(second?.signals, [word('a')]);
      const held = await runs.hold('m');
      new ThreadStore(held.db).signal('m', { id: 'x', kind: 'pause', payload: null });
      await held.outlet.pending();
      const third = await elsewhere.reopen('m', second.at);
      assert.ok(third !== null);
      assert.notEqual(new ThreadStore(third.db).signals.find('x'), null);
      assert.equal(new ThreadStore(first.db).signals.find('x'), null);
      await held.signals();
      assert.equal(await held.settle(STANDS), 'settled');
      const fourth = await elsewhere.reopen('m', third.at);
      assert.deepEqual(fourth?.signals, []);
      assert.deepEqual(third.db.serialize(), fourth.db.serialize());
      for (const each of [first, second, third, fourth, held]) await each.close();
      await assert.rejects(elsewhere.reopen('nobody', first.at), rejected('THREAD_NOT_FOUND'));
    },
  },
  {
    name: 'what is listed of a run is what its file says: nothing while somebody drives it or it was told something',
    async check({ runs, elsewhere, free }) {
      const app = mailApp(runs, 'asks');
      const decision = await waitingDecision({ runs }, 'm');
      await app.start('n', { log: [] });
      const index = async (id: string) => (await elsewhere.indexed(['m', 'n', 'nobody'])).get(id)?.index;
      const isDue = async (id: string) => {
        const { runs: due } = await elsewhere.list({ due: true });
        const found = await elsewhere.get(id);
        assert.equal(
          due.some((run) => run.id === id),
          found?.isDue,
        );
        return found?.isDue;
      };
      assert.equal(await isDue('n'), true);
      assert.deepEqual([(await index('m'))?.status, (await index('n'))?.status], ['waiting', 'created']);
      assert.deepEqual((await index('m'))?.gates, await app.gates('m'));
      assert.equal(await index('nobody'), undefined);
      assert.equal(await elsewhere.countGates(), 1);
      assert.equal(await isDue('m'), false);
      assert.equal(await sendSignal({ runs }, 'm', decision), true);
      assert.equal(await isDue('m'), true);
      assert.equal(await index('m'), null);
      assert.equal(await elsewhere.countGates(), 0);
      const dying = await runs.hold('n');
      assert.equal(await index('n'), null);
      await app.drive(dying, { drain: LATER, signal: LATER });
      await dying.close();
      await free('n');
      assert.equal(await index('n'), null);
      await driveMail(app, 'm');
      assert.equal(await isDue('m'), false);
      assert.deepEqual([(await index('m'))?.status, (await index('m'))?.gates], ['completed', []]);
    },
  },
  {
    name: 'who looks is told whether somebody has the run, whatever its file says of leases',
    async check({ runs, elsewhere, free }) {
      await waitingDecision({ runs }, 'm');
      const isDriven = async (): Promise<boolean> => {
        const looked = await elsewhere.open('m');
        looked.close();
        return looked.isDriven;
      };
      assert.equal(await isDriven(), false);
      const dying = await runs.hold('m');
      assert.equal(new ThreadStore(dying.db).claim('m').kind, 'claimed');
      await dying.outlet.pending();
      assert.equal(await isDriven(), true);
      await free('m');
      assert.equal(await isDriven(), false);
      await dying.close();
    },
  },
  {
    name: 'what the models of a held run say is heard elsewhere while somebody listens, in order and whole',
    async check({ runs, elsewhere }) {
      const hear = elsewhere.hear?.bind(elsewhere);
      await waitingDecision({ runs }, 'm');
      const held = await runs.hold('m');
      const { words } = held;
      // One state file has a process for both.
      assert.equal(hear === undefined, words === undefined);
      if (hear !== undefined && words !== undefined) {
        assert.equal(words.isHeard(), false);
        const heard: string[] = [];
        const said = ['one', 'two', 'long '.repeat(5000), 'zwölf'];
        const end = await hear('m', (text) => void heard.push(Buffer.from(text).toString()));
        while (!words.isHeard()) await new Promise((resolve) => setTimeout(resolve, 5));
        for (const text of said) words.say(Buffer.from(text));
        while (heard.length < said.length) await new Promise((resolve) => setTimeout(resolve, 5));
        assert.deepEqual(heard, said);
        end();
      }
      await held.close();
    },
  },
  {
    name: 'who watches a run is told of what arrives and of what the run is told, who watches all of every new run',
    async check({ runs, elsewhere }) {
      await waitingDecision({ runs }, 'm');
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
      await hears('one', () => sendSignal({ runs }, 'm', word('a')));
      const held = await runs.hold('m');
      const write = async (): Promise<void> => {
        new ThreadStore(held.db).signal('m', { id: 'x', kind: 'pause', payload: null });
        await held.outlet.pending();
      };
      await hears('one', write);
      await held.close();
      await hears('all', () => waitingDecision({ runs }, 'n'));
      for (const end of ends) end();
    },
  },
];
