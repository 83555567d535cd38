import { activeNode } from '../../engine/node/nodeContext.ts';
import type { StepCall } from '../../engine/node/step.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { failuresOf, formatBaseline, joinNames } from '../checks/CheckSummary.ts';
import { judgeEvidence } from '../checks/evidence.ts';
import { type FileVersions, isTestFile } from '../checks/testSource.ts';
import { messageProblems } from '../commits/commitMessage.ts';
import { styleWords } from '../commits/commitStyle.ts';
import { commitStyleOf } from '../commits/taskCommit.ts';
import type {
  AgentCall,
  CheckResult,
  CriterionEvidence,
  Instructions,
  OfferedChecks,
  PipelinePorts,
  ReadPassage,
  ReviewRequest,
  ReviewResult,
  RunWorkspace,
  StageAgents,
  TaskRequest,
  TestLoss,
  WorkResult,
} from '../ports.ts';
import { excerptsOf, type HandedOver, siblingsOf, writtenTest } from '../task/handOver.ts';
import type { AgentEdit, CheckOfTree, Offer, RecordedTree } from '../task/RecordedTree.ts';
import { agentCall, scrubbedStep } from '../task/scrubbedStep.ts';
import { guidanceWithTalk, lastFailure, strategiesOf, taskBrief } from '../task/taskBrief.ts';
import { findLosses, oldFailures } from '../task/verdicts.ts';
import { checkKept, checkOf, taskLabel } from '../taskStates.ts';
import type { CheckedTree, GraphState, TaskRecord } from '../types.ts';
import { type DocumentFile, documentFiles, draftsOf } from './documents.ts';
import { commandWords } from './plan.ts';

