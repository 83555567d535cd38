import { DevsError } from '@devs/core';
import { describe, expect, test } from 'vitest';
import { renderToolError, unknownTool } from '../renderToolError.ts';

const CANARY = 'Tr0ub4dor-and-3-canaries';

describe('renderError', () => {
  test('keeps the code of the engine and masks its words', () => {
    const error = new DevsError(`Cannot read password=${CANARY}`, { code: 'STATE_IO', remedy: 'Look.' });
    expect(renderToolError(error)).toEqual({
      code: 'STATE_IO',
      message: 'Cannot read [SECRET=REDACTED]',
      remedy: 'Look.',
    });
  });

  test.each([new Error('boom'), 'boom'])('anything else is internal and has no stack', (thrown) => {
    expect(renderToolError(thrown)).toEqual({
      code: 'INTERNAL',
      message: 'boom',
      remedy: expect.stringMatching(/./),
    });
  });
});

describe('unknownTool', () => {
  test.each([
    'approve',
    'reject_gate',
    'decideGate',
    'RESUME',
    'drive',
    'cancel_run',
    'set_policies',
    'rewind',
  ])('%s is refused as a decision', (name) => expect(unknownTool(name).code).toBe('AGENT_MAY_NOT_DECIDE'));

  test('a name is shown shortened and masked', () => {
    const { code, message } = unknownTool(`password=${CANARY} ${'x'.repeat(500)}`);
    expect(code).toBe('UNKNOWN_TOOL');
    expect(message).not.toContain(CANARY);
    expect(message.length).toBeLessThan(200);
  });
});
