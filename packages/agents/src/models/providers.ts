/** What a user has to bring for a provider that is written as `provider:model`. */
export interface Provider {
  /** npm package with the LangChain integration. */
  readonly package: string;
  /** Environment variable with the key; `null` for a provider that needs none. */
  readonly keyVariable: string | null;
}

/** The providers this package is tested with; LangChain knows more. */
export const PROVIDERS: Readonly<Record<string, Provider>> = {
  openai: { package: '@langchain/openai', keyVariable: 'OPENAI_API_KEY' },
  anthropic: { package: '@langchain/anthropic', keyVariable: 'ANTHROPIC_API_KEY' },
  ollama: { package: '@langchain/ollama', keyVariable: null },
};