/** Bytes of a diff of the whole work. */
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
  readonly #read: ReadPassage[] = [];
  readonly #findings: string[] = [];
  readonly #flaky = new Set<string>();
  #testFiles: readonly string[];
  #documented = '';
  #message = '';
  #red: CheckOfTree | null = null;
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

  /** Problems with the proof of the work, one line each. */
  get findings(): readonly string[] {
    return this.#findings;
  }

  /** Cases that the checks of this attempt have seen fail and pass on the same files. */
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

  /** The agent's commit message, or an empty text. */
  get message(): string {
    return this.#message;
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
    const handOver = async (): Promise<HandedOver> => {
      const test = await writtenTest(this.#tree, this.#testFiles, this.#red);
      const isTest = new Set(this.#testFiles);
      const read = this.#read.filter(({ path }) => !isTest.has(path));
      const excerpts = await excerptsOf(this.#tree, read);
      return { ...(test !== null && { test }), ...(excerpts.length > 0 && { excerpts }) };
    };
    const { wrongTest } = await this.#edit('implement', 'implement', handOver);
    return wrongTest;
  }

  async document(): Promise<void> {
    const handOver = async (): Promise<HandedOver> => {
      const style = await commitStyleOf(this.#subject.workspace);
      const asked = style && {
        style: styleWords(style),
        problems: (message: string) => messageProblems(style, message),
      };
      return { ...(await this.#work()), ...(asked !== null && { commit: asked }) };
    };
    const { summary, message } = await this.#edit('document', 'document', handOver);
    this.#documented = summary;
    this.#message = message;
  }

  /** The task's tests on what is integrated, without the code that attempts have left in the folder. */
  async checkRed(): Promise<CheckResult> {
    const { trees, id } = this.#tree;
    const integrated = await this.#tree.integrated();
    const treeOf =
      trees === null || integrated === null
        ? undefined
        : () => trees.overlay(integrated, id, this.#testFiles);
    this.#red = await this.#check('red', treeOf);
    return this.#red;
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
    this.#red = await this.#check('red as left', () => trees.overlay(integrated, id, all));
    return this.#red;
  }

  /** What is integrated, as it was found green; checked where that is not known. */
  async checkBefore(state: GraphState): Promise<CheckResult> {
    const integrated = (await this.#tree.integrated()) ?? this.#tree.id;
    return checkOf(state, integrated) ?? this.#check('before', async () => integrated);
  }

  /** The checks on the work; an old case that fails without the work, too, is reported as flaky. */
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
  checkNamed(): Promise<CheckResult | null> {
    return this.#runNamed('command');
  }

  /** Runs it on the integrated tree; a pass there is a finding. */
  async checkNamedBefore(): Promise<void> {
    const integrated = await this.#tree.integrated();
    if (integrated === null) return;
    const before = await this.#runNamed('command before', async () => integrated);
    if (before?.passed !== true) return;
    this.#findings.push(`\`${before.command}\` passes without this work, too: it shows nothing of it.`);
  }

  async #runNamed(name: string, treeOf?: () => Promise<string>): Promise<CheckResult | null> {
    const { kind, checkedBy = 'review' } = this.#subject.task;
    if (kind !== 'checked-by' || checkedBy === 'review') return null;
    const { checks } = this.#ports;
    const argv = commandWords(checkedBy);
    const { runCommand } = checks;
    if (argv === null || runCommand === undefined) throw cannotRun(checkedBy);
    return this.#tree.check(name, (request) => runCommand.call(checks, argv, request), { treeOf });
  }

  /**
   * Returns the evidence without problems, and notes a finding for the rest.
   *
   * @param mayBeOld - Earlier files may show it.
   */
  async judgeEvidence(
    evidence: readonly CriterionEvidence[],
    mayBeOld: boolean,
  ): Promise<readonly CriterionEvidence[]> {
    const { files = [] } = await this.#work();
    const { state, task, workspace } = this.#subject;
    const others = state.tasks.filter(({ taskId }) => taskId !== task.taskId);
    const testsOfOthers = new Map(
      others.flatMap(({ taskId, testFiles = [] }) =>
        testFiles.map((path) => [path, taskLabel(taskId)] as const),
      ),
    );
    const judge = async () =>
      judgeEvidence(evidence, {
        changed: files.map(({ path }) => path),
        files: await workspace.list(),
        testsOfOthers,
        mayBeOld: mayBeOld || this.#tree.trees === null,
      });
    const { sound, findings } = await scrubbedStep('evidence', judge, { kind: 'work' });
    this.#findings.push(...findings);
    return sound;
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
    await this.#tree.integrated();
    const ask = async (call: StepCall, checks: OfferedChecks | null): Promise<ReviewResult> => {
      const request: ReviewRequest = {
        ...this.#request,
        ...(await this.#work()),
        check: green,
        ...(losses.length > 0 && { losses }),
        ...(this.#findings.length > 0 && { findings: this.#findings }),
      };
      return this.#ports.agents.review(request, agentCall(call, checks));
    };
    return this.#tree.ask('review', ask, this.#offer);
  }

  /** The work of all attempts at the task; empty without trees. */
  async #work(): Promise<HandedOver> {
    const before = await this.#before();
    if (before === null) return {};
    return (await this.#tree.trees?.compare(before, this.#tree.id, DIFF_SHOWN)) ?? {};
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

  /** Lets an agent edit; the tests of the task are for `writeTest` alone to change. */
  async #edit(name: string, agent: EditingAgent, handOver?: () => Promise<HandedOver>): Promise<AgentEdit> {
    this.#actions.push(name);
    // A step of its own, which cannot begin within the agent's.
    if (handOver !== undefined) await this.#tree.integrated();
    const { agents } = this.#ports;
    const kept = agent === 'writeTest' ? [] : this.#testFiles;
    const documents = this.#documents.map(({ path }) => path);
    const propose: StageAgents[EditingAgent] = agents[agent].bind(agents);
    const edit = await this.#tree.change(
      name,
      async (call, checks): Promise<WorkResult> =>
        propose({ ...this.#request, ...(await handOver?.()) }, this.#inConversation(agentCall(call, checks))),
      { kept: [...kept, ...documents], offer: this.#offer },
    );
    this.#read.push(...edit.read);
    const tests = edit.putBack.filter((path) => !documents.includes(path));
    if (tests.length > 0) this.#notes.push(formatPutBack(agent, tests));
    const others = edit.putBack.filter((path) => documents.includes(path));
    if (others.length > 0) this.#notes.push(`${others.join(', ')} were put back: they are as approved.`);
    return edit;
  }

  /** Each attempt has its own conversation. */
  #inConversation(call: AgentCall): AgentCall {
    const { threadId, lgTaskId } = activeNode('a task').visit;
    return { ...call, conversation: `${threadId}/${lgTaskId}` };
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
  const siblings = siblingsOf(state, taskId);
  const { baseline } = state.projectConfig;
  return {
    task: taskBrief(task),
    documents: draftsOf(state),
    ...(siblings.length > 0 && { siblings }),
    ...(baseline !== undefined && { checks: formatBaseline(baseline) }),
    attempt: state.taskAttempts,
    lastFailure: lastFailure(state, taskId),
    ...(strategy !== undefined && { strategy }),
    guidance: guidanceWithTalk(state, taskId),
    ...(rejected !== null && { rejectedDiff: rejected }),
    workspace,
    instructions,
  };
}
