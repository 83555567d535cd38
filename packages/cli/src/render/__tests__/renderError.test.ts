import { readFileSync } from 'node:fs';
import { DevsError, ERROR_CODES } from '@devs/core';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../exitCodes.ts';
import { renderError } from '../renderError.ts';

const failure = (message: string, remedy = 'Do better.'): DevsError =>
  new DevsError(message, { code: 'THREAD_BUSY', remedy });

/** Codes by the exit code scripts see. */
function codesByExit(): Record<number, string[]> {
  const groups: Record<number, string[]> = {};
  for (const code of ERROR_CODES) {
    const { exitCode } = renderError(new DevsError('m', { code, remedy: 'r' }), { json: false });
    groups[exitCode] = [...(groups[exitCode] ?? []), code];
  }
  return groups;
}

describe('exit codes', () => {
  it('are what scripts rely on', () => {
    expect(EXIT).toEqual({
      ok: 0,
      runFailed: 1,
      usage: 2,
      busy: 3,
      notFound: 4,
      stateFile: 5,
      gateRefused: 6,
      internal: 70,
      resumable: 75,
      interrupted: 130,
    });
  });

  it('are each documented', () => {
    const page = readFileSync(new URL('../../../../../docs/reference/commands.md', import.meta.url), 'utf8');
    const documented = [...page.matchAll(/^\| `(\d+)` \|/gm)].map(([, code]) => Number(code));
    expect(documented).toEqual(Object.values(EXIT));
  });

  it('say which kind of error it was', () => {
    expect(codesByExit()).toEqual({
      [EXIT.runFailed]: [
        'AGENT_FAILED',
        'AGENT_INVALID_OUTPUT',
        'DAG_INVALID',
        'GITHUB_FAILED',
        'INTERRUPT_IN_EDGE',
        'NO_PROGRESS',
        'PATH_REFUSED',
        'REPLAY_MISS',
        'REWIND_CONFLICT',
        'RUN_FAILED',
        'STORE_UNSUPPORTED',
        'SYNC_CONFLICT',
        'THREAD_DEAD',
        'VALUE_NOT_STORABLE',
        'VALUE_TOO_LARGE',
        'WORKSPACE_DIRTY',
        'WORKSPACE_FAILED',
      ],
      [EXIT.usage]: [
        'CHILD_NOT_TAKEN',
        'CONFIG_INVALID',
        'CONFIG_NOT_TRUSTED',
        'INPUT_NOT_TAKEN',
        'INVALID_INPUT',
        'INVALID_PRINCIPAL',
        'RUN_ELSEWHERE',
        'SANDBOX_MISSING',
        'SIGNAL_NOT_TAKEN',
        'STATE_NOT_TRUSTED',
        'THREAD_EXISTS',
        'THREAD_NOT_OURS',
      ],
      [EXIT.busy]: ['LEASE_LOST', 'STATE_BUSY', 'THREAD_BUSY', 'WORKSPACE_BUSY'],
      [EXIT.notFound]: [
        'CHECKPOINT_NOT_FOUND',
        'GATE_NOT_FOUND',
        'NOT_KEPT',
        'STREAM_NOT_KEPT',
        'THREAD_NOT_FOUND',
      ],
      [EXIT.stateFile]: [
        'GRAPH_CHANGED',
        'JOURNAL_DEGRADED',
        'MIGRATION_EDITED',
        'MIGRATION_GAP',
        'SCHEMA_FOREIGN',
        'SCHEMA_TOO_NEW',
        'STATE_CORRUPT',
        'STATE_DISK_FULL',
        'STATE_IO',
        'STATE_KEY_MISMATCH',
        'STATE_REPLACED',
        'STEP_AMBIGUOUS',
      ],
      [EXIT.gateRefused]: [
        'AGENT_MAY_NOT_DECIDE',
        'ALREADY_VOTED',
        'ASK_UNSUPPORTED',
        'BUDGET_SPENT',
        'FEEDBACK_REQUIRED',
        'GATE_ALREADY_DECIDED',
        'GATE_HIDDEN',
        'GATE_NOT_READY',
        'GATE_STALE',
        'GRAPH_NOT_ACCEPTED',
        'INVALID_ANSWER',
        'MAY_NOT_APPROVE',
        'POLICY_NOT_DECLARED',
        'QUOTE_NOT_SHOWN',
        'REMOVE_REFUSED',
        'REWIND_REFUSED',
        'TRANSFER_REFUSED',
        'UPDATE_REFUSED',
        'USE_DECIDE',
      ],
    });
  });
});

describe('renderError', () => {
  it('spells out what cannot be seen, and escapes it as JSON', () => {
    const shown = (json: boolean): string =>
      renderError(failure('No \u200b\u{e0041}.', '\u202e'), { json }).text;
    expect(shown(false)).toBe('THREAD_BUSY: No ⟨U+200B⟩⟨U+E0041⟩.\n  → ⟨U+202E⟩\n');
    expect(shown(true)).toContain(String.raw`"message":"No \u200b\udb40\udc41.","remedy":"\u202e"`);
  });

  it('gives people the code, a sentence and the remedy', () => {
    const { text, exitCode } = renderError(failure('Somebody drives it.', 'Wait.'), { json: false });
    expect(text).toBe('THREAD_BUSY: Somebody drives it.\n  → Wait.\n');
    expect(exitCode).toBe(EXIT.busy);
  });

  it('gives programs one document', () => {
    const { text } = renderError(failure('Somebody drives it.', 'Wait.'), { json: true });
    expect(JSON.parse(text)).toEqual({
      error: { code: 'THREAD_BUSY', message: 'Somebody drives it.', remedy: 'Wait.' },
    });
  });

  it.each([false, true])('masks what looks like a secret (json: %s)', (json) => {
    expect(renderError(failure('It said password=hunter2-hunter2.'), { json }).text).not.toContain('hunter2');
  });

  it('calls anything else a bug, with its stack', () => {
    const { text, exitCode } = renderError(new TypeError('x is undefined'), { json: false });
    expect(text).toMatch(/^INTERNAL: TypeError: x is undefined\n {4}at /);
    expect(exitCode).toBe(EXIT.internal);
    expect(renderError('thrown text', { json: false }).text).toMatch(/^INTERNAL: thrown text\n/);
  });
});
