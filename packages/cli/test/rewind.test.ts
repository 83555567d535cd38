import { describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { finishShop as drive, RUN } from './support/finishedProject.ts';
import { test } from './support/fixtures.ts';

describe('devs rewind', () => {
  test('says what it would undo, undoes it, takes it back, and every reader tells of it', async ({ dir }) => {
    expect(await drive(dir)).toBe('completed');
    const devs = (...args: readonly string[]) => callMain(dir, args);

    const preview = await devs('admin', 'rewind', RUN, 'T1', '--dry-run');
    expect(preview.stdout).toBe('would rewind the run to the end of T1 and undo\n  T2  completed  Task 2\n');
    expect((await devs('log', RUN)).stdout).not.toContain('rewound');

    const said = await devs('rewind', RUN, 'T1', '--by', 'ada', '--reason', 'wrong way');
    expect(said.exitCode, said.stderr).toBe(0);
    expect(said.stdout).toMatch(
      /^rewound to the end of T1, undone:\n {2}T2 {2}completed {2}Task 2\nthe branch of the run is at [0-9a-f]{7}; .*\nto redo them: devs resume shop; to undo the rewind: devs admin rewind shop --undo\n$/,
    );
    const status = await devs('status', RUN);
    expect(status.stdout).toMatch(/rewound +to T1 by human:ada, .*Z: wrong way; undone: T2$/m);
    expect(status.stdout).toMatch(/T2 +pending/);
    expect((await devs('explain', RUN)).stdout).toMatch(/^rewind: {2}to T1 by human:ada/m);
    expect((await devs('log', RUN)).stdout).toContain('rewound to T1 by human:ada, undone: T2: wrong way');

    const undone = await devs('rewind', RUN, '--undo', '--json');
    expect(JSON.parse(undone.stdout)).toMatchObject({
      id: RUN,
      run: RUN,
      undone: { target: 'T1', kept: null },
    });
    expect((await devs('status', RUN)).stdout).toMatch(/status +completed[\s\S]*undone since$/m);

    expect((await devs('rewind', RUN, 'T1')).exitCode).toBe(0);
    expect(await drive(dir)).toBe('completed');
    const late = await devs('rewind', RUN, '--undo');
    expect(late).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('REWIND_REFUSED') });
  });

  test('refuses a task that is not there, and options that contradict each other', async ({ dir }) => {
    expect(await drive(dir)).toBe('completed');
    expect(await callMain(dir, ['rewind', RUN, 'T7'])).toMatchObject({ exitCode: 6 });
    expect(await callMain(dir, ['rewind', RUN])).toMatchObject({ exitCode: 2 });
    expect(await callMain(dir, ['rewind', RUN, 'T1', '--undo'])).toMatchObject({ exitCode: 2 });
    expect((await callMain(dir, ['rewind', RUN, 'T2'])).stdout).toBe('no task was started after T2\n');
  });
});
