import type { NamespaceKey } from '../GraphCheckpointStore.ts';
import { RecentMap } from './RecentMap.ts';

/** The version of a channel that was stored last. */
export interface ChannelHead {
  readonly version: string;
  /** Bytes; 0 where the channel is empty at it. */
  readonly size: number;
  /** Of the last value, which the next one probably resembles; `undefined` where only the file knows. */
  readonly blobId: number | undefined;
}

/** Namespaces whose channels are remembered; the file knows the others. */
const REMEMBERED_NAMESPACES = 64;

/** What a connection stored last in the channels of a namespace, so that a checkpoint asks the file for none of them. */
export class ChannelHeads {
  readonly #namespaces = new RecentMap<string, Map<string, ChannelHead>>(REMEMBERED_NAMESPACES);

  of({ threadId, checkpointNs }: NamespaceKey): Map<string, ChannelHead> {
    const key = JSON.stringify([threadId, checkpointNs]);
    const known = this.#namespaces.get(key);
    if (known !== undefined) return known;
    const heads = new Map<string, ChannelHead>();
    this.#namespaces.set(key, heads);
    return heads;
  }
}
