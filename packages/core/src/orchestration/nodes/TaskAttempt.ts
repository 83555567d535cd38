import type { StepCall } from '../../engine/node/step.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { failuresOf, joinNames } from '../checks/CheckSummary.ts';
import { type FileVersions, isTestFile } from '../checks/testSource.ts';
import type {
  CheckResult,
  Instructions,
  OfferedChecks,
  PipelinePorts,
  ReviewRequest,
  ReviewResult,
  RunWorkspace,
  StageAgents,
  TaskRequest,
  TestLoss,
  WorkResult,
} from '../ports.ts';
import type { AgentEdit, CheckOfTree, Offer, RecordedTree } from '../task/RecordedTree.ts';
import { agentCall, scrubbedStep } from '../task/scrubbedStep.ts';
import { guidanceWithTalk, lastFailure, strategiesOf, taskBrief } from '../task/taskBrief.ts';
import { findLosses, oldFailures } from '../task/verdicts.ts';
import { checkKept, checkOf } from '../taskStates.ts';
import type { CheckedTree, GraphState, TaskRecord } from '../types.ts';
import { type DocumentFile, documentFiles, draftsOf } from './documents.ts';
import { commandWords } from './plan.ts';

/** Bytes of a diff that a reviewer is shown. */
const DIFF_SHOWN = 64 * 1024;

/** How often an agent may run the checks within one call. */
const AGENT_CHECKS = 3;

type EditingAgent = 'writeTest' | 'implement' | 'document';

export interface TurnSubject {
  readonly task: TaskRecord;
  readonly state: GraphState;
  readonly workspace: RunWorkspace;
  readonly instructions: readonly Instructions[];
  /** Code of the task that a human sent back; `null` where none was. */
  readonly rejected: string | null;
}

/** The steps of one attempt at a task, each recorded under its name, and the notes on them. */
export class TaskAttempt {
  readonly #tree: RecordedTree;
  readonly #ports: PipelinePorts;
  readonly #subject: TurnSubject;
  readonly #request: TaskRequest;
  readonly #documents: readonly DocumentFile[];
  readonly #actions: string[] = [];
  readonly #notes: string[] = [];
  readonly #flaky = new Set<string>();
  #testFiles: readonly string[];
  #documented = '';
  #green: CheckedTree | null = null;

  constructor(tree: RecordedTree, ports: PipelinePorts, subject: TurnSubject) {
    this.#tree = tree;
    this.#ports = ports;
    this.#subject = subject;
    this.#request = taskRequest(subject);
    this.#testFiles = subject.task.testFiles ?? [];
    this.#documents = documentsInBranch(subject.state);
  }

  get tree(): string {
    return this.#tree.id;
  }

  /** Files of the task's tests, those of earlier attempts included. */
  get testFiles(): readonly string[] {
    return this.#testFiles;
  }

  /** What the log and the next attempt are told beside how the turn ended. */
  get notes(): readonly string[] {
    return this.#notes;
  }

