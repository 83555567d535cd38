import { fileURLToPath } from 'node:url';
import { DevsError, secretRegistry } from '@devs/core';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';

/** `"provider:model"`, or your own LangChain chat model. */
export type ModelSource = string | BaseChatModel;

/** Constructor options of a provider's chat model: `temperature`, `apiKey`, `baseUrl`, … */
export type ModelSettings = Readonly<Record<string, unknown>>;

export type ToolCallingModel = BaseChatModel & Required<Pick<BaseChatModel, 'bindTools'>>;

export interface NamedModel {
  /** `openai:gpt-5`; shown wherever the run is shown. */
  readonly name: string;
  readonly chat: ToolCallingModel;
}

/** Shorter values are no keys, and masking them everywhere would garble the output. */
const MIN_KEY_LENGTH = 8;
const KEY_SETTINGS = ['apiKey', 'anthropicApiKey', 'openAIApiKey', 'configuration', 'clientOptions'] as const;

/**
 * Loads a chat model through LangChain's `initChatModel`. Provider packages are loaded only when they are named.
 *
 * LangChain's own retries are off: the engine retries what may pass by itself, and both would multiply.
 *
 * @throws DevsError `CONFIG_INVALID` for a name without provider or model, a package that is not installed (with the
 *   command that installs it), a missing key, or a model that cannot call tools.
 */
export async function loadChatModel(source: ModelSource, settings: ModelSettings = {}): Promise<NamedModel> {
  if (typeof source !== 'string') return namedModel(chatModelName(source), source);
  return namedModel(source, await loadByName(source, settings));
}

async function loadByName(source: string, settings: ModelSettings): Promise<BaseChatModel> {
  const { provider, model } = parseModelName(source);
  requireKey(provider, settings);
  const { apiKey } = settings;
  if (typeof apiKey === 'string' && apiKey.length >= MIN_KEY_LENGTH) secretRegistry.register(apiKey);
  try {
    const { initChatModel } = await import('langchain/chat_models/universal');
    return await initChatModel(model, { maxRetries: 0, ...settings, modelProvider: provider });
  } catch (error) {
    throw modelUnusable(source, provider, error);
  }
}

function namedModel(name: string, chat: BaseChatModel): NamedModel {
  if (canCallTools(chat)) return { name, chat };
  throw new DevsError(`The model ${name} cannot call tools.`, {
    code: 'CONFIG_INVALID',
    remedy: 'Use a chat model with bindTools: agents read, edit and answer through tools.',
  });
}

const canCallTools = (chat: BaseChatModel): chat is ToolCallingModel => chat.bindTools !== undefined;

/** Whether `text` has the form `provider:model`. */
export function isModelName(text: string): boolean {
  return /^[a-z][a-z0-9_-]*:\S+$/.test(text);
}

function parseModelName(source: string): { readonly provider: string; readonly model: string } {
  if (isModelName(source)) {
    const colon = source.indexOf(':');
    return { provider: source.slice(0, colon), model: source.slice(colon + 1) };
  }
  throw new DevsError(`The model ${JSON.stringify(source)} has no provider.`, {
    code: 'CONFIG_INVALID',
    remedy: `Write it as provider:model, with one of ${Object.keys(PROVIDERS).join(', ')}.`,
  });
}

/** Asked for before the run starts; the provider would only complain in its first call. */
function requireKey(provider: string, settings: ModelSettings): void {
  const variable = PROVIDERS[provider]?.keyVariable ?? null;
  if (variable === null || process.env[variable] || KEY_SETTINGS.some((name) => name in settings)) return;
  throw new DevsError(`The API key for ${provider} is missing: ${variable} is not set.`, {
    code: 'CONFIG_INVALID',
    remedy: `Set ${variable} in the environment of the command. For a server without keys, use any value.`,
  });
}

function modelUnusable(source: string, provider: string, cause: unknown): DevsError {
  const message = cause instanceof Error ? cause.message : String(cause);
  const missing = /Unable to import (\S+)\.|Cannot find package '([^']+)'/.exec(message);
  if (missing === null) {
    return new DevsError(`Cannot use the model ${source}: ${message}`, {
      code: 'CONFIG_INVALID',
      remedy: `Check the name and its settings; tested providers are ${Object.keys(PROVIDERS).join(', ')}.`,
      cause,
    });
  }
  const integration = PROVIDERS[provider]?.package ?? missing[1];
  const packages = ['langchain', integration].filter((name) => name !== undefined && name !== 'langchain');
  return new DevsError(
    `The model ${source} needs a package that is not installed: ${missing[1] ?? missing[2]}.`,
    {
      code: 'CONFIG_INVALID',
      remedy: `Run npm install ${isGlobal(HERE) ? '-g ' : ''}${['langchain', ...packages].join(' ')}, then run the command again.`,
      cause,
    },
  );
}

const HERE = fileURLToPath(import.meta.url);

/**
 * Whether this package was installed with `npm install -g`: a package beside the command's own is not looked for in the
 * folder it runs in. Global packages are below `lib/node_modules` of npm's prefix, on Windows below `npm/node_modules`.
 */
export function isGlobal(file: string): boolean {
  return /[\\/](?:lib|npm)[\\/]node_modules[\\/]/.test(file);
}

function chatModelName(chat: BaseChatModel): string {
  const { model } = chat as { readonly model?: unknown };
  return typeof model === 'string' && model !== '' ? model : chat.getName();
}

/** What a user has to bring for a provider that is written as `provider:model`. */
interface Provider {
  /** npm package with the LangChain integration. */
  readonly package: string;
  /** Environment variable with the key; `null` for a provider that needs none. */
  readonly keyVariable: string | null;
}

/** The providers this package is tested with; LangChain knows more. */
const PROVIDERS: Readonly<Record<string, Provider>> = {
  openai: { package: '@langchain/openai', keyVariable: 'OPENAI_API_KEY' },
  anthropic: { package: '@langchain/anthropic', keyVariable: 'ANTHROPIC_API_KEY' },
  ollama: { package: '@langchain/ollama', keyVariable: null },
};
