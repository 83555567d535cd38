import { describe, expect, test } from 'vitest';
import { loadPrompts, MODEL_STAGES, PROMPT_VERSIONS, type PromptVersion } from '../loadPrompts.ts';

/** A version that was released is never edited: runs that wait go on with it. Before, text and hash change together. */
const PINNED: Readonly<Record<PromptVersion, string>> = {
  v1: '65de4f28c2352b05c21e36871f6dc0794814a56bf5b26a5c988fa96290820230',
  v2: '0fca6e2d88ef9fbca56a6d19cec50df83c53b9f8449fd10289fb08d5fe702af9',
  v3: '075fec82c03fce21261637f5e3a77bd79ab2049978a979d94106176d9d6cc1ad',
  v4: 'e06ff8ce577c15da8d5d12c4d2f74c9c87b5be5a4f0dc52ac6d6a3f283f84b44',
};

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

  test.each(PROMPT_VERSIONS)('has %s as it is pinned', (version) => {
    expect(loadPrompts(version).sha256).toBe(PINNED[version]);
  });

  test('refuses a version it does not have', () => {
    expect(() => loadPrompts('v0')).toThrow('There are no prompts "v0"');
  });
});