  /** What the checks of this attempt have seen fail and pass on the same files. */
  get flaky(): readonly string[] {
    return [...this.#flaky];
  }

  /** The actions of agents, in order. */
  get action(): string {
    return this.#actions.join(', ');
  }

  get documented(): string {
    return this.#documented;
  }

  /** The green check, where it is known to be of the tree that the turn left. */
  get green(): CheckedTree | null {
    return this.#green;
  }

  /** The documents of the run, where they are files of its branch. They are nobody's work, and nobody's to change. */
  async putDocuments(): Promise<void> {
    if (this.#documents.length > 0) await this.#tree.put('documents', this.#documents);
  }

  async writeTest(): Promise<void> {
    const { changed, removed, putBack } = await this.#edit('test', 'writeTest');
    const files = new Set([...this.#testFiles, ...changed.filter((path) => !putBack.includes(path))]);
    for (const path of removed) files.delete(path);
    this.#testFiles = [...files].sort();
  }

  /** @returns why the agent finds the task's test wrong; `null` where it does not. */
  async implement(): Promise<string | null> {
    const { wrongTest } = await this.#edit('implement', 'implement', this.#testFiles);
    return wrongTest;
  }

  async document(): Promise<void> {
    const { summary } = await this.#edit('document', 'document', this.#testFiles);
    this.#documented = summary;
  }

  /** The task's tests on what is integrated, without the code that attempts have left in the folder. */
  async checkRed(): Promise<CheckResult> {
    const { trees, id } = this.#tree;
    const integrated = await this.#tree.integrated();
    if (trees === null || integrated === null) return this.#check('red');
    return this.#check('red', () => trees.overlay(integrated, id, this.#testFiles));
  }

  /**
   * As {@link checkRed}, with the tests that lie in the folder and that no attempt told of: it ended in an error, and the
   * next one found them good as they are. `null` where there are none.
   */
  async checkRedAsLeft(): Promise<CheckResult | null> {
    const { trees, id } = this.#tree;
    const integrated = await this.#tree.integrated();
    if (trees === null || integrated === null) return null;
    const { files } = await trees.compare(integrated, id, 0);
    const left = files.map(({ path }) => path).filter((path) => isTestFile(path));
    const all = [...new Set([...this.#testFiles, ...left])].sort();
    if (all.length === this.#testFiles.length) return null;
    this.#testFiles = all;
    return this.#check('red as left', () => trees.overlay(integrated, id, all));
  }

  /** What is integrated, as it was found green; checked where that is not known. */
  async checkBefore(state: GraphState): Promise<CheckResult> {
    const integrated = (await this.#tree.integrated()) ?? this.#tree.id;
    return checkOf(state, integrated) ?? this.#check('before', async () => integrated);
  }

  /** The checks on the work; an old case that fails without the work, too, is told as flaky. */
  async checkGreen(): Promise<CheckResult> {
    const { tree, ...found } = await this.#check('green');
    const check = await this.#withoutOldFailures(found);
    this.#green = tree === this.#tree.id ? checkKept(tree, check) : null;
    return check;
  }

  async #withoutOldFailures(check: CheckResult): Promise<CheckResult> {
    const old = oldFailures(this.#subject.state, check);
    const integrated = old === null ? null : await this.#tree.integrated();
    if (old === null || integrated === null) return check;
    const without = await this.#check('without', async () => integrated);
    const failing = new Set([...failuresOf(without), ...(without.flaky ?? [])]);
    const excused = old.filter((name) => failing.has(name));
    if (excused.length === 0) return check;
    for (const name of excused) this.#flaky.add(name);
    this.#notes.push(`These fail without the work, too: ${joinNames(excused)}.`);
    const told = { ...check, flaky: [...new Set([...(check.flaky ?? []), ...excused])] };
    return { ...told, passed: failuresOf(told).length === 0 };
  }

  /** Runs the command the task is checked by; `null` where it names none. */
  async checkNamed(): Promise<CheckResult | null> {
    const { kind, checkedBy = 'review' } = this.#subject.task;
    if (kind !== 'checked-by' || checkedBy === 'review') return null;
    const { checks } = this.#ports;
    const argv = commandWords(checkedBy);
    const { runCommand } = checks;
    if (argv === null || runCommand === undefined) throw cannotRun(checkedBy);
    return this.#tree.check('command', (request) => runCommand.call(checks, argv, request));
  }

  /** Whether there is nothing but what is integrated; unknown is no. */
  async isUnchanged(): Promise<boolean> {
    return (await this.#before()) === this.#tree.id;
  }

  isImplementedByHand(): Promise<boolean> {
    return this.#tree.beganAdopted();
  }

  goesOnFromHand(): Promise<boolean> {
    return this.#tree.goesOnFromAdopted();
  }

  /** The losses of the tests in this work. */
  async losses(green: CheckResult): Promise<readonly TestLoss[]> {
    const { trees, id: after } = this.#tree;
    const before = await this.#before();
    const integrated = await this.#tree.integrated();
    if (trees === null || before === null || integrated === null) return [];
    const find = async (): Promise<readonly TestLoss[]> => {
      const { files: changed } = await trees.compare(before, after, 0);
      const files: FileVersions[] = [];
      for (const { path } of changed) {
        files.push({
          path,
          before: await trees.readAt(before, path),
          after: await trees.readAt(after, path),
        });
      }
      const { state } = this.#subject;
      return findLosses(state, { files, before: checkOf(state, integrated), now: green });
    };
    return scrubbedStep('losses', find, { kind: 'work' });
  }

  async review(green: CheckResult, losses: readonly TestLoss[]): Promise<ReviewResult> {
    this.#actions.push('review');
    const before = await this.#before();
    const ask = async (call: StepCall, checks: OfferedChecks | null): Promise<ReviewResult> => {
      const work = before && (await this.#tree.trees?.compare(before, this.#tree.id, DIFF_SHOWN));
      const request: ReviewRequest = {
        ...this.#request,
        ...(work || {}),
        check: green,
        ...(losses.length > 0 && { losses }),
      };
      return this.#ports.agents.review(request, agentCall(call, checks));
    };
    return this.#tree.ask('review', ask, this.#offer);
  }

  /** What is integrated, with the documents as they are: the rest is this task's work. `null` where it is not known. */
  async #before(): Promise<string | null> {
    const { trees, id } = this.#tree;
    const integrated = await this.#tree.integrated();
    if (trees === null || integrated === null || this.#documents.length === 0) return integrated;
    return trees.overlay(
      integrated,
      id,
      this.#documents.map(({ path }) => path),
    );
  }

  /** Lets an agent edit. @param kept - What it may not change. */
  async #edit(name: string, agent: EditingAgent, kept: readonly string[] = []): Promise<AgentEdit> {
    this.#actions.push(name);
    const { agents } = this.#ports;
    const documents = this.#documents.map(({ path }) => path);
    const propose: StageAgents[EditingAgent] = agents[agent].bind(agents);
    const edit = await this.#tree.change(
      name,
      (call, checks): Promise<WorkResult> => propose(this.#request, agentCall(call, checks)),
      { kept: [...kept, ...documents], offer: this.#offer },
    );
    const tests = edit.putBack.filter((path) => !documents.includes(path));
    if (tests.length > 0) this.#notes.push(formatPutBack(agent, tests));
    const others = edit.putBack.filter((path) => documents.includes(path));
    if (others.length > 0) this.#notes.push(`${others.join(', ')} were put back: they are as approved.`);
    return edit;
  }

  get #offer(): Offer {
    const { checks, agentChecks = AGENT_CHECKS } = this.#ports;
    return { run: (request) => checks.run(request), limit: agentChecks };
  }

  async #check(name: string, treeOf?: () => Promise<string>): Promise<CheckOfTree> {
    const { checks } = this.#ports;
    const result = await this.#tree.check(name, (request) => checks.run(request), { treeOf });
    const { flaky = [] } = result;
    for (const each of flaky) this.#flaky.add(each);
    if (flaky.length > 0)
      this.#notes.push(`Failed and passed on the same files (${name}): ${flaky.join(', ')}.`);
    return result;
  }
}

/** As they were approved, where the run was declared to have them in its branch. */
function documentsInBranch(state: GraphState): readonly DocumentFile[] {
  const { documentsDir } = state.projectConfig;
  if (documentsDir === undefined) return [];
  return documentFiles(state).map(({ path, content }) => ({ path: `${documentsDir}/${path}`, content }));
}

const formatPutBack = (agent: EditingAgent, paths: readonly string[]): string =>
  `Your changes of ${paths.join(', ')} in ${agent} were put back: the tests of the task are writeTest's. ` +
  'If one is wrong, say so with wrongTest and a reason.';

const cannotRun = (command: string): DevsError =>
  new DevsError(`The checks of this run cannot execute the command ${JSON.stringify(command)} of a task.`, {
    code: 'CONFIG_INVALID',
    remedy: 'Configure checks that can run commands, then resume the run.',
  });

function taskRequest({ task, state, workspace, instructions, rejected }: TurnSubject): TaskRequest {
  const { taskId } = task;
  const strategy = strategiesOf(state, taskId).at(-1)?.strategy;
  return {
    task: taskBrief(task),
    documents: draftsOf(state),
    attempt: state.taskAttempts,
    lastFailure: lastFailure(state, taskId),
    ...(strategy !== undefined && { strategy }),
    guidance: guidanceWithTalk(state, taskId),
    ...(rejected !== null && { rejectedDiff: rejected }),
    workspace,
    instructions,
  };
}
