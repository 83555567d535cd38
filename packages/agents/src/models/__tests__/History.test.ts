import { describe, expect, test } from 'vitest';
import { cutMiddle, History } from '../History.ts';

const answer = (id: number, text: string) =>
  ({ role: 'tool', content: text, tool_call_id: `c${id}`, name: 'read_file' }) as const;

const contents = ({ messages }: History): readonly string[] =>
  messages.map((message) => String((message as { readonly content: unknown }).content));

const OPENING = [
  { role: 'system', content: 's'.repeat(1_000) },
  { role: 'user', content: 'u'.repeat(1_000) },
] as const;

describe('the history of a conversation', () => {
  test('is shortened from its beginning: what tools answered goes, what was asked stays', () => {
    const history = new History(OPENING);
    history.add(...Array.from({ length: 10 }, (_, at) => answer(at, `${at}`.repeat(5_000))));
    expect(history.shorten()).toBe(true);
    const [system, request, ...rest] = contents(history);
    expect([system?.length, request?.length]).toEqual([1_000, 1_000]);
    expect(rest.slice(0, 3).every((text) => text.includes('5000 characters are left out'))).toBe(true);
    expect(rest.slice(3).every((text) => text.length === 5_000)).toBe(true);
    while (history.shorten()) expect(history.length).toBe(12);
    expect(
      contents(history)
        .slice(2)
        .every((text) => text.length < 2_200),
    ).toBe(true);
    expect(history.shorten()).toBe(false);
  });

  test('goes back to where it was', () => {
    const history = new History(OPENING);
    history.add(answer(1, 'a'), answer(2, 'b'));
    history.truncate(3);
    expect(contents(history).slice(2)).toEqual(['a']);
  });

  test('does not send again what a model wrote by the megabyte', () => {
    const history = new History(OPENING);
    const args = { path: 'a.js', content: 'x'.repeat(2_000_000) };
    history.add({
      role: 'assistant',
      content: 'y'.repeat(2_000_000),
      tool_calls: [{ id: '1', name: 'write_file', args, type: 'tool_call' }],
    });
    expect(history.characters).toBeLessThan(80_000);
    expect(history.messages[2]).toMatchObject({
      tool_calls: [{ id: '1', name: 'write_file', args: { path: 'a.js' } }],
    });
  });
});

test('a text is cut in its middle, and says how much is missing', () => {
  expect(cutMiddle('abcdef', 6)).toBe('abcdef');
  expect(cutMiddle('abcdefgh', 4)).toBe('ab\n[4 characters are left out here]\ngh');
});
