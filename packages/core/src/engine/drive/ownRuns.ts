import type { DueRun, DueScope } from '../../state/threads/WaitStore.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { graphFingerprint, recordedShape } from '../graph/graphShape.ts';
import type { Engine } from './Engine.ts';

/**
 * The runs that an app drives in a file of several graphs: those recorded under its name. An unnamed run, of an earlier
 * release or of an unnamed app, is judged by its shape. It is another graph's if an app with another name has recorded that
 * shape, or if the two graphs have no node in common.
 */
export class OwnRuns {
  readonly #store: EngineStore;
  readonly #name: string | undefined;
  readonly #fingerprint: string;
  readonly #nodes: ReadonlySet<string>;
  /** Fingerprints of unnamed runs: whether they are this app's. */
  readonly #known = new Map<string, boolean>();

  constructor({ store, shape, recordedAs }: Pick<Engine, 'store' | 'shape' | 'recordedAs'>) {
    this.#store = store;
    this.#name = recordedAs;
    this.#fingerprint = graphFingerprint(shape);
    this.#nodes = new Set(shape.nodes);
  }

  /** Own runs that `select` finds. It is asked again without each shape that proves to be another graph's. */
  among(select: (scope: DueScope) => readonly DueRun[], limit: number): readonly string[] {
    for (;;) {
      const found = select({ graphName: this.#name ?? null, others: this.#others(), limit });
      const judged = found.filter((run) => this.#isOwn(run));
      if (judged.length === found.length) return found.map(({ threadId }) => threadId);
    }
  }

  #others(): string {
    return JSON.stringify([...this.#known].flatMap(([fingerprint, isOwn]) => (isOwn ? [] : [fingerprint])));
  }

  #isOwn({ threadId, fingerprint, graphName }: DueRun): boolean {
    if (graphName !== null || fingerprint === this.#fingerprint) return true;
    const known = this.#known.get(fingerprint) ?? this.#isOwnShape(threadId, fingerprint);
    this.#known.set(fingerprint, known);
    return known;
  }

  #isOwnShape(threadId: string, fingerprint: string): boolean {
    const { directory, threads } = this.#store;
    const owner = directory.ownerOf(fingerprint, this.#name ?? null);
    if (owner !== 'unknown') return owner === 'own';
    const shape = recordedShape(threads.require(threadId));
    return shape === null || shape.nodes.some((name) => this.#nodes.has(name));
  }
}
