import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { damagedValues } from '../doctor/damagedValues.ts';
import { ThreadInputStore } from '../threads/ThreadInputStore.ts';
import { ThreadStore } from '../threads/ThreadStore.ts';
import { aThread } from './aThread.ts';

const INPUT = { type: 'json', bytes: new Uint8Array(Buffer.from('{"brief":"ß"}')) };
const corrupt = expect.objectContaining({ code: 'STATE_CORRUPT' });

function withRun(db: Database): ThreadInputStore {
  new ThreadStore(db).create(aThread());
  return new ThreadInputStore(db);
}

describe("a run's input", () => {
  test('comes back as it was given, until another takes its place', ({ db }) => {
    const inputs = withRun(db);
    inputs.insert('run-1', INPUT);
    expect(inputs.require('run-1')).toEqual(INPUT);
    inputs.replace('run-1', { type: 'bytes', bytes: new Uint8Array([0, 255]) });
    expect(inputs.require('run-1')).toEqual({ type: 'bytes', bytes: new Uint8Array([0, 255]) });
  });

  test('is refused once a byte of it has changed', ({ db }) => {
    const inputs = withRun(db);
    inputs.insert('run-1', INPUT);
    db.exec(`UPDATE thread_inputs SET value = CAST('{"brief":"s"}' AS BLOB)`);
    expect(() => inputs.require('run-1')).toThrow(corrupt);
  });

  test('of a run that has none is a fault, to read and to replace', ({ db }) => {
    const inputs = withRun(db);
    expect(() => inputs.require('run-1')).toThrow(corrupt);
    expect(() => inputs.replace('run-1', INPUT)).toThrow(corrupt);
  });

  test('exists once, and only of a run', ({ db }) => {
    const inputs = withRun(db);
    inputs.insert('run-1', INPUT);
    expect(() => inputs.insert('run-1', INPUT)).toThrow('exists, but its run is missing');
    expect(() => inputs.insert('nobody', INPUT)).toThrow('FOREIGN KEY');
  });
});

describe("a run's turns", () => {
  const NEXT = { type: 'json', bytes: new Uint8Array(Buffer.from('"next"')) };

  test('are counted, and each keeps what it was given, how far it came and how it ended', ({ db }) => {
    const inputs = withRun(db);
    expect([inputs.latest('run-1'), inputs.find('run-1', null)]).toEqual([null, null]);
    inputs.insert('run-1', INPUT);
    const first = { turn: 1, key: null, type: 'json', isTaken: false, end: null };
    expect([inputs.latest('run-1'), inputs.find('run-1', null)]).toEqual([first, first]);
    inputs.markTaken('run-1');
    expect(inputs.latest('run-1')).toEqual(first);
    const end = { status: 'failed', reason: 'no', checkpointId: 'c-1' } as const;
    inputs.end('run-1', end);
    inputs.insert('run-1', NEXT, 'm-2');
    expect(inputs.latest('run-1')).toEqual({ turn: 2, key: 'm-2', type: 'json', isTaken: false, end: null });
    expect(inputs.find('run-1', 'm-2')).toEqual(inputs.latest('run-1'));
    expect(inputs.find('run-1', null)).toEqual({ ...first, end });
    inputs.markTaken('run-1');
    expect(inputs.latest('run-1')).toMatchObject({ turn: 2, isTaken: true });
    expect([inputs.require('run-1'), inputs.require('run-1', 1)]).toEqual([NEXT, INPUT]);
    inputs.replace('run-1', INPUT);
    expect(inputs.require('run-1', 2)).toEqual(INPUT);
    expect(() => inputs.insert('run-1', NEXT, 'm-2')).toThrow('exists, but its run is missing');
    db.exec('DELETE FROM thread_inputs WHERE turn = 2');
    for (const again of [() => inputs.latest('run-1'), () => inputs.end('run-1', end)])
      expect(again).toThrow('is missing');
  });

  test('are all looked at by the doctor', ({ db }) => {
    const inputs = withRun(db);
    inputs.insert('run-1', INPUT);
    inputs.insert('run-1', NEXT, 'm-2');
    db.exec('UPDATE thread_inputs SET value = zeroblob(9) WHERE turn = 1');
    expect(damagedValues(db)).toMatchObject([{ code: 'VALUE_DAMAGED' }]);
    expect(inputs.require('run-1')).toEqual(NEXT);
  });
});
