import type { Engine } from './drive/Engine.ts';

/** An app's engine, with the graph in the type of whoever compiled it. */
export interface DurableParts<Graph> extends Omit<Engine, 'graph'> {
  readonly graph: Graph;
  readonly close: () => void;
}
