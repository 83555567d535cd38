import { describe, expect, it } from 'vitest';
import { agentNames, areModels } from '../agentNames.ts';

describe('the values of --agents', () => {
  it('name a model for all stages, and others for single ones', () => {
    const values = ['openai:gpt-5', 'review=anthropic:claude-opus-4-5', 'document=ollama:llama3.2:3b'];
    expect(agentNames(values, '/p')).toEqual({
      agents: 'openai:gpt-5',
      perStage: { review: 'anthropic:claude-opus-4-5', document: 'ollama:llama3.2:3b' },
      prompts: 'v4',
    });
  });

  it('name coding CLIs beside models, known ones and others', () => {
    expect(agentNames(['claude', 'review=openai:gpt-5'], '/p')).toMatchObject({
      agents: 'claude',
      perStage: { review: 'openai:gpt-5' },
    });
    expect(agentNames(['openai:gpt-5', 'implement=command:my-agent --fast'], '/p')).toMatchObject({
      perStage: { implement: 'command:my-agent --fast' },
    });
    expect(agentNames(['command:my-agent'], '/p')).toMatchObject({ agents: 'command:my-agent' });
    expect(agentNames(['acp:my-agent --acp', 'review=copilot'], '/p')).toMatchObject({
      agents: 'acp:my-agent --acp',
      perStage: { review: 'copilot' },
    });
  });

  it.each([
    [['openai:gpt-5'], true],
    [['claude', 'review=openai:gpt-5'], true],
    [['claude', 'review=acp:my-agent --acp'], false],
    [['command:my-agent'], false],
    [['replay:a:b.jsonl'], false],
    [['none'], false],
  ])('%j have a model: %j', (values, expected) => {
    expect(areModels(agentNames(values, '/p'))).toBe(expected);
  });

  it('name a recording by its path, or nobody', () => {
    expect(agentNames(['replay:a=b.jsonl'], '/p')).toEqual({ agents: 'replay:/p/a=b.jsonl' });
    expect(agentNames(['none'], '/p')).toEqual({ agents: 'none' });
  });

  it.each([
    [[], 'The agents are missing'],
    [['gpt-5'], 'Unknown agents "gpt-5"'],
    [['command:'], 'Unknown agents "command:"'],
    [['acp:'], 'Unknown agents "acp:"'],
    [['replay:'], 'Unknown agents "replay:"'],
    [['openai:a', 'openai:b'], 'openai:a and openai:b are both'],
    [['review=openai:a'], 'The agents are missing'],
    [['none', 'review=openai:a'], 'the other stages need a model or a coding CLI'],
    [['openai:a', 'reviews=openai:b'], '"reviews=openai:b" does not set an agent'],
    [['openai:a', 'review=b'], '"review=b" does not set an agent'],
  ])('%j are refused', (values, problem) => {
    expect(() => agentNames(values, '/p')).toThrow(problem);
  });
});
