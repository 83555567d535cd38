import {
  type CheckpointMetadata,
  type CheckpointTuple,
  emptyCheckpoint,
  uuid6,
} from '@langchain/langgraph-checkpoint';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { SqliteSaver } from '../SqliteSaver.ts';

type ListOptions = Parameters<SqliteSaver['list']>[1];

const METADATA: CheckpointMetadata = { source: 'loop', step: 1, parents: {} };
const MINE = { configurable: { thread_id: 'mine' } };

/** Texts that mean something to SQL, JSON paths, prototypes, patterns or terminals. */
const TEXTS = [
  "' OR 1=1 --",
  '"; DROP TABLE checkpoints; --',
  'step") OR 1=1 --',
  "$.step') OR ('1'='1",
  '$.*',
  '$[0]',
  '$..step',
  '%',
  '_ine',
  'mi%',
  '*',
  '?',
  '@threadId',
  ':1',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'MINE',
  'mine ',
  'mine\0',
  '\0',
  '\u001b[2J',
  'ｍｉｎｅ',
  'ＮＵＬＬ',
  'null',
  'undefined',
  'x'.repeat(100_000),
  '../mine',
  '\ud83d\ude00',
] as const;

/** What the two other threads must keep to themselves. */
async function withThreeThreads(saver: SqliteSaver): Promise<void> {
  for (const thread_id of ['mine', 'theirs', 'others']) {
    for (let step = 0; step < 2; step += 1) {
      const checkpoint = {
        ...emptyCheckpoint(),
        id: uuid6(step),
        channel_values: { who: thread_id },
        channel_versions: { who: 1 },
      };
      await saver.put({ configurable: { thread_id } }, checkpoint, { ...METADATA, step }, { who: 1 });
    }
  }
}

async function listed(
  saver: SqliteSaver,
  config: object,
  options?: ListOptions,
): Promise<readonly CheckpointTuple[]> {
  const tuples: CheckpointTuple[] = [];
  for await (const tuple of saver.list(config, options)) tuples.push(tuple);
  return tuples;
}

const threadsOf = (tuples: readonly CheckpointTuple[]): readonly unknown[] =>
  tuples.map(({ config }) => config.configurable?.['thread_id']);

describe(`${TEXTS.length} hostile texts`, () => {
  test.for(TEXTS.map((text) => [text.slice(0, 20), text] as const))(
    '%j reaches no other thread',
    async ([, text], { db }) => {
      const saver = new SqliteSaver(db, { allThreads: false });
      await withThreeThreads(saver);
      const filters: Record<string, unknown>[] = [
        { [text]: 1 },
        { [text]: undefined },
        { step: text },
        { source: text },
        { step: 1, [text]: 'theirs' },
        JSON.parse(`{${JSON.stringify(text)}:1}`) as Record<string, unknown>,
      ];
      for (const filter of filters) expect(await listed(saver, MINE, { filter })).toEqual([]);
      const before = { configurable: { checkpoint_id: text } };
      expect(threadsOf(await listed(saver, MINE, { before })).every((id) => id === 'mine')).toBe(true);
      for (const configurable of [
        { thread_id: text },
        { thread_id: 'mine', checkpoint_ns: text },
        { thread_id: 'mine', checkpoint_id: text },
      ]) {
        expect(await listed(saver, { configurable })).toEqual([]);
        expect(await saver.getTuple({ configurable })).toBeUndefined();
      }
      await saver.deleteThread(text);
      expect(db.prepare('SELECT count(*) FROM checkpoints').pluck().get()).toBe(6);
    },
  );
});

describe('values that are no texts', () => {
  const objects: readonly unknown[] = [
    null,
    7,
    true,
    [],
    ['mine'],
    {},
    { toString: () => 'mine' },
    Symbol('mine'),
    () => 'mine',
    1n,
  ];

  test('are refused as ids, and match nothing as filters', async ({ db }) => {
    const saver = new SqliteSaver(db, { allThreads: false });
    await withThreeThreads(saver);
    for (const value of objects) {
      const config = { configurable: { thread_id: value } };
      await expect(listed(saver, config), String(value)).rejects.toThrow(TypeError);
      await expect(saver.getTuple(config)).rejects.toThrow(TypeError);
      await expect(
        listed(saver, MINE, { before: { configurable: { checkpoint_id: value } } }),
      ).rejects.toThrow(TypeError);
      expect(await listed(saver, MINE, { filter: { source: value } })).toEqual([]);
      if (value !== 7) {
        await expect(listed(saver, MINE, { limit: value as number })).rejects.toThrow(RangeError);
      }
      await expect(saver.deleteThread(value as string)).rejects.toThrow(TypeError);
    }
  });

  test('half a character is no id: two of them would be one thread', async ({ db }) => {
    const saver = new SqliteSaver(db);
    for (const half of ['\ud800', 'a\udc00']) {
      await expect(
        saver.put({ configurable: { thread_id: half } }, emptyCheckpoint(), METADATA, {}),
      ).rejects.toThrow(TypeError);
      await expect(
        saver.getTuple({ configurable: { thread_id: 'mine', checkpoint_ns: half } }),
      ).rejects.toThrow(TypeError);
    }
  });
});

describe('a missing thread', () => {
  test.for([{}, { configurable: {} }, { configurable: { thread_id: undefined } }])(
    '%j gives all threads only where that is allowed',
    async (config, { db }) => {
      const saver = new SqliteSaver(db);
      await withThreeThreads(saver);
      expect(await listed(saver, config)).toHaveLength(6);
      await expect(listed(new SqliteSaver(db, { allThreads: false }), config)).rejects.toThrow(
        'thread_id is missing',
      );
    },
  );
});
