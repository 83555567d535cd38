import type { ResultCodec } from '../../state/StepResult.ts';

/**
 * The codec of a store that may never drive: what knows LangChain's classes is loaded with the first result that is more
 * than JSON. Once it is, `encode` takes a value as it is at the call.
 */
export class LateCodec implements ResultCodec {
  readonly #load: () => Promise<ResultCodec>;
  #loaded: ResultCodec | null = null;

  constructor(load: () => Promise<ResultCodec>) {
    this.#load = load;
  }

  /** Before anything is driven. */
  load(codec: ResultCodec): void {
    this.#loaded = codec;
  }

  async encode(value: unknown): Promise<string> {
    return (this.#loaded ?? (await this.#load())).encode(value);
  }

  async decode(text: string): Promise<unknown> {
    return (this.#loaded ?? (await this.#load())).decode(text);
  }
}
