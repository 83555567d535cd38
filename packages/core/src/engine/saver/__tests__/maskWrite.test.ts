import { ERROR } from '@langchain/langgraph-checkpoint';
import { expect, test } from 'vitest';
import { maskWrite } from '../maskWrite.ts';

const TOKEN = `ghp_${'a1B2'.repeat(9)}`;

test('an error of a task passes the broad rules, in every form LangGraph gives it', () => {
  const message = 'login failed: password=hunter2';
  const thrown = new TypeError(message);
  const masked = maskWrite(ERROR, thrown) as Error;
  expect(masked).toBeInstanceOf(Error);
  expect(masked).toMatchObject({ name: 'TypeError', message: 'login failed: [SECRET=REDACTED]' });
  expect(masked.stack).not.toContain('hunter2');
  expect(maskWrite(ERROR, { name: 'E', message })).toEqual({
    name: 'E',
    message: 'login failed: [SECRET=REDACTED]',
  });
  expect(maskWrite(ERROR, message)).toBe('login failed: [SECRET=REDACTED]');
  expect(maskWrite(ERROR, null)).toBeNull();
});

test('any other write passes the precise rules', () => {
  expect(maskWrite('notes', { text: `token ${TOKEN}, password=hash(input)` })).toEqual({
    text: 'token [REDACTED:github], password=hash(input)',
  });
});

test('a write without a secret is the same object', () => {
  const value = { deep: [{ text: 'nothing to see' }] };
  expect(maskWrite('notes', value)).toBe(value);
});

test('a value that contains itself is left for the serializer to refuse', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  expect(maskWrite('notes', cycle)).toBe(cycle);
});
