import { describe, expect, test } from 'vitest';
import { loadPrompts, MODEL_STAGES, PROMPT_VERSIONS } from '../loadPrompts.ts';

/** A released prompt is never edited: a run that waits was shown to people as answered under it. */
const RELEASED: Readonly<Record<string, string>> = {};

describe('loadPrompts', () => {
  test('has a prompt for every stage, each with what all share', () => {
    const { of } = loadPrompts();
    for (const stage of MODEL_STAGES) {
      expect(of[stage]).toContain('You are one of the agents of a pipeline');
      expect(of[stage]).toContain('Stage: ');
    }
  });

  test('names the tool that ends each stage', () => {
    const ends = MODEL_STAGES.map((stage) => /End with `(\w+)`/.exec(loadPrompts().of[stage])?.[1]);
    expect(new Set(ends)).toEqual(
      new Set(['submit_documents', 'submit_plan', 'finish', 'submit_review', 'submit_strategy']),
    );
  });

  test.each(PROMPT_VERSIONS)('has %s as it was released', (version) => {
    expect(loadPrompts(version).sha256).toBe(RELEASED[version] ?? loadPrompts(version).sha256);
  });

  test('refuses a version it does not have', () => {
    expect(() => loadPrompts('v0')).toThrow('There are no prompts "v0"');
  });
});
