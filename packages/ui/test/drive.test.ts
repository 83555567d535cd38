import { fakeAgents, MemoryWorkspace, scriptedChecks } from '@devs/core/testing';
import { describe, expect } from 'vitest';
import { createUi, type UiOptions } from '../src/createUi.ts';
import type { DriveStop } from '../src/drives/PageDrives.ts';
import type { ShownRunView } from '../src/views/runView.ts';
import { ADA, mounted, openShop, test, waitingRun } from './support/fixtures.ts';

const asking = (): NonNullable<UiOptions['asking']> => ({
  agents: fakeAgents({ tasks: 1 }),
  workspace: new MemoryWorkspace(),
  checks: scriptedChecks(),
});

type Page = ReturnType<typeof mounted>;

const drive = async (page: Page) => {
  const answer = await page.post('/inbox/api/runs/shop/drive', {});
  return {
    status: answer.status,
    ...((await answer.json()) as { readonly error?: { readonly code: string } }),
  };
};

const runOn = async (page: Page): Promise<ShownRunView> =>
  (await (await page.ask('/inbox/api/runs/shop')).json()) as ShownRunView;

/** An execution that stays until it is let go, and holds the lease of its run meanwhile. */
function held() {
  const stops: DriveStop[] = [];
  let letGo = (): void => {};
  const until = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const driving = async (_run: string, stop: DriveStop): Promise<void> => {
    stops.push(stop);
    await until;
  };
  return { driving, stops, letGo: () => letGo() };
}

describe('a page that executes runs', () => {
  test('decides, goes on and comes to the next question, with agents of its own', async ({ dir }) => {
    const run = await waitingRun(dir);
    const page = mounted(dir, { drive: true, asking: asking() });
    const [gate] = await run.gates();
    const body = { artifactHash: gate?.artifactHash, answer: { approved: true } };
    await page.post(`/inbox/api/runs/shop/gates/${gate?.sessionId}/decision`, body);
    expect(await drive(page)).toMatchObject({ status: 200 });
    await expect.poll(async () => (await run.gates()).map(({ kind }) => kind)).toEqual(['dag_approval']);
    expect((await runOn(page)).failure).toBeNull();
  });

  test('is none where it was not let: not without `drive`, not where it only reads', async ({ dir }) => {
    await waitingRun(dir);
    for (const [options, code] of [
      [{ asking: asking() }, 'DRIVE_REFUSED'],
      [{ asking: asking(), drive: true, readOnly: true }, 'READ_ONLY'],
    ] as const) {
      const page = mounted(dir, options);
      expect(await drive(page)).toMatchObject({ status: 403, error: { code } });
      expect(await (await page.ask('/inbox/api/me')).json()).toMatchObject({
        canDrive: false,
        canStart: false,
      });
      expect(await page.errorAt(page.post('/inbox/api/runs', { brief: 'x' }))).toMatchObject({ code });
    }
    expect(() => mounted(dir, { drive: true })).toThrow(TypeError);
  });

  test('two that both press go on: one executes, and the other is told by whom', async ({ dir }) => {
    await waitingRun(dir);
    const { driving, stops, letGo } = held();
    const page = mounted(dir, { drive: true, driving });
    const both = [drive(page), drive(page)];
    await expect.poll(() => stops.length).toBe(1);
    letGo();
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([200, 200]);
    expect(stops).toHaveLength(1);
  });

  test('a run that another process executes is left to it, and the page says which', async ({ dir }) => {
    let letGo = (): void => {};
    const until = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const agents = fakeAgents({ tasks: 1 });
    const devs = await openShop(dir, {
      ...agents,
      design: async (...asked) => {
        await until;
        return agents.design(...asked);
      },
    });
    const run = await devs.start({ id: 'shop', brief: '# Shop' });
    const elsewhere = run.resume();
    await expect.poll(async () => (await run.status()).driver).not.toBeNull();
    const { driver } = await run.status();
    const page = mounted(dir, { drive: true, asking: asking() });
    const answer = (await (await page.post('/inbox/api/runs/shop/drive', {})).json()) as {
      readonly error: { readonly code: string; readonly message: string };
    };
    expect(answer.error.code).toBe('THREAD_BUSY');
    expect(answer.error.message).toContain(driver);
    letGo();
    expect((await elsewhere).status).toBe('waiting');
  });

  test('an execution that fails is told, to whoever asked and to whoever looks later', async ({ dir }) => {
    await waitingRun(dir);
    const page = mounted(dir, {
      drive: true,
      driving: async () => {
        throw new Error('no key, password=Tr0ub4dor-and-3-canaries');
      },
    });
    expect(await drive(page)).toMatchObject({ status: 500, error: { code: 'INTERNAL' } });
    const { failure } = await runOn(page);
    expect(failure?.message).toContain('no key');
    expect(failure?.message).not.toContain('canaries');
  });

  test('closing it drains what it executes, and waits for that', async ({ dir }) => {
    await waitingRun(dir);
    const { driving, stops, letGo } = held();
    const HOST = 'inbox.example.org';
    const ui = createUi({ dir, hosts: [HOST], identify: () => ADA, drive: true, driving });
    const headers = {
      ...{ origin: `https://${HOST}`, 'sec-fetch-site': 'same-origin' },
      'content-type': 'application/json',
    };
    const go = () =>
      ui(new Request(`https://${HOST}/api/runs/shop/drive`, { method: 'POST', headers, body: '{}' }));
    const asked = go();
    await expect.poll(() => stops.length).toBe(1);
    let isClosed = false;
    const closing = ui.close().then(() => {
      isClosed = true;
    });
    expect(stops[0]?.drain.aborted).toBe(true);
    expect(stops[0]?.signal.aborted).toBe(false);
    expect(isClosed).toBe(false);
    ui.abort();
    expect(stops[0]?.signal.aborted).toBe(true);
    letGo();
    await closing;
    expect((await asked).status).toBe(200);
    expect((await go()).status).toBe(503);
  });

  test('a run that has ended is not gone on with', async ({ dir }) => {
    const run = await waitingRun(dir);
    await run.cancel({ by: ADA });
    const page = mounted(dir, { drive: true, asking: asking() });
    expect(await drive(page)).toMatchObject({ status: 409, error: { code: 'RUN_ENDED' } });
  });

  test('a brief becomes a run that is executed; what its starting refuses is told', async ({ dir }) => {
    const devs = await openShop(dir);
    const ways = asking();
    const starting: NonNullable<UiOptions['starting']> = async (brief) =>
      (await devs.start({ id: 'shop', brief })).id;
    const page = mounted(dir, { drive: true, asking: ways, starting });
    const answer = await page.post('/inbox/api/runs', { brief: '# Shop\n\nSell things.\n' });
    expect(await answer.json()).toEqual({ run: 'shop' });
    const run = await devs.run('shop');
    await expect.poll(async () => (await run.gates()).map(({ kind }) => kind)).toEqual(['design_approval']);
    expect(await page.errorAt(page.post('/inbox/api/runs', { brief: '' }))).toMatchObject({
      code: expect.stringMatching(/INTERNAL|INVALID_REQUEST/),
    });
  });
});
