import { createContext, Script } from 'node:vm';
import { ToolRefusal } from './ToolRefusal.ts';

/** Characters of a line that are looked at. */
const MAX_LINE = 10_000;

const SCRIPT = new Script(`{
  const expression = new RegExp(source, flags);
  found = [];
  for (let index = 0; index < lines.length && found.length < most; index += 1) {
    if (expression.test(lines[index])) found.push(index);
  }
}`);

/** How long expressions may take, over all that one search looks at. */
export class MatchTime {
  #leftMs: number;

  constructor(ms: number) {
    this.#leftMs = ms;
  }

  /**
   * Indexes of the lines an expression of a model's matches. It may be one that never ends: it is stopped.
   *
   * @param most - Matches after which it stops.
   * @throws ToolRefusal for one that is none, or that takes too long.
   */
  match(expression: Expression, lines: readonly string[], most: number): readonly number[] {
    const begun = performance.now();
    const scope = createContext({
      ...expression,
      most,
      lines: lines.map((line) => line.slice(0, MAX_LINE)),
      found: [] as number[],
    }) as { found: number[] };
    try {
      // 1 ms is the least that can be asked for.
      SCRIPT.runInContext(scope, { timeout: Math.max(1, Math.ceil(this.#leftMs)) });
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
        throw new ToolRefusal('The expression takes too long; use a simpler one, or plain text.');
      }
      throw new ToolRefusal(message);
    } finally {
      this.#leftMs -= performance.now() - begun;
    }
    return [...scope.found];
  }
}

export interface Expression {
  readonly source: string;
  readonly flags: string;
}
