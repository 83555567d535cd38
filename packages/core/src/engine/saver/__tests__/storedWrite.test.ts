import { ERROR } from '@langchain/langgraph-checkpoint';
import { expect, test } from 'vitest';
import { storedWrite } from '../storedCheckpoint.ts';

test('an error of a task passes the broad rules, in every form LangGraph gives it', () => {
  const message = 'login failed: password=hunter2';
  const thrown = new TypeError(message);
  const masked = storedWrite(ERROR, thrown) as Error;
  expect(masked).toBeInstanceOf(Error);
  expect(masked).toMatchObject({ name: 'TypeError', message: 'login failed: [SECRET=REDACTED]' });
  expect(masked.stack).not.toContain('hunter2');
  expect(storedWrite(ERROR, { name: 'E', message })).toEqual({
    name: 'E',
    message: 'login failed: [SECRET=REDACTED]',
  });
  expect(storedWrite(ERROR, [message])).toEqual(['login failed: [SECRET=REDACTED]']);
  expect(storedWrite(ERROR, message)).toBe('login failed: [SECRET=REDACTED]');
  expect(storedWrite(ERROR, null)).toBeNull();
});

test('any other write is the same value', () => {
  const value = { text: `token ghp_${'a1B2'.repeat(9)}, password=hunter2` };
  expect(storedWrite('notes', value)).toBe(value);
});
