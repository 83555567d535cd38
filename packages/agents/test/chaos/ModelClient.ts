import { KEY_HEADER } from './modelProtocol.ts';

/** Asks the model server. A call that is killed half-way leaves nothing here. */
export class ModelClient {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async ask<T>(what: string, body: unknown, key: string, signal?: AbortSignal): Promise<T> {
    const response = await fetch(`${this.#url}/${what}`, {
      method: 'POST',
      headers: { [KEY_HEADER]: key },
      body: JSON.stringify(body),
      ...(signal !== undefined && { signal }),
    });
    if (!response.ok) throw new Error(`The model server answers ${response.status}.`);
    return (await response.json()) as T;
  }
}
