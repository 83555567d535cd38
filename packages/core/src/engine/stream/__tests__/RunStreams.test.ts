import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { DEFAULT_LIMITS } from '../../../config/limits.ts';
import type { NewStreamEvent } from '../../../state/events/StreamStore.ts';
import type { ModelVoices } from '../ModelVoices.ts';
import { RunStreams } from '../RunStreams.ts';
import { StreamRecorder } from '../StreamRecorder.ts';

const TASK = { id: 'T1', node: 'ask', step: 1 } as const;

/** Whether it resolves before anything that takes time. */
const atOnce = (promise: Promise<void>): Promise<boolean> =>
  Promise.race([promise.then(() => true), new Promise<boolean>((no) => setImmediate(() => no(false)))]);

describe('a reader that waits for news of a run', () => {
  test('is woken by what is written to it, by its end, and by its own signal', async ({ db }) => {
    const streams = new RunStreams(db, 10);
    const stop = new AbortController();
    const news = streams.news('run');
    const others = streams.news('other');
    const waits = (): Promise<void> => news.next(stop.signal);
    const other = others.next(undefined);
    const first = waits();
    streams.wake('run');
    expect(await atOnce(first)).toBe(true);
    const second = waits();
    streams.wake('run');
    expect(await atOnce(second)).toBe(true);
    const third = waits();
    stop.abort();
    expect(await atOnce(third)).toBe(true);
    expect(await atOnce(waits())).toBe(true);
    expect(await atOnce(other)).toBe(false);
    await other;
    news.stop();
    others.stop();
  });
});

describe('what models say', () => {
  test('is told of tasks until its reader has ended', ({ db }) => {
    const streams = new RunStreams(db, 10);
    const { tokens, end } = streams.liveTokens('run', false);
    const [voices] = streams.voices('run', undefined, false).callbacks as [ModelVoices];
    const recorder = streams.recorder({ threadId: 'run', epoch: 1 } as never, []);
    const say = (call: string): void => {
      const metadata = { langgraph_checkpoint_ns: 'ask:T1' };
      voices.handleChatModelStart({} as never, [], call, undefined, {}, [], metadata);
      voices.handleLLMEnd({ generations: [[{ text: call }]] }, call);
    };
    recorder?.taskBegins(TASK);
    say('one');
    end();
    recorder?.taskBegins(TASK);
    say('two');
    expect(tokens.before().map((event) => [event.mode, event.attempt])).toEqual([['messages', 1]]);
  });
});

describe('a recorder', () => {
  test('says that something is there once it is, and nothing more once it could not be', async () => {
    const recorded: NewStreamEvent[] = [];
    let woken = 0;
    let isBroken = false;
    const sink = {
      append: () => {},
      taskBegins: () => {},
      isRead: () => true,
      wake: () => {
        woken += 1;
      },
      record: (events: readonly NewStreamEvent[]) => {
        if (isBroken) throw new Error('The disk is full.');
        recorded.push(...events);
      },
    };
    const recorder = new StreamRecorder({ threadId: 'run', channels: [], limits: DEFAULT_LIMITS }, sink);
    const told = async (chunk: string): Promise<readonly number[]> => {
      recorder.writer(chunk);
      await new Promise(setImmediate);
      return [recorded.length, woken];
    };
    expect(await told('one')).toEqual([1, 1]);
    isBroken = true;
    expect(await told('lost')).toEqual([1, 1]);
    isBroken = false;
    expect(await told('after it')).toEqual([1, 1]);
    await expect(recorder.settled()).rejects.toThrow('The disk is full.');
  });
});
