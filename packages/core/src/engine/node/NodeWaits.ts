import { GraphInterrupt, type Interrupt, isGraphInterrupt } from '@langchain/langgraph';
import type { Wait } from '../../state/threads/WaitStore.ts';
import { waitInterrupt } from '../waits/waits.ts';

/** The waits of one execution of a node. */
export class NodeWaits {
  readonly #begun = new Map<string, number>();
  readonly #left = new Map<string, Interrupt>();

  /** Counts the waits of one name in one place, from 1. */
  count(claim: string): number {
    const count = (this.#begun.get(claim) ?? 0) + 1;
    this.#begun.set(claim, count);
    return count;
  }

  /** A wait that has not ended: its node is left, whatever its author makes of what is thrown. */
  leaveAt(wait: Wait): GraphInterrupt {
    const interrupt = waitInterrupt(wait);
    this.#left.set(interrupt.id, interrupt);
    return new GraphInterrupt([interrupt]);
  }

  /** What the node is left with: its waits, with the questions that it is left with beside them; `null` without waits. */
  leaving(thrown: unknown): GraphInterrupt | null {
    if (this.#left.size === 0) return null;
    const others = isGraphInterrupt(thrown) ? thrown.interrupts : [];
    const beside = others.filter(({ id }) => id === undefined || !this.#left.has(id));
    return new GraphInterrupt([...beside, ...this.#left.values()]);
  }
}
