import { describe, expect, it } from 'vitest';
import { decisionFrom } from '../answerFlags.ts';
import { assertTakes, choiceCommands, GATE_LABELS } from '../gateLabels.ts';

const devs = (...words: readonly string[]): string => ['devs', ...words].join(' ');

describe('the answers of a gate', () => {
  it.each([
    ['design_approval', 'approve reject edit'],
    ['dag_approval', 'approve reject edit'],
    ['review', 'approve reject'],
    ['node_gate', 'approve reject'],
    ['interrupt', 'value'],
    ['task_failure', 'retry skip abort'],
    ['recursion_limit', 'continue abort'],
    ['step', 'use repeat abort'],
    ['budget', 'raise abort'],
  ] as const)('%s: %s', (kind, names) => {
    expect(GATE_LABELS[kind].choices.map(({ name }) => name).join(' ')).toBe(names);
  });

  it('are command lines to copy', () => {
    const commands = choiceCommands('recursion_limit', ['3f2a', '--hash', '9b74c989'], devs);
    expect(commands.map(({ command }) => command)).toEqual([
      'devs answer 3f2a --hash 9b74c989 --continue',
      'devs answer 3f2a --hash 9b74c989 --abort',
    ]);
  });

  it('have one more where a declared gate takes a version of one’s own', () => {
    const gate = { kind: 'node_gate', artifact: null, takes: { gate: 'tools', edit: 'args' } } as const;
    expect(choiceCommands(gate, ['3f2a'], devs).map(({ command }) => command)).toEqual([
      'devs approve 3f2a',
      'devs reject 3f2a --feedback what should change',
      'devs answer 3f2a --edit { "name": "value" }',
    ]);
    expect(() => assertTakes(gate, 'version', { gate: '3f2a', devs })).not.toThrow();
    expect(() => assertTakes('node_gate', 'version', { gate: '3f2a', devs })).toThrow('"version"');
  });

  it("have a yes and a no where LangChain's middleware takes them, beside its own answer", () => {
    const gate = { kind: 'interrupt', artifact: null, decisions: ['approve', 'edit', 'reject'] } as const;
    expect(choiceCommands(gate, ['3f2a'], devs).map(({ command }) => command)).toEqual([
      'devs approve 3f2a',
      'devs reject 3f2a --feedback what should change',
      'devs answer 3f2a --value { "decisions": [{ "type": "approve" }] }',
    ]);
    expect(() => assertTakes({ ...gate, decisions: ['edit'] }, 'approve', { gate: '3f2a', devs })).toThrow(
      '"approve"',
    );
  });

  it('are named when another one was given', () => {
    const refusal = {
      code: 'INVALID_ANSWER',
      remedy: 'Use one of these commands: devs answer 3f2a --continue, or devs answer 3f2a --abort.',
    };
    expect(() => assertTakes('recursion_limit', 'approve', { gate: '3f2a', devs })).toThrow(
      expect.objectContaining(refusal),
    );
    expect(() => assertTakes('recursion_limit', 'continue', { gate: '3f2a', devs })).not.toThrow();
  });
});

describe('the flags of devs answer', () => {
  it.each([
    [{}, null],
    [
      { retry: true, guidance: 'Mind x.' },
      { action: 'retry', guidance: 'Mind x.' },
    ],
    [
      { skip: true, reason: 'Not worth it.' },
      { action: 'skip', reason: 'Not worth it.' },
    ],
    [{ continue: true }, { action: 'continue' }],
    [
      { raiseUsd: 2.5, raiseCalls: 3 },
      { action: 'raise', usd: 2.5, calls: 3 },
    ],
    [{ abort: true }, { action: 'abort' }],
    [{ value: 'false' }, { value: false }],
    [{ value: 'null' }, { value: null }],
    [{ value: '"a text"' }, { value: 'a text' }],
    [{ edit: '{ "to": "eve" }' }, { edit: { to: 'eve' } }],
  ] as const)('%o', (flags, answer) => {
    expect(decisionFrom(flags)?.answer ?? null).toEqual(answer);
  });

  it.each([
    [{ retry: true, abort: true }, /retry and abort are different answers/],
    [{ skip: true, raiseUsd: 1 }, /skip and raise are different answers/],
    [{ value: 'yes' }, /not valid JSON/],
    [{ value: '' }, /not valid JSON/],
    [{ edit: 'mine' }, /not valid JSON/],
    [{ edit: '1', value: '1' }, /different answers/],
    [{ value: 'true', retry: true }, /different answers/],
    [{ guidance: 'x' }, /--guidance/],
    [{ abort: true, guidance: 'x' }, /--guidance/],
    [{ retry: true, reason: 'x' }, /--reason/],
    [{ reason: 'x' }, /--reason/],
  ] as const)('%o is refused', (flags, message) => {
    expect(() => decisionFrom(flags)).toThrow(message);
  });
});
