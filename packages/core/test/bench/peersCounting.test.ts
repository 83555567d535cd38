import { describe, expect, test } from 'vitest';
import { medianCost, type RunCost } from '../../bench/peers/costs.ts';
import { count, histogram, median, parseAccount, repeatedCalls } from '../../bench/peers/counting.ts';
import { type Findings, render } from '../../bench/peers/render.ts';

const account = (...lines: readonly string[]) =>
  parseAccount(lines.map((line, index) => `${index}\t${line}\n`).join(''));

describe('the account', () => {
  test('is read line by line, with time, life, what happened, process and its time', () => {
    expect(parseAccount('5\t2\tpaid call draft 1\t77\t8.5\n')).toEqual([
      { at: 5, life: 2, what: 'paid call draft 1', pid: 77, cpuMs: 8.5 },
    ]);
  });

  test('counts by the beginning of an entry', () => {
    expect(count(account('0\tpublished A', '0\tpublished B', '0\tapproval accepted'), 'published')).toBe(2);
  });
});

describe('calls paid again', () => {
  test('a life that begins where the last one ended repeats nothing', () => {
    const entries = account('1\tpaid call 1', '1\tpaid call 2', '2\tworker loaded', '2\tpaid call 3');
    expect(repeatedCalls(entries)).toEqual({ perKill: [0], recordedAgain: 0 });
  });

  test('the call in flight is one repeat, and was not recorded', () => {
    const entries = account('1\tpaid call 1', '1\tpaid call 2', '2\tpaid call 2', '2\tpaid call 3');
    expect(repeatedCalls(entries)).toEqual({ perKill: [1], recordedAgain: 0 });
  });

  test('a call before the one in flight had been recorded', () => {
    const entries = account('1\tpaid call 1', '1\tpaid call 2', '2\tpaid call 1', '2\tpaid call 2');
    expect(repeatedCalls(entries)).toEqual({ perKill: [2], recordedAgain: 1 });
  });

  test('a life that died before its first call is a kill without a repeat', () => {
    const entries = account('1\tpaid call 1', '2\tworker loaded', '3\tworker loaded', '3\tpaid call 1');
    expect(repeatedCalls(entries)).toEqual({ perKill: [0, 1], recordedAgain: 0 });
  });
});

describe('figures', () => {
  test('a histogram names every number that occurs, smallest first', () => {
    expect(histogram([1, 0, 0, 10, 1, 0])).toBe('0 in 3, 1 in 2, 10 in 1');
  });

  test('a median does not compare numbers as text', () => {
    expect(median([9, 100, 20])).toBe(20);
  });

  const cost = (ms: number): RunCost => ({
    serviceMs: ms,
    toGateMs: ms * 2,
    waiting: 0,
    wakeMs: ms,
    coldWakeMs: ms,
    wakeCpuMs: ms,
    coldWakeCpuMs: Number.NaN,
    emptyBytes: 0,
    stateBytes: 210_000,
  });

  test('each cost has a median of its own', () => {
    expect(medianCost([cost(3), cost(1), cost(2)])).toEqual(cost(2));
  });

  test('the report has a column per stack, every refusal, and why a stack is missing', () => {
    const findings: Findings = {
      service: null,
      installation: { packages: 63, bytes: 95_600_000 },
      cost: cost(7),
      verdicts: {
        paid: { 'in the call': 2, 'before its record': 2, 'after its record': 1 },
        startedTwice: 2,
        kills: { perKill: [0, 1], recordedAgain: 0 },
        atOnce: { accepted: 1, published: 1 },
        twice: { accepted: 1, announced: 0 },
        stale: { accepted: 0, published: 0 },
        bound: null,
        refusals: ['approval refused: GATE_ALREADY_DECIDED'],
      },
    };
    const lines = render({ devs: findings, other: findings }, { gone: 'it is out of reach' }).split('\n');
    expect(lines).toContain('| | devs | other |');
    expect(lines).toContain(
      '| killed at random: calls paid again, per kill | 0 in 1, 1 in 1 | 0 in 1, 1 in 1 |',
    );
    expect(lines).toContain('| … of the processor, in one process | 7 | 7 |');
    expect(lines).toContain('| … of the processor, in one process | – | – |');
    expect(lines).toContain('| their size, MB | 96 | 96 |');
    expect(lines).toContain('| state after one run, MB | 0.21 | 0.21 |');
    expect(lines).toContain('devs: approval refused: GATE_ALREADY_DECIDED');
    expect(lines).toContain('gone: not measured; it is out of reach.');
  });
});
