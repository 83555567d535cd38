import { activeNode } from '../../engine/node/nodeContext.ts';
import type { StepCall } from '../../engine/node/step.ts';
import { DevsError, isDevsError } from '../../errors/DevsError.ts';
import type {
  CheckRequest,
  CheckResult,
  FileEdit,
  OfferedChecks,
  ReadPassage,
  Rescue,
  RunWorkspace,
  WorkResult,
} from '../ports.ts';
import { scrubbedStep } from './scrubbedStep.ts';

/** The result of a step that edits, as the state file keeps it: the tree's id, without the files. */
interface EditedTree {
  readonly tree: string;
  readonly summary: string;
  /** Absent in a step of an older release, and without {@link Trees}. */
  readonly changed?: readonly string[];
  readonly removed?: readonly string[];
  readonly putBack?: readonly string[];
  readonly wrongTest?: string;
  readonly read?: readonly ReadPassage[];
  readonly message?: string;
}

/** The result of an agent's edit. */
export interface AgentEdit {
  readonly summary: string;
  /** Paths that differ from the tree before. */
  readonly changed: readonly string[];
  /** Those of them that are gone. */
  readonly removed: readonly string[];
  /** Paths it may not change and did: they are as they were. */
  readonly putBack: readonly string[];
  /** Why it finds the task's test wrong. */
  readonly wrongTest: string | null;
  readonly read: readonly ReadPassage[];
  /** The agent's commit message, or an empty text. */
  readonly message: string;
}

/** The result of a check, and its tree. */
export interface CheckOfTree extends CheckResult {
  /** Absent in a step of an older release: it may have been another one than it would be today. */
  readonly tree?: string;
}

export type RunCheck = (request: CheckRequest) => Promise<CheckResult>;

/** Passages that are recorded of one stage. */
const MAX_READ = 40;

/** Characters of an agent's commit message. */
const MAX_MESSAGE = 8_000;

/** Costs time on this machine, and no money. */
const WORK = { kind: 'work' } as const;

export interface CheckOptions {
  /** Makes the tree, before it is judged. @defaultValue the recorded one */
  readonly treeOf?: (() => Promise<string>) | undefined;
  /** A program that is not there is a result and no error. @defaultValue false */
  readonly mayMiss?: boolean;
}

/** Checks that an agent may run within its step. */
export interface Offer {
  readonly run: RunCheck;
  /** How often; with 0 they are not offered. */
  readonly limit: number;
}

export interface ChangeOptions {
  /** Paths the agent may not change; with {@link Trees}, they are put back. */
  readonly kept?: readonly string[];
  readonly offer?: Offer;
}

/**
 * The workspace as a chain of recorded git trees. Every step first puts the folder back to the tree the last one
 * recorded, so a process that dies in the middle of an edit leaves nothing behind for the next.
 */
export class RecordedTree {
  /** `null` in a workspace that does not tell of its trees. */
  readonly trees: Trees | null;
  readonly #workspace: RunWorkspace;
  readonly #base: string;
  #tree: string;
  #integrated: Promise<string | null> | null = null;
  /** By the step's name, which is used once in an execution. */
  readonly #agentChecks = new Map<string, Promise<CheckResult>>();

  private constructor(workspace: RunWorkspace, tree: string) {
    this.trees = treesOf(workspace);
    this.#workspace = workspace;
    this.#base = tree;
    this.#tree = tree;
  }

  /**
   * The folder as this visit of the node found it: a person may have worked in it.
   *
   * @param name - Of the step that records it.
   */
  static async at(workspace: RunWorkspace, name = 'base'): Promise<RecordedTree> {
    return new RecordedTree(workspace, await scrubbedStep(name, () => workspace.snapshot(), WORK));
  }

  /** The tree of the last step, without later changes in the folder. */
  static async left(workspace: RunWorkspace): Promise<RecordedTree> {
    const left = async (): Promise<string> => (await workspace.left?.()) ?? workspace.snapshot();
    return new RecordedTree(workspace, await scrubbedStep('base', left, WORK));
  }

  get id(): string {
    return this.#tree;
  }

  /** The tree of the last commit, the same one all through a visit; `null` without {@link trees}. */
  integrated(): Promise<string | null> {
    const { trees } = this;
    if (trees === null) return Promise.resolve(null);
    this.#integrated ??= scrubbedStep('integrated', () => trees.integrated(), WORK);
    return this.#integrated;
  }

