import { describe, expect, test, vi } from 'vitest';
import { EventBus } from '../events.ts';

const PAYLOAD = { depth: 20, limit: 25 } as const;

describe('EventBus', () => {
  test('hands payload and scope to every listener of the event, in order', () => {
    const bus = new EventBus();
    const calls: unknown[] = [];
    bus.on('RECURSION_DEPTH_WARNING', (payload, scope) => calls.push(['a', payload, scope]));
    bus.on('RECURSION_DEPTH_WARNING', (payload, scope) => calls.push(['b', payload, scope]));
    bus.on('RECURSION_LIMIT_REACHED', () => calls.push('other'));
    bus.emit('RECURSION_DEPTH_WARNING', PAYLOAD, { threadId: 't' });
    expect(calls).toEqual([
      ['a', PAYLOAD, { threadId: 't' }],
      ['b', PAYLOAD, { threadId: 't' }],
    ]);
  });

  test('hands every event to a listener for any', () => {
    const bus = new EventBus();
    const names: string[] = [];
    bus.onAny((name) => names.push(name));
    bus.emit('RECURSION_DEPTH_WARNING', PAYLOAD);
    bus.emit('RECURSION_LIMIT_REACHED', PAYLOAD);
    expect(names).toEqual(['RECURSION_DEPTH_WARNING', 'RECURSION_LIMIT_REACHED']);
  });

  test('a listener that unsubscribed hears nothing more', () => {
    const bus = new EventBus();
    const calls: string[] = [];
    const offOne = bus.on('RECURSION_DEPTH_WARNING', () => calls.push('one'));
    const offAny = bus.onAny(() => calls.push('any'));
    offOne();
    offAny();
    bus.emit('RECURSION_DEPTH_WARNING', PAYLOAD);
    expect(calls).toEqual([]);
  });

  test('a listener that unsubscribes while it is called does not take the next one with it', () => {
    const bus = new EventBus();
    const calls: string[] = [];
    const off = bus.on('RECURSION_DEPTH_WARNING', () => off());
    bus.on('RECURSION_DEPTH_WARNING', () => calls.push('second'));
    bus.emit('RECURSION_DEPTH_WARNING', PAYLOAD);
    expect(calls).toEqual(['second']);
  });

  test('a listener that throws reaches neither the emitter nor the other listeners', () => {
    const failures: unknown[] = [];
    const calls: string[] = [];
    const bus = new EventBus((error, name) => failures.push([String(error), name]));
    bus.on('RECURSION_DEPTH_WARNING', () => {
      throw new Error('broken');
    });
    bus.on('RECURSION_DEPTH_WARNING', () => calls.push('next'));
    bus.onAny(() => calls.push('any'));
    bus.emit('RECURSION_DEPTH_WARNING', PAYLOAD);
    expect(failures).toEqual([['Error: broken', 'RECURSION_DEPTH_WARNING']]);
    expect(calls).toEqual(['next', 'any']);
  });

  test('a failing listener is reported as a process warning by default', () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const bus = new EventBus();
    bus.on('RECURSION_DEPTH_WARNING', () => {
      throw new Error('broken');
    });
    bus.emit('RECURSION_DEPTH_WARNING', PAYLOAD);
    const text = 'A listener for RECURSION_DEPTH_WARNING failed: Error: broken';
    expect(warn.mock.calls).toEqual([[text, 'DevsListenerWarning']]);
    warn.mockRestore();
  });
});
