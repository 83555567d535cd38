import { EventEmitter, once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DevsError, Orchestrator } from '@devs/core';
import { describe, expect } from 'vitest';
import { SharedReader } from '../src/state/RunsPlace.ts';
import { test } from './support/fixtures.ts';

/** A reader of the folder that counts how often the file was opened. */
function counted(dir: string) {
  const opened: Orchestrator[] = [];
  const reader = new SharedReader(async () => {
    const devs = await Orchestrator.open({ dir, readOnly: true });
    opened.push(devs);
    return devs;
  });
  return { reader, opened };
}

async function withRuns(dir: string, ...ids: readonly string[]): Promise<void> {
  const devs = await Orchestrator.open({ dir });
  for (const id of ids) await devs.start({ id, brief: `# ${id}` });
  devs.close();
}

const remove = (dir: string): void => {
  for (const part of ['', '-wal', '-shm']) rmSync(join(dir, `state.sqlite${part}`), { force: true });
};

describe('SharedReader', () => {
  test('all who read share one open file, and see what is committed', async ({ dir }) => {
    await withRuns(dir, 'one');
    const { reader, opened } = counted(dir);
    const ids = (): Promise<readonly string[]> => reader.use((devs) => devs.ids());
    expect(await Promise.all([ids(), ids(), ids()])).toEqual([['one'], ['one'], ['one']]);
    await withRuns(dir, 'two');
    expect(await ids()).toEqual(['two', 'one']);
    expect(opened).toHaveLength(1);
  });

  test('a file that was replaced is opened anew, and who still reads the old one reads on', async ({
    dir,
  }) => {
    await withRuns(dir, 'old');
    const { reader, opened } = counted(dir);
    const going = new EventEmitter();
    const slow = reader.use(async (devs) => {
      await once(going, 'on');
      return devs.ids();
    });
    remove(dir);
    await withRuns(dir, 'new');
    expect(await reader.use((devs) => devs.ids())).toEqual(['new']);
    going.emit('on');
    expect(await slow).toEqual(['old']);
    expect(opened).toHaveLength(2);
    await expect(opened[0]?.ids()).rejects.toThrow(/not open/);
  });

  test('what could not be opened is tried again, and what failed on the way is opened anew', async ({
    dir,
  }) => {
    const { reader, opened } = counted(dir);
    const ids = (): Promise<readonly string[]> => reader.use((devs) => devs.ids());
    await expect(ids()).rejects.toMatchObject({ code: 'STATE_IO' });
    await withRuns(dir, 'one');
    expect(await ids()).toEqual(['one']);
    const failing = async (code: 'STATE_CORRUPT' | 'THREAD_NOT_FOUND') =>
      reader.use(async () => {
        throw new DevsError('It failed.', { code, remedy: 'None.' });
      });
    await expect(failing('THREAD_NOT_FOUND')).rejects.toThrow('It failed.');
    expect(await ids()).toEqual(['one']);
    expect(opened).toHaveLength(1);
    await expect(failing('STATE_CORRUPT')).rejects.toThrow('It failed.');
    expect(await ids()).toEqual(['one']);
    expect(opened).toHaveLength(2);
  });
});