  /**
   * Applies what an agent proposes, or has done in the folder.
   */
  async change(
    name: string,
    propose: (call: StepCall, checks: OfferedChecks | null) => Promise<WorkResult>,
    { kept = [], offer }: ChangeOptions = {},
  ): Promise<AgentEdit> {
    const before = this.#tree;
    const edited = await scrubbedStep(name, async (call): Promise<EditedTree> => {
      await this.#restore();
      const offered = this.#offered(name, offer, kept);
      const { files, summary, wrongTest, read, message } = await repeatingCutStage(
        () => propose(call, offered),
        () => this.#restore(),
      );
      await offered?.end();
      call.signal.throwIfAborted(); // an agent may not care; then the folder is another drive's by now
      await this.#workspace.apply(files);
      const made = await this.#settle(before, await this.#workspace.snapshot(), kept);
      return {
        summary,
        ...made,
        ...(wrongTest !== undefined && { wrongTest }),
        ...(read !== undefined && read.length > 0 && { read: read.slice(0, MAX_READ) }),
        ...(message !== undefined && { message: message.slice(0, MAX_MESSAGE) }),
      };
    });
    const { tree, summary, removed = [], putBack = [], wrongTest = '', read = [], message = '' } = edited;
    this.#tree = tree;
    const changed = edited.changed ?? (await this.#differing(before, tree));
    return { summary, changed, removed, putBack, wrongTest: wrongTest.trim() || null, read, message };
  }

  /** Puts files of the engine's own into the tree. */
  async put(name: string, files: readonly FileEdit[]): Promise<void> {
    this.#tree = await scrubbedStep(
      name,
      async () => {
        await this.#restore();
        await this.#workspace.apply(files);
        return this.#workspace.snapshot();
      },
      WORK,
    );
  }

  /**
   * Asks an agent that looks and leaves no edits: what it changed in the folder is put back.
   *
   * @param ask - Begins with the folder as the recorded tree has it.
   */
  ask<T>(
    name: string,
    ask: (call: StepCall, checks: OfferedChecks | null) => Promise<T>,
    offer?: Offer,
  ): Promise<T> {
    return scrubbedStep(name, async (call) => {
      await this.#restore();
      const offered = this.#offered(name, offer, []);
      try {
        return await repeatingCutStage(
          () => ask(call, offered),
          () => this.#restore(),
        );
      } finally {
        await offered?.end();
        // After a stop the folder may be another drive's, which begins with its own restore.
        if (!call.signal.aborted) await this.#restore();
      }
    });
  }

  /** Whether this execution of the node began with a person's tree, untouched by agents. */
  async beganAdopted(): Promise<boolean> {
    return this.#isAdopted('adopted', this.#base);
  }

  /** Whether the last integrated tree is a person's, even if agents have changed the folder since. */
  async goesOnFromAdopted(): Promise<boolean> {
    const tree = await this.integrated();
    return tree === null ? false : this.#isAdopted('byHand', tree);
  }

  #isAdopted(name: string, tree: string): Promise<boolean> {
    const ask = async (): Promise<boolean> => (await this.#workspace.isAdopted?.(tree)) ?? false;
    return scrubbedStep(name, ask, WORK);
  }

  /**
   * Judges a tree as a fresh checkout of it would be.
   *
   * @throws DevsError `CONFIG_INVALID` where a program is not there: nothing was checked, and nothing is recorded.
   */
  check(name: string, run: RunCheck, { treeOf, mayMiss = false }: CheckOptions = {}): Promise<CheckOfTree> {
    const judge = async (call: StepCall): Promise<CheckOfTree> => {
      const tree = (await treeOf?.()) ?? this.#tree;
      const result = await this.#lent(tree, call.signal, () =>
        this.#judge(tree, run, { call, isRedDue: name === 'red' }),
      );
      if (result.missing !== undefined && !mayMiss) throw programMissing(result.missing, result.command);
      return { ...result, tree };
    };
    return scrubbedStep(name, judge, WORK);
  }

  /** Lends the folder to a tree: the visit may end with it, and the next one begins with the folder as it finds it. */
  async #lent<T>(tree: string, signal: AbortSignal, look: () => Promise<T>): Promise<T> {
    await this.#restore(tree);
    try {
      return await look();
    } finally {
      // After a stop the folder may be another drive's, which begins with its own restore.
      if (tree !== this.#tree && !signal.aborted) await this.#restore();
    }
  }

  /** What checks say of the tree that lies in the folder; what they leave there is removed. */
  async #judge(
    tree: string,
    run: RunCheck,
    {
      call: { signal, onActivity },
      isRedDue,
    }: { readonly call: Pick<StepCall, 'signal' | 'onActivity'>; readonly isRedDue: boolean },
  ): Promise<CheckResult> {
    const { dir } = this.#workspace;
    const failure = (await this.#workspace.ready?.(tree, signal)) ?? null;
    const result = failure ?? (await run({ dir, signal, onActivity, ...(isRedDue && { expect: 'fail' }) }));
    await this.#workspace.discard?.(tree);
    return result;
  }

  #offered(name: string, offer: Offer | undefined, kept: readonly string[]): AgentChecks | null {
    if (offer === undefined || offer.limit === 0) return null;
    const before = this.#tree;
    const judge = async (edits: readonly FileEdit[]): Promise<CheckResult> => {
      const here = await this.#workspace.snapshot();
      try {
        await this.#workspace.apply(edits);
        const { tree } = await this.#settle(before, await this.#workspace.snapshot(), kept);
        const isRedDue = name === 'test';
        const key = `${name}: checks ${tree}`;
        const said =
          this.#agentChecks.get(key) ??
          scrubbedStep(key, (call) => this.#judge(tree, offer.run, { call, isRedDue }), WORK);
        this.#agentChecks.set(key, said);
        return await said;
      } finally {
        // After a stop the folder may be another drive's, which begins with its own restore.
        if (!activeNode('a task').visit.signal.aborted) await this.#restore(here);
      }
    };
    return new AgentChecks(offer.limit, judge);
  }

  /** The tree to record for what an agent left, with what it may not change put back in the folder too. */
  async #settle(before: string, made: string, kept: readonly string[]): Promise<Omit<EditedTree, 'summary'>> {
    if (this.trees === null) return { tree: made };
    const changed = await this.#differing(before, made);
    const putBack = changed.filter((path) => kept.includes(path));
    if (putBack.length === 0) return { tree: made, changed, removed: await this.#gone(changed) };
    const tree = await this.trees.overlay(made, before, putBack);
    await this.#restore(tree);
    return { tree, changed, removed: await this.#gone(changed), putBack };
  }

  async #gone(paths: readonly string[]): Promise<readonly string[]> {
    if (paths.length === 0) return [];
    const here = new Set(await this.#workspace.list());
    return paths.filter((path) => !here.has(path));
  }

  async #differing(before: string, after: string): Promise<readonly string[]> {
    const { files = [] } = (await this.trees?.compare(before, after, 0)) ?? {};
    return files.map(({ path }) => path);
  }

  async #restore(tree: string = this.#tree): Promise<void> {
    const rescue = await this.#workspace.restore(tree);
    if (rescue !== null) tellRescue(rescue);
  }
}

