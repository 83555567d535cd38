import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Json, normaliseJson, normaliseRequest } from '../normaliseRequest.ts';
import { firstDifference } from '../requestDifference.ts';
import { designRequest, taskRequest } from './requests.ts';

describe('normaliseRequest', () => {
  it('drops the workspace and shortens task ids wherever they stand', () => {
    const normal = normaliseRequest(
      taskRequest({ guidance: ['Do as in slugify-ab12cd:2, not as in other:2 or my-slugify-ab12cd:2.'] }),
    );
    expect(normal).toMatchObject({
      task: { taskId: 'T1' },
      guidance: ['Do as in T2, not as in other:2 or my-slugify-ab12cd:2.'],
    });
    expect(normal).not.toHaveProperty('workspace');
  });

  it('is the same for two runs of one brief in different places at different times', () => {
    const noise = (project: string, n: number): string =>
      [
        `at file:///home/user-${n}/site/.devs-work/${project}/src/a.js:3:5`,
        `wrote /tmp/devs-${n}xyz/out.txt and /private/var/folders/a${n}/b.txt`,
        `commit ${String(n).repeat(40)} on 2026-01-0${n}T00:00:00.000Z`,
        `duration_ms ${n}.25 (${n}5 ms), id 0000000${n}-0000-4000-8000-000000000000`,
      ].join('\n');
    const request = (project: string, n: number): Json =>
      normaliseRequest(
        taskRequest({
          task: { ...taskRequest().task, taskId: `${project}:1` },
          guidance: [noise(project, n)],
          lastFailure: `# duration_ms ${n}`,
        }),
      );
    expect(request('slugify-aaaaaa', 1)).toEqual(request('slugify-bbbbbb', 2));
  });

  it('tells a red check from none', () => {
    const red = normaliseRequest(taskRequest({ lastFailure: 'not ok 1' }));
    expect(red).not.toEqual(normaliseRequest(taskRequest()));
    expect(red).toEqual(normaliseRequest(taskRequest({ lastFailure: 'AssertionError' })));
  });

  it('keeps what matters', () => {
    const request = designRequest({ feedback: 'Shorter, and see src/a.js:12.', attempt: 2 });
    expect(normaliseRequest(request)).toEqual(request);
  });

  it('drops what the repository says and what was sent back: older recordings do not have it', () => {
    const document = { type: 'PRD', title: 'Goals', content: 'Text' };
    const seen = {
      workspace: taskRequest().workspace,
      instructions: [{ path: 'AGENTS.md', content: 'Tabs.', sha256: 'a' }],
      checks: 'npm test',
    };
    const design = designRequest({
      ...seen,
      documents: [{ ...document, rejected: true }],
      changes: ['Changed: a.js'],
    });
    expect(normaliseRequest({ ...design, rejected: { requirements: [], epics: [] } })).toEqual(
      designRequest({ documents: [document] }),
    );
    const check = { passed: true, exitCode: 0, timedOut: false, output: '', command: 'npm test' };
    const review = { ...taskRequest(seen), diff: '+1', files: [], check, losses: [] };
    expect(normaliseRequest(review)).toEqual(normaliseRequest(taskRequest()));
  });

  it('changes nothing the second time', () => {
    const noisy = fc.constantFrom(
      '/tmp/a',
      '12 ms',
      'a'.repeat(40),
      '/x/.devs-work/run',
      'p:1',
      '<time>',
      '\n',
    );
    const texts = fc.array(fc.oneof(noisy, fc.string())).map((parts) => parts.join(' '));
    fc.assert(
      fc.property(fc.jsonValue(), texts, (value, text) => {
        const once = normaliseJson([value as Json, text], 'p');
        expect(normaliseJson(once, 'p')).toEqual(once);
      }),
    );
  });
});

describe('firstDifference', () => {
  it('names the first path that differs and shows both sides around the place', () => {
    const long = 'x'.repeat(500);
    expect(firstDifference({ a: 1, b: [{ c: `${long}old` }] }, { b: [{ c: `${long}new` }], a: 1 })).toEqual({
      path: 'b[0].c',
      expected: `"…${'x'.repeat(16)}old"`,
      got: `"…${'x'.repeat(16)}new"`,
    });
  });

  it.each<[string, Json, Json, string]>([
    ['a missing member', { a: 1 }, {}, 'a'],
    ['an added member', {}, { a: null }, 'a'],
    ['a longer list', [1], [1, 2], '[1]'],
    ['another kind', { a: [] }, { a: {} }, 'a'],
    ['the value itself', 1, '1', ''],
  ])('sees %s', (_what, expected, got, path) => {
    expect(firstDifference(expected, got)?.path).toBe(path);
  });

  it('finds none exactly when the values are equal', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const same = JSON.stringify(normaliseKeys(a as Json)) === JSON.stringify(normaliseKeys(b as Json));
        expect(firstDifference(a as Json, b as Json) === null).toBe(same);
        expect(firstDifference(a as Json, JSON.parse(JSON.stringify(a)) as Json)).toBeNull();
      }),
    );
  });
});

function normaliseKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(normaliseKeys);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, normaliseKeys(item)]));
}
