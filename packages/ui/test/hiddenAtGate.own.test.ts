import { type Gate, type Run, secretRegistry } from '@devs/core';
import { fakeAgents } from '@devs/core/testing';
import { describe, expect } from 'vitest';
import type { GateView } from '../src/views/gateView.ts';
import { mounted, test, waitingRun } from './support/fixtures.ts';
import { readers } from './support/pages.ts';

const asReader = readers();

/** The routes of the one gate that a run waits at. */
async function atGate(dir: string, run: Run) {
  const [{ artifactHash, sessionId }] = (await run.gates()) as [Gate];
  const { ask, post, errorAt } = mounted(dir);
  const at = `/inbox/api/runs/${run.id}/gates/${sessionId}`;
  return {
    errorAt,
    get: async (path = '') => (await ask(at + path)).json(),
    view: async () => (await (await ask(at)).json()) as GateView,
    post: (path: string, body: object) => post(at + path, { artifactHash, ...body }),
  };
}

/** A run whose design hides a value from whoever knows it to be secret, which its agent did not. */
async function hidingRun(dir: string, value: string) {
  const design = async () => ({
    documents: [{ type: 'PRD', title: 'PRD', content: `a\npassword=rm; ${value}\n` }],
  });
  const run = await waitingRun(dir, { ...fakeAgents({ tasks: 1 }), design });
  secretRegistry.register(value);
  return run;
}

describe('what a gate hides', () => {
  test('is counted, revealed to whoever asks, recorded, and then a yes is possible', async ({ dir }) => {
    const run = await hidingRun(dir, 'k$w;revealed-on-the-page');
    const { view, post, errorAt, get } = await atGate(dir, run);
    const shown = await view();
    expect(shown).toMatchObject({
      hiddenCount: 1,
      hiddenPlaces: [{ name: 'registered', length: 24, at: 15 }],
    });
    expect(JSON.stringify([shown, await get('/edit')])).not.toContain('revealed-on-the-page');
    expect(JSON.stringify(shown)).toContain('a\\npassword=rm; [REDACTED:registered:24:');
    const yes = { answer: { approved: true } };
    expect(await errorAt(post('/decision', yes))).toMatchObject({ code: 'GATE_HIDDEN' });
    expect(await errorAt(post('/decision', { ...yes, withHidden: 2 }))).toMatchObject({
      code: 'GATE_HIDDEN',
    });
    expect(await (await post('/reveal', {})).json()).toMatchObject({
      places: [{ in: shown.hiddenPlaces[0]?.in, at: 15, text: 'k$w;revealed-on-the-page' }],
    });
    expect((await run.log()).at(-1)).toMatchObject({ name: 'GATE_REVEALED', payload: { count: 1 } });
    expect((await post('/decision', yes)).status).toBe(200);
    expect((await view()).closed).toMatchObject({ hidden: { count: 1, revealed: [1] } });
  });

  test('what is hidden is shown to one person on a button, and then they can say yes', async ({ dir }) => {
    const secret = 'k$w;behind-the-button';
    const run = await hidingRun(dir, secret);
    const [gate] = await run.gates();
    const { page, complaints } = await asReader({
      dir,
      id: 'ada',
      at: `/runs/shop/gates/${gate?.sessionId}`,
    });
    await page.getByText('1 place is hidden').waitFor();
    expect(await page.locator('main').textContent()).not.toContain(secret);
    await page.locator('#approve').click();
    await page.getByText('Read them with').waitFor();
    await page.locator('#reveal').click();
    await page.locator('.hidden-places pre', { hasText: secret }).waitFor();
    await page.locator('#approve').click();
    await page.locator('h1', { hasText: 'You approved' }).waitFor();
    expect((await run.closedGates())[0]?.hidden).toEqual({ count: 1, revealed: [1] });
    // The refusal is a line in the browser's own log.
    expect(complaints.filter((line) => !line.includes('409'))).toEqual([]);
  });

  test('is put back where an edit keeps its placeholder, and a mask is no value', async ({ dir }) => {
    const run = await hidingRun(dir, 'k$w;kept-by-its-place');
    const { get, post, errorAt } = await atGate(dir, run);
    const { documents } = (await get('/edit')) as { documents: { type: string; content: string }[] };
    const prd = documents.find(({ type }) => type === 'PRD');
    const [mark = ''] = /\[REDACTED:registered:21:[0-9a-f]{8}\]/.exec(prd?.content ?? '') ?? [];
    const edited = (content: string) =>
      post('/decision', { answer: { action: 'edit', documents: [{ ...prd, content }] } });
    for (const wrong of ['[REDACTED]', mark.replace(/.{3}\]$/, 'xyz]'), mark.replace(/.{3}\]$/, '000]')])
      expect(await errorAt(edited(`b ${wrong}`)), wrong).toMatchObject({ code: 'INVALID_ANSWER' });
    expect((await edited(`b ${mark} c`)).status).toBe(200);
    const [closed] = await run.closedGates();
    expect(closed?.decision).toMatchObject({ documents: [{ content: 'b k$w;kept-by-its-place c' }] });
  });
});
