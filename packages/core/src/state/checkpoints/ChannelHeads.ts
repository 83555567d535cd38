import { RecentMap } from '../../values/RecentMap.ts';
import type { NamespaceKey } from './checkpointRecords.ts';

/** The version of a channel that was stored or asked for last. */
export interface ChannelHead {
  readonly version: string;
  /** Bytes; 0 where the channel is empty at it. */
  readonly size: number;
  /** As of `channelDigest`. */
  readonly digest: string;
}

/** What is known about the channels of a namespace. */
interface NamespaceHeads {
  readonly versions: Map<string, ChannelHead>;
  /** Of the last large value of a channel, which its next one probably resembles. */
  readonly blobs: Map<string, number>;
  /** Of values that are about to be stored, maybe in a later transaction. */
  readonly coming: Map<string, Pick<ChannelHead, 'version' | 'size'>>;
}

/** Namespaces whose channels are remembered; the file knows the others. */
const REMEMBERED_NAMESPACES = 64;

/** What a connection stored last in the channels of a namespace, so that a checkpoint reads them from memory. */
export class ChannelHeads {
  readonly #loadBlobs: (key: NamespaceKey) => readonly (readonly [channel: string, blobId: number])[];
  readonly #namespaces = new RecentMap<string, NamespaceHeads>(REMEMBERED_NAMESPACES);

  /** @param loadBlobs - What the file knows, asked once per namespace: it looks at all rows of it. */
  constructor(loadBlobs: (key: NamespaceKey) => readonly (readonly [channel: string, blobId: number])[]) {
    this.#loadBlobs = loadBlobs;
  }

  of(namespace: NamespaceKey): NamespaceHeads {
    const key = keyOf(namespace);
    return this.#namespaces.get(key) ?? this.#remember(key, this.#loadBlobs(namespace));
  }

  /** A namespace without a checkpoint: its channels are empty. */
  begin(namespace: NamespaceKey): void {
    const key = keyOf(namespace);
    if (this.#namespaces.get(key) === undefined) this.#remember(key, []);
  }

  #remember(key: string, blobs: Iterable<readonly [channel: string, blobId: number]>): NamespaceHeads {
    const heads: NamespaceHeads = { versions: new Map(), blobs: new Map(blobs), coming: new Map() };
    this.#namespaces.set(key, heads);
    return heads;
  }
}

const keyOf = ({ threadId, checkpointNs }: NamespaceKey): string => JSON.stringify([threadId, checkpointNs]);
