interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  count: number;
}

interface FunctionCounts {
  readonly functionName: string;
  readonly isBlockCoverage: boolean;
  /** The function, then the blocks in it that ran another number of times. */
  readonly ranges: Range[];
}

/** What V8 has counted in one script. */
export interface ScriptCounts {
  readonly scriptId: string;
  readonly url: string;
  /** Where the source begins in what ran, characters. */
  readonly startOffset: number;
  readonly functions: FunctionCounts[];
}

interface Script extends Omit<ScriptCounts, 'functions'> {
  /** By the function's own range, then by what was counted: it as a whole or its blocks, and which. */
  readonly functions: Map<string, Map<string, FunctionCounts>>;
}

/**
 * The sum of many counts. Most test files find the same blocks in a function: those are added up number by number, and only
 * where the blocks differ is there more than one entry of a function left to merge.
 */
export class SummedCounts {
  readonly #scripts = new Map<string, Script>();

  add(counts: readonly ScriptCounts[]): void {
    for (const { functions, ...script } of counts) {
      const known = this.#scripts.get(script.url) ?? { ...script, functions: new Map() };
      this.#scripts.set(script.url, known);
      for (const counted of functions) addTo(known.functions, counted);
    }
  }

  /** Counts of which each has a function once; together they are the sum. */
  layers(): readonly ScriptCounts[][] {
    const layers: ScriptCounts[][] = [];
    for (const { functions, ...script } of this.#scripts.values()) {
      const entries = [...functions.values()].map((shapes) => [...shapes.values()]);
      const depth = Math.max(1, ...entries.map(({ length }) => length));
      for (let layer = 0; layer < depth; layer += 1) {
        const there = entries.flatMap((shapes) => shapes.slice(layer, layer + 1));
        layers[layer] = [...(layers[layer] ?? []), { ...script, functions: there }];
      }
    }
    return layers;
  }
}

function addTo(functions: Script['functions'], counted: FunctionCounts): void {
  const [own] = counted.ranges;
  const name = `${own?.startOffset} ${own?.endOffset}`;
  const shapes = functions.get(name) ?? new Map<string, FunctionCounts>();
  functions.set(name, shapes);
  const blocks = counted.ranges.map(({ startOffset, endOffset }) => `${startOffset} ${endOffset}`);
  // Vitest forgets what was counted for a function as a whole where its blocks were counted, too.
  const shape = `${counted.isBlockCoverage} ${blocks.join()}`;
  const same = shapes.get(shape);
  if (same === undefined) return void shapes.set(shape, counted);
  for (const [index, { count }] of counted.ranges.entries()) (same.ranges[index] as Range).count += count;
}
