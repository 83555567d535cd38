import type { NamespaceKey } from '../checkpointRecords.ts';
import { RecentMap } from './RecentMap.ts';

/** The version of a channel that was stored or asked for last. */
export interface ChannelHead {
  readonly version: string;
  /** Bytes; 0 where the channel is empty at it. */
  readonly size: number;
  /** As of `channelDigest`. */
  readonly digest: string;
}

/** What is known about the channels of a namespace. */
export interface NamespaceHeads {
  readonly versions: Map<string, ChannelHead>;
  /** Of the last large value of a channel, which its next one probably resembles. */
  readonly blobs: Map<string, number>;
}

/** Namespaces whose channels are remembered; the file knows the others. */
const REMEMBERED_NAMESPACES = 64;

/** What a connection stored last in the channels of a namespace, so that a checkpoint asks the file for none of them. */
export class ChannelHeads {
  readonly #loadBlobs: (key: NamespaceKey) => readonly (readonly [channel: string, blobId: number])[];
  readonly #namespaces = new RecentMap<string, NamespaceHeads>(REMEMBERED_NAMESPACES);

  /** @param loadBlobs - What the file knows, asked once per namespace: it looks at all rows of it. */
  constructor(loadBlobs: (key: NamespaceKey) => readonly (readonly [channel: string, blobId: number])[]) {
    this.#loadBlobs = loadBlobs;
  }

  of(namespace: NamespaceKey): NamespaceHeads {
    const { threadId, checkpointNs } = namespace;
    const key = JSON.stringify([threadId, checkpointNs]);
    const known = this.#namespaces.get(key);
    if (known !== undefined) return known;
    const heads = { versions: new Map<string, ChannelHead>(), blobs: new Map(this.#loadBlobs(namespace)) };
    this.#namespaces.set(key, heads);
    return heads;
  }
}
