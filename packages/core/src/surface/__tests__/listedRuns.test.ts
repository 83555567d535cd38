import { driveMail, mailApp } from '@devs/conformance';
import { describe, expect, test, vi } from 'vitest';
import { localHost } from '../../state/threads/hostIdentity.ts';
import { ThreadStore } from '../../state/threads/ThreadStore.ts';
import { fakeAgents, MemoryRuns, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';
import { Orchestrator } from '../Orchestrator.ts';

const BRIEF = '# CSV export\n\nExport the table as CSV.\n';
const ADA = { kind: 'human', id: 'ada' } as const;

/** Runs that have a file each, and how often one was opened to be read. */
async function elsewhere() {
  const runs = new MemoryRuns();
  const opened = vi.spyOn(runs, 'open');
  const parts = { agents: fakeAgents({}), workspace: new MemoryWorkspace(), checks: scriptedChecks() };
  const devs = await Orchestrator.open({ runs, ...parts, budget: { usd: 5 } });
  return { runs, opened, devs };
}

describe('runs that have files elsewhere', () => {
  test('are listed as their files say, and none is opened', async () => {
    const { runs, opened, devs } = await elsewhere();
    const run = await devs.start({ id: 'export', brief: BRIEF });
    await devs.start({ id: 'waits', brief: `${BRIEF}\nSoon.\n` });
    const first = await run.resume();
    for (const gate of first.gates) await run.decide(gate, { approved: true, by: ADA });
    await run.resume();
    const mail = mailApp(runs, 'asks');
    await mail.start('mail', { log: [] }, { budget: { calls: 9 } });
    await driveMail(mail, 'mail');
    opened.mockClear();
    const listed = await devs.list();
    expect(opened).not.toHaveBeenCalled();
    expect(listed.map(({ id }) => id).sort()).toEqual(['export', 'mail', 'waits']);
    for (const status of listed) expect(status).toEqual(await (await devs.run(status.id)).status());
    expect(listed.find(({ id }) => id === 'export')).toMatchObject({ title: 'CSV export', gates: [{}] });
    expect(listed.find(({ id }) => id === 'export')?.tasks).toHaveLength(3);
    expect(listed.find(({ id }) => id === 'mail')?.budget).toMatchObject([{ measure: 'calls', limit: 9 }]);
  });

  test('are read from their file while they are driven, and after they were told something', async () => {
    const { runs, opened, devs } = await elsewhere();
    const run = await devs.start({ id: 'export', brief: BRIEF });
    const [gate] = (await run.resume()).gates;
    if (gate !== undefined) await run.decide(gate, { approved: true, by: ADA });
    opened.mockClear();
    const told = await devs.list();
    // Whoever is told something stands elsewhere since then.
    expect(told).toEqual([{ ...(await run.status()), updatedAt: expect.any(String) }]);
    expect(told[0]?.gates).toEqual([]);
    const held = await runs.hold('export');
    expect(await devs.list({ ids: ['export', 'export'] })).toHaveLength(2);
    expect(opened.mock.calls.length).toBeGreaterThan(2);
    await held.close();
    await expect(devs.list({ ids: ['nobody'] })).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
  });

  test('are driven by whom the place of the runs knows, not by whom the file names', async () => {
    const { runs, devs } = await elsewhere();
    const run = await devs.start({ id: 'export', brief: BRIEF });
    const held = await runs.hold('export');
    const threads = new ThreadStore(held.db, { host: { ...localHost(), bootId: 'another machine' } });
    expect(threads.claim('export').kind).toBe('claimed');
    await held.outlet.pending();
    expect((await run.status()).driver).not.toBeNull();
    expect((await devs.list())[0]?.driver).not.toBeNull();
    runs.free('export');
    expect((await run.status()).driver).toBeNull();
    expect((await devs.list())[0]?.driver).toBeNull();
  });

  test('are listed page by page, and how many questions there are is known with the first', async () => {
    const { opened, devs } = await elsewhere();
    const ids = ['a', 'b', 'c', 'd'];
    for (const id of ids) await (await devs.start({ id, brief: BRIEF })).resume();
    opened.mockClear();
    const read: string[] = [];
    for (let after: string | undefined; ; after = read.at(-1)) {
      const page = await devs.list({ limit: 3, after });
      read.push(...page.map(({ id }) => id));
      if (page.length < 3) break;
    }
    expect(read.toSorted()).toEqual(ids);
    expect(await devs.openGates({ limit: 1 })).toMatchObject({ total: 4, gates: [{}] });
    expect(opened).not.toHaveBeenCalled();
    await expect(devs.list({ after: 'nobody' })).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
  });

  test('say that there is something new, which a number counts', async () => {
    const { devs } = await elsewhere();
    const run = await devs.start({ id: 'export', brief: BRIEF });
    const news = await devs.news({ threadId: 'export' });
    const before = await devs.dataVersion();
    expect(await devs.dataVersion()).toBe(before);
    await run.resume();
    await news.next(60_000);
    expect(await devs.dataVersion()).toBeGreaterThan(before);
    news.stop();
    devs.close();
  });
});
