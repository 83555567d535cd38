import { Orchestrator } from '@devs/core';
import { expect } from 'vitest';
import { createUi, type UiOptions } from '../src/createUi.ts';
import { ADA, test } from './support/fixtures.ts';

const HOST = 'inbox.example.org';
const encryptionKey = `raw:${'b4d9e0c2'.repeat(8)}`;

test('the page of an encrypted state file is read with its key, and not without', async ({ dir }) => {
  const devs = await Orchestrator.open({ dir, encryptionKey });
  await devs.start({ id: 'shop', brief: '# Shop\n' });
  devs.close();
  const runsOf = async (options: Pick<UiOptions, 'encryptionKey'>) => {
    const ui = createUi({ dir, hosts: [HOST], identify: () => ADA, ...options });
    const answer = await ui(
      new Request(`https://${HOST}/api/runs`, { headers: { 'sec-fetch-site': 'same-origin' } }),
    );
    return { status: answer.status, text: await answer.text() };
  };
  expect(await runsOf({})).toEqual({
    status: 503,
    text: expect.stringContaining('STATE_KEY_MISMATCH'),
  });
  const shown = await runsOf({ encryptionKey });
  expect(shown).toEqual({ status: 200, text: expect.stringContaining('"shop"') });
  expect(shown.text).not.toContain('b4d9e0c2');
});
