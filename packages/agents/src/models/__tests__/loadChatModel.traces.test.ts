import { isDevsError, maskSensitiveData } from '@devs/core';
import { FakeChatModel, FakeStreamingChatModel } from '@langchain/core/utils/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { isGlobal, isModelName, loadChatModel } from '../loadChatModel.ts';

beforeEach(() => {
  vi.stubEnv('OPENAI_API_KEY', 'sk-of-the-environment');
});

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('loadChatModel', () => {
  test.each([
    ['openai:gpt-5', {}],
    ['anthropic:claude-opus-4-5', { apiKey: 'of-the-settings' }],
    ['ollama:llama3.2:3b', {}],
  ])('loads %s', async (name, settings) => {
    const { name: shown, chat } = await loadChatModel(name, settings);
    expect(shown).toBe(name);
    expect(chat.bindTools).toBeTypeOf('function');
  });

  test('takes a chat model as it is', async () => {
    const chat = new FakeStreamingChatModel({});
    expect(await loadChatModel(chat)).toEqual({ name: 'FakeStreamingChatModel', chat });
  });

  test('refuses a model that cannot call tools', async () => {
    await expect(loadChatModel(new FakeChatModel({}))).rejects.toThrow('FakeChatModel cannot call tools');
  });

  test('masks a key that is given in the settings', async () => {
    await loadChatModel('openai:gpt-5', { apiKey: 'plain words as a key' });
    expect(maskSensitiveData('I use plain words as a key here')).not.toContain('plain words');
  });

  test.each(['gpt-5', 'openai:', ':gpt-5', 'openai: gpt'])(
    'refuses %j, which names no model',
    async (name) => {
      expect(isModelName(name)).toBe(false);
      await expect(loadChatModel(name)).rejects.toThrow('has no provider');
    },
  );

  test('says before anything runs that a key is missing', async () => {
    vi.stubEnv('OPENAI_API_KEY', '');
    await expect(loadChatModel('openai:gpt-5')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'The API key for openai is missing: OPENAI_API_KEY is not set.',
    });
  });

  test('names the command that installs a missing package', async () => {
    await expect(loadChatModel('groq:llama')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      remedy: 'Run npm install langchain @langchain/groq, then run the command again.',
    });
  });

  test.each([
    ['/usr/lib/node_modules/@devs/cli/node_modules/@devs/agents/dist/models/loadChatModel.js', true],
    ['/home/ada/.nvm/versions/node/v22.1.0/lib/node_modules/@devs/agents/dist/index.js', true],
    [String.raw`C:\Users\ada\AppData\Roaming\npm\node_modules\@devs\agents\dist\index.js`, true],
    ['/home/ada/shop/node_modules/@devs/agents/dist/index.js', false],
    ['/home/ada/devs/packages/agents/src/models/loadChatModel.ts', false],
  ])('installs beside itself: %s', (file, globally) => {
    expect(isGlobal(file)).toBe(globally);
  });

  test('refuses a provider nobody knows', async () => {
    const error: unknown = await loadChatModel('acme:m1').catch((reason: unknown) => reason);
    expect(isDevsError(error, 'CONFIG_INVALID')).toBe(true);
    expect(String(error)).toContain('Cannot use the model acme:m1');
  });
});
