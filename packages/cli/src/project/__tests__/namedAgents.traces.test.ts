import { afterEach, expect, it, vi } from 'vitest';
import { namedAgents } from '../agentsFrom.ts';

const setting = { sandbox: null };

afterEach(() => {
  vi.unstubAllEnvs();
});

it('models and coding CLIs share the stages', async () => {
  vi.stubEnv('OPENAI_API_KEY', 'not-a-real-key');
  const perStage = { implement: 'command:node my-agent.mjs', review: 'openai:b' };
  const { name, provenance } = await namedAgents({ agents: 'openai:a', perStage }, setting);
  expect({ name, provenance }).toEqual({ name: 'openai:a + openai:b + node', provenance: 'live' });
  const command = { agents: "command:node 'my agent.mjs'", perStage: { design: 'openai:a' } };
  expect((await namedAgents(command, setting)).name).toBe('node + openai:a');
  const three = { implement: 'acp:node my-agent.mjs', review: 'command:sh -c true' };
  expect((await namedAgents({ agents: 'openai:a', perStage: three }, setting)).name).toBe(
    'openai:a + node + sh',
  );
});

it('a coding CLI that is not installed is refused', async () => {
  const names = { agents: 'command:no-such-coding-cli' };
  await expect(namedAgents(names, setting)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  const overProtocol = namedAgents({ agents: 'acp:no-such-agent' }, setting);
  await expect(overProtocol).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
});
