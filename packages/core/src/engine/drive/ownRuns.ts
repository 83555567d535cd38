import type { DueRun, DueScope } from '../../state/threads/WaitStore.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { graphFingerprint, recordedShape } from '../graph/graphShape.ts';
import type { Engine } from './Engine.ts';

/**
 * The runs that an app looks at where several graphs share a file: those that were recorded under its name. A run without a
 * name, of an earlier release or of an app that has none, is told by its shape: it is another graph's where an app of another
 * name has recorded runs of that shape, or where the two graphs have no node in common.
 */
export class OwnRuns {
  readonly #store: EngineStore;
  readonly #name: string | undefined;
  readonly #fingerprint: string;
  readonly #nodes: ReadonlySet<string>;
  /** Shapes of runs without a name, by their fingerprints: whether they are looked at. */
  readonly #known = new Map<string, boolean>();

  constructor({ store, shape, recordedAs }: Pick<Engine, 'store' | 'shape' | 'recordedAs'>) {
    this.#store = store;
    this.#name = recordedAs;
    this.#fingerprint = graphFingerprint(shape);
    this.#nodes = new Set(shape.nodes);
  }

  /** Those of what `select` finds. It is asked again for each shape that turns out to be another graph's. */
  among(select: (scope: DueScope) => readonly DueRun[], limit: number): readonly string[] {
    for (;;) {
      const found = select({ graphName: this.#name ?? null, others: this.#others(), limit });
      // Each is judged: those after the first may be of further shapes.
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
    const names = directory.namesOf(fingerprint);
    if (names.length > 0) return names.some((name) => name === this.#name);
    const shape = recordedShape(threads.require(threadId));
    return shape === null || shape.nodes.some((name) => this.#nodes.has(name));
  }
}
