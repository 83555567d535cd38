import { NEWEST_PROMPTS } from '@devs/agents';
import { describe, expect, it } from 'vitest';
import { agentNames } from '../agentNames.ts';

describe('the values of --agents', () => {
  it('name a model for all stages, and others for single ones', () => {
    const values = ['openai:gpt-5', 'review=anthropic:claude-opus-4-5', 'document=ollama:llama3.2:3b'];
    expect(agentNames(values, '/p')).toEqual({
      agents: 'openai:gpt-5',
      perStage: { review: 'anthropic:claude-opus-4-5', document: 'ollama:llama3.2:3b' },
      prompts: NEWEST_PROMPTS,
    });
  });

  it('name a recording by its path, or nobody', () => {
    expect(agentNames(['replay:a=b.jsonl'], '/p')).toEqual({ agents: 'replay:/p/a=b.jsonl' });
    expect(agentNames(['none'], '/p')).toEqual({ agents: 'none' });
  });

  it.each([
    [[], 'No agents are named'],
    [['gpt-5'], 'There are no agents "gpt-5"'],
    [['replay:'], 'There are no agents "replay:"'],
    [['openai:a', 'openai:b'], 'Both openai:a and openai:b'],
    [['review=openai:a'], 'No agents are named'],
    [['none', 'review=openai:a'], 'needs a model for the other stages'],
    [['openai:a', 'reviews=openai:b'], '"reviews=openai:b" gives no stage a model'],
    [['openai:a', 'review=b'], '"review=b" gives no stage a model'],
  ])('%j are refused', (values, problem) => {
    expect(() => agentNames(values, '/p')).toThrow(problem);
  });
});
