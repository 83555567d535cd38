import { HumanMessage } from '@langchain/core/messages';
import { describe, expect, test } from 'vitest';
import { maskView } from '../maskView.ts';

const CANARY = 'Tr0ub4dor-and-3-canaries';

describe('maskView', () => {
  test.each([
    ['a text', `password=${CANARY}`],
    ['a quoted text', { note: `password="${CANARY}" and more` }],
    ['a nested text', { a: [{ b: `Authorization: Bearer ${CANARY}` }] }],
    ['a field that is named like a secret', { password: CANARY }],
    ['a session id that is not one of ours', { sessionId: CANARY }],
    ['a list under such a name', { api_key: [CANARY] }],
    ['the name of a field', { [`password=${CANARY}`]: 1 }],
    ['a key of a map', new Map([[`password=${CANARY}`, 1]])],
    ['what a map has under such a name', { of: new Map([['password', CANARY]]) }],
    ['an item of a set', { password: new Set([CANARY]) }],
    ['what a message was made of', { lc_kwargs: { content: `password=${CANARY}`, api_key: CANARY } }],
    [
      'a message',
      new HumanMessage({ content: `password=${CANARY}`, additional_kwargs: { api_key: CANARY } }),
    ],
  ])('masks %s', (_what, view) => {
    const masked = maskView(view);
    expect(JSON.stringify(masked)).not.toContain(CANARY);
    expect(JSON.stringify(masked)).toMatch(/REDACTED[\]:]/);
    expect(maskView(masked)).toEqual(masked);
  });

  test('a text that stands there twice is masked where its field makes it a secret, and only there', () => {
    const text = 'hunter2hunter2';
    const view = { note: text, password: text, list: [{ note: text }, { password: text }] };
    expect(maskView(view)).toEqual({
      note: text,
      password: '[REDACTED]',
      list: [{ note: text }, { password: '[REDACTED]' }],
    });
  });

  test('leaves hashes, ids, times, numbers and prose alone', () => {
    const view = {
      artifactHash: '20366fc46c7e1b358188aeecbfd411648f13d853193c0923657ac693d81ae826',
      sessionId: 'bb6abc35-3154-40e5-b5ec-fb3f6e42200c',
      driver: '4711:123456',
      at: '2026-01-01T00:00:00.000Z',
      cost: { tokensIn: 12, costUsd: 0.5 },
      reason: null,
      description: 'Users can change their password. Tokens expire.',
    };
    expect(maskView(view)).toEqual(view);
  });
});
