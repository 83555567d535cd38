import type { RunnableConfig } from '@langchain/core/runnables';
import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons';
import { type Interrupt, isGraphInterrupt } from '@langchain/langgraph';
import { ambientConfig } from '../execution/ambientConfig.ts';
import { type AnswersById, exactAnswers, interruptId, shownBy, subjectsOf } from '../gates/question.ts';

// LangGraph's `interrupt()` returns an answer without a look at its argument. So a fresh answer is held back at first: the node
// asks again, and gets the answer if the question is the same. `interrupt()` of this package compares in place. After
// LangGraph's, the node runs once more.

// LangGraph's own: the answers of this drive by interrupt id, and those of one task in the order it takes them.
const RESUME_MAP = '__pregel_resume_map';
const SCRATCHPAD = '__pregel_scratchpad';

interface AnswerScratchpad extends Counters {
  readonly resume: unknown[];
}

interface Counters {
  readonly interruptCounter: number;
  readonly subgraphCounter: number;
  readonly callCounter: number;
}

type Configurable = Readonly<Record<string, unknown>>;

/** The holders of answers, by the answers that the code inside is given instead. */
const heldBehind = new WeakMap<object, WithheldAnswers>();

/** Answers to `interrupt()` that this execution of a node is the first to be given, its subgraphs included. */
export class WithheldAnswers {
  readonly #configurable: Configurable;
  readonly #scratchpad: AnswerScratchpad;
  /** The questions of the node's entry are counted, too. */
  readonly #asEntered: Counters;
  readonly #given: AnswersById;
  /** Hash of what an answer was given for, by its interrupt id. */
  readonly #held: Map<string, string>;

  /** `null` where there is none. A retry in the same drive goes on with what its first attempt was given. */
  static of({ configurable = {} }: RunnableConfig, attempt: number): WithheldAnswers | null {
    const given = configurable[RESUME_MAP] as AnswersById | undefined;
    const scratchpad = configurable[SCRATCHPAD] as AnswerScratchpad | undefined;
    if (attempt > 1 || given === undefined || scratchpad === undefined) return null;
    const asked = subjectsOf(given);
    return asked.size === 0 ? null : new WithheldAnswers(configurable, scratchpad, given, new Map(asked));
  }

  /**
   * Puts the held answer to the next `interrupt(value)` around this call where LangGraph looks for it. It must have been given for
   * this value.
   */
  static handOver(value: unknown): void {
    const { configurable = {} } = ambientConfig() ?? {};
    const scratchpad = configurable[SCRATCHPAD] as AnswerScratchpad | undefined;
    let holder = heldBehind.get(Object(configurable[RESUME_MAP]));
    if (holder === undefined || scratchpad === undefined) return;
    const { interruptCounter, resume } = scratchpad;
    if (interruptCounter + 1 !== resume.length) return; // has an answer already
    const id = interruptId(String(configurable['checkpoint_ns']), resume.length);
    while (holder !== undefined && !holder.#held.has(id)) holder = heldBehind.get(holder.#given);
    if (holder === undefined) return;
    if (holder.#release([{ id, value }])) resume.push(holder.#given[id]);
  }

  private constructor(
    configurable: Configurable,
    scratchpad: AnswerScratchpad,
    given: AnswersById,
    held: Map<string, string>,
  ) {
    this.#configurable = configurable;
    this.#scratchpad = scratchpad;
    this.#asEntered = countersOf(scratchpad);
    this.#given = given;
    this.#held = held;
  }

  /**
   * Does a node's work, again and again while it asks what a held answer was given for.
   *
   * @param work - Is given what replaces members of the node's `configurable`.
   * @throws GraphInterrupt of a question that has no answer, or shows something else than its answer was given for.
   */
  async confirmed<T>(work: (changed: Configurable) => Promise<T>): Promise<T> {
    for (;;) {
      const scratchpad = this.#scratchpadNow();
      const changed = { [SCRATCHPAD]: scratchpad, [RESUME_MAP]: this.#mapNow() };
      try {
        return await withConfig(changed, () => work(changed));
      } catch (error) {
        if (!isGraphInterrupt(error) || !this.#release(error.interrupts)) throw error;
      } finally {
        // An edge after the node counts on from here.
        Object.assign(this.#scratchpad, countersOf(scratchpad));
      }
    }
  }

  /** A copy for each execution: what an earlier one left running must not count in it. */
  #scratchpadNow(): AnswerScratchpad {
    const { resume } = this.#scratchpad;
    const id = interruptId(String(this.#configurable['checkpoint_ns']), resume.length - 1);
    const isHeld = resume.length > 0 && this.#held.has(id);
    const seen = isHeld ? resume.slice(0, -1) : [...resume];
    return { ...this.#scratchpad, ...this.#asEntered, resume: seen };
  }

  #mapNow(): AnswersById {
    const isKnown = ([id]: readonly [string, unknown]): boolean => !this.#held.has(id);
    const known = Object.fromEntries(Object.entries(this.#given).filter(isKnown));
    const answers = exactAnswers(known, new Map([...subjectsOf(this.#given)].filter(isKnown)));
    heldBehind.set(answers, this);
    return answers;
  }

  /** Lets the answers go that these questions are still about; false if there is another reason to stop. */
  #release(asked: readonly Interrupt[]): boolean {
    const met = asked.filter(({ id }) => id !== undefined && this.#held.has(id));
    const isSame = ({ id = '', value }: Interrupt): boolean =>
      this.#held.get(id) === shownBy(value).artifactHash;
    if (met.length === 0 || !met.every(isSame)) return false;
    for (const { id = '' } of met) this.#held.delete(id);
    return true;
  }
}

function countersOf({ interruptCounter, subgraphCounter, callCounter }: Counters): Counters {
  return { interruptCounter, subgraphCounter, callCounter };
}

/** With LangChain's ambient config changed as the one that is passed on: `interrupt()` reads it there. */
function withConfig<T>(changed: Configurable, work: () => T): T {
  const ambient = ambientConfig() ?? {};
  const config = { ...ambient, configurable: { ...ambient.configurable, ...changed } };
  return AsyncLocalStorageProviderSingleton.runWithConfig(config, work);
}