/**
 * Asks once more where an agent's answer is empty or was cut off. The files that the task has so far stay, and its next attempt is
 * not spent.
 *
 * @param anew - Puts the folder back to the files that the stage began with.
 */
async function repeatingCutStage<T>(stage: () => Promise<T>, anew: () => Promise<void>): Promise<T> {
  try {
    return await stage();
  } catch (error) {
    if (!isDevsError(error, 'AGENT_INVALID_OUTPUT') || error.context['answer'] !== 'cut') throw error;
    await anew();
    return stage();
  }
}

function tellRescue({ ref, commit, files }: Rescue): void {
  const { store, events, visit, taskId } = activeNode('a task');
  const scope = { threadId: visit.threadId, taskId };
  const payload = { ref, commit, files };
  if (store === null) events.emit('WORKSPACE_RESCUED', payload, scope);
  else store.commit((emit) => emit('WORKSPACE_RESCUED', payload, scope));
}

/** Trees of a run, whatever lies in its folder. */
type Trees = Required<Pick<RunWorkspace, 'integrated' | 'overlay' | 'compare' | 'readAt'>>;

/** The methods of a workspace that read its trees; `null` if it has none. */
function treesOf(workspace: RunWorkspace): Trees | null {
  const { integrated, overlay, compare, readAt } = workspace;
  if (!integrated || !overlay || !compare || !readAt) return null;
  return {
    integrated: integrated.bind(workspace),
    overlay: overlay.bind(workspace),
    compare: compare.bind(workspace),
    readAt: readAt.bind(workspace),
  };
}

/** Ends a drive where nothing could be checked: no attempt of an agent can mend that. */
function programMissing(program: string, command: string): DevsError {
  return new DevsError(`The check "${command}" cannot run: ${program} is not installed.`, {
    code: 'CONFIG_INVALID',
    remedy: `Install ${program}, or add it to the setup of the project, then resume the run.`,
  });
}

type Judge = (edits: readonly FileEdit[]) => Promise<CheckResult>;

/** Checks that one call of an agent may run: one after the other, so often, and only while it lasts. */
class AgentChecks implements OfferedChecks {
  readonly limit: number;
  readonly #judge: Judge;
  #last: Promise<unknown> = Promise.resolve();
  #runs = 0;
  #isOver = false;

  constructor(limit: number, judge: Judge) {
    this.limit = limit;
    this.#judge = judge;
  }

  async run(edits: readonly FileEdit[]): Promise<CheckResult> {
    if (this.#isOver) throw new RangeError('Expected checks to be run within the call, which has ended.');
    this.#runs += 1;
    if (this.#runs > this.limit) {
      throw new RangeError(`Expected at most ${this.limit} runs of the checks within one call.`);
    }
    const before = this.#last;
    const said = before.then(() => this.#judge(edits));
    this.#last = said.catch(() => undefined);
    return said;
  }

  /** Resolves when none is running; none is begun any more. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#last;
  }
}
