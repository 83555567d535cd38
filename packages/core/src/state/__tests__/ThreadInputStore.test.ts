import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { ThreadInputStore } from '../ThreadInputStore.ts';
import { ThreadStore } from '../ThreadStore.ts';
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
    expect(() => inputs.insert('run-1', INPUT)).toThrow('UNIQUE');
    expect(() => inputs.insert('nobody', INPUT)).toThrow('FOREIGN KEY');
  });
});
