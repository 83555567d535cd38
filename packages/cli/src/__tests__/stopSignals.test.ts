import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { EXIT } from '../exitCodes.ts';
import { stopSignals } from '../runProcess.ts';

beforeEach(() => void vi.useFakeTimers());

afterEach(() => void vi.useRealTimers());

/** A process that can be signalled, and notes how it would have ended. */
function aProcess() {
  const exits: unknown[] = [];
  const exit = (code?: unknown) => exits.push(code) as never;
  const process = Object.assign(new EventEmitter(), { exit }) as unknown as NodeJS.Process;
  return { process, exits, send: (signal: NodeJS.Signals) => process.emit(signal, signal) };
}

describe('a signal to stop', () => {
  test('SIGINT asks for the next safe point and ends nothing: a person can press again', () => {
    const { process, exits, send } = aProcess();
    const stop = stopSignals(process);
    expect(stop.signal.aborted).toBe(false);
    send('SIGINT');
    vi.advanceTimersByTime(60_000);
    expect([stop.signal.aborted, stop.abort.aborted]).toEqual([true, false]);
    expect(exits).toEqual([]);
  });

  test('SIGTERM asks for the next safe point, and ends what is in flight before whoever sent it kills', () => {
    const { process, exits, send } = aProcess();
    const stop = stopSignals(process);
    send('SIGTERM');
    vi.advanceTimersByTime(4_999);
    expect([stop.signal.aborted, stop.abort.aborted]).toEqual([true, false]);
    vi.advanceTimersByTime(1);
    expect(stop.abort.aborted).toBe(true);
    expect(exits).toEqual([]);
    vi.advanceTimersByTime(3_000);
    expect(exits).toEqual([EXIT.interrupted]);
  });

  test('SIGTERM ends nothing of a worker that drains in a time of its own', () => {
    const { process, exits, send } = aProcess();
    const stop = stopSignals(process);
    stop.drainsAlone();
    send('SIGTERM');
    vi.advanceTimersByTime(60_000);
    expect([stop.signal.aborted, stop.abort.aborted, exits]).toEqual([true, false, []]);
    send('SIGTERM');
    expect(stop.abort.aborted).toBe(true);
  });

  test('SIGTERM after Ctrl-C ends what is in flight, and once', () => {
    const { process, exits, send } = aProcess();
    const stop = stopSignals(process);
    send('SIGINT');
    send('SIGTERM');
    expect(stop.abort.aborted).toBe(true);
    vi.advanceTimersByTime(2_999);
    expect(exits).toEqual([]);
  });

  test('that comes again ends what is in flight, and leaves behind what does not end in time', () => {
    const { process, exits, send } = aProcess();
    const stop = stopSignals(process);
    send('SIGINT');
    send('SIGTERM');
    expect(stop.abort.aborted).toBe(true);
    expect(exits).toEqual([]);
    vi.advanceTimersByTime(3_000);
    expect(exits).toEqual([EXIT.interrupted]);
  });

  test('SIGHUP ends what is in flight at once: nobody is left to signal again', () => {
    const { process, exits, send } = aProcess();
    const stop = stopSignals(process);
    send('SIGHUP');
    expect([stop.signal.aborted, stop.abort.aborted]).toEqual([true, true]);
    vi.advanceTimersByTime(3_000);
    expect(exits).toEqual([EXIT.interrupted]);
  });

  test('that comes a third time leaves at once', () => {
    const { process, exits, send } = aProcess();
    stopSignals(process);
    for (let times = 0; times < 3; times += 1) send('SIGINT');
    expect(exits).toEqual([EXIT.interrupted]);
  });
});
