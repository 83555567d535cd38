import { principalText } from '../../engine/gates/principals.ts';
import { activeNode, currentNodeStore } from '../../engine/node/nodeContext.ts';
import { isDevsError } from '../../errors/DevsError.ts';
import { type Baseline, namesKept, proposeLimits, summariseCheck } from '../checks/CheckSummary.ts';
import type { CheckResult, PipelinePorts, RunWorkspace, Synced } from '../ports.ts';
import { openWorkspace } from '../task/openWorkspace.ts';
import { RecordedTree } from '../task/RecordedTree.ts';
import { StageView } from '../task/StageView.ts';
import { agentCall, scrubbedStep } from '../task/scrubbedStep.ts';
import { advance } from '../taskStates.ts';
import type { GraphState } from '../types.ts';
import { briefOf, withDocuments } from './documents.ts';
import { isResearched } from './proposals.ts';

/** `research` without agents: only advances the project. */
export function researchNode(state: GraphState): Partial<GraphState> {
  return advance(state, 'researching');
}

/**
 * `research`: has the checks run on the untouched tree, then reads the brief and writes reports; none where what they are
 * for was given. Red checks suspend the run before anything is paid.
 */
export function makeResearchNode(ports: PipelinePorts) {
  return async (given: GraphState): Promise<Partial<GraphState>> => {
    const taken = given.projectConfig.baseline === undefined ? await recordBaseline(given, ports) : null;
    const { baseline = given.projectConfig.baseline, red = null } = taken ?? {};
    const { failedBefore: _, ...config } = given.projectConfig;
    const projectConfig = { ...config, ...(baseline && { baseline }) };
    const state: GraphState = { ...given, projectConfig };
    if (red !== null) return { projectConfig, pendingSuspension: redBaseline(state, red) };
    return research(state, ports);
  };
}

async function research(state: GraphState, ports: PipelinePorts): Promise<Partial<GraphState>> {
  const { agents, now } = ports;
  if (isResearched(state)) return researchNode(state);
  const view = await StageView.open(state, ports);
  const request = { brief: briefOf(state), attempt: 1, ...view.seen };
  const { documents } = await view.ask('research', (call) => agents.research(request, agentCall(call)));
  const at = new Date(now()).toISOString();
  return { ...researchNode(state), documents: withDocuments(state, documents, at, 'research') };
}

/** Asked at the entry of the next visit; one question per visit that found it red. */
function redBaseline(
  { projectConfig: { projectId } }: GraphState,
  checkOutput: string,
): GraphState['pendingSuspension'] {
  const { lgTaskId } = activeNode('research').visit;
  return {
    sessionId: `baseline/${lgTaskId}`,
    kind: 'baseline',
    taskId: projectId,
    node: 'research',
    checkOutput,
  };
}

/** Of a red check, in characters: its end says what failed. */
const OUTPUT_SHOWN = 4_000;

/** What runners say where a project has no tests yet: the first task brings them. */
const NO_TESTS_YET =
  /ENOENT[^\n]*package\.json|Could not read package\.json|Missing script:? "?test\b|no test specified|ERR_PNPM_NO_(?:SCRIPT|IMPORTER_MANIFEST|PKG_MANIFEST)|No test files? found|No tests? (?:files? )?(?:were )?(?:found|ran|collected)|no tests ran|Couldn't find any files to test|Could not find '?[^\n]*test|collected 0 items/i;

interface RecordedBaseline {
  readonly baseline: Baseline;
  /** End of the checks' output; `null` if they are green. */
  readonly red: string | null;
}

/**
 * Runs all checks on the untouched tree, before anything is paid.
 *
 * @returns `null` where there is nothing to judge: the run begins in an empty folder.
 */
async function recordBaseline(
  state: GraphState,
  ports: Pick<PipelinePorts, 'workspace' | 'travels' | 'checks'>,
): Promise<RecordedBaseline | null> {
  const workspace = await openWorkspace(state, ports);
  await beginAnew(workspace);
  if ((await workspace.list()).length === 0) return null;
  const tree = await RecordedTree.at(workspace);
  const result = await tree.check('baseline', (request) => ports.checks.run(request), { mayMiss: true });
  const isNothing = hasNoTestsYet(result);
  const summary = summariseCheck(result);
  const appeared = appearedIn(summary, state);
  const names = namesKept(result);
  const slow = proposeLimits(result);
  const baseline: Baseline = {
    ...summary,
    tree: tree.id,
    accepted: [],
    ...(appeared.length > 0 && { appeared }),
    ...(isNothing && { nothing: true }),
    ...(names && { names }),
    ...(slow !== undefined && { slow }),
  };
  const isRed = baseline.failing.length > 0 || baseline.missing !== undefined;
  return { baseline, red: isRed && !isNothing ? result.output.slice(-OUTPUT_SHOWN) : null };
}

/** New failures since a person was asked before. */
function appearedIn(
  { failing }: Pick<Baseline, 'failing'>,
  { projectConfig: { failedBefore } }: GraphState,
): readonly string[] {
  return failedBefore === undefined ? [] : failing.filter((name) => !failedBefore.includes(name));
}

/**
 * Whoever mended red checks may have done so in their own repository: before any work the run simply begins at what is
 * committed there now. A folder that somebody mended by hand stays as it is.
 */
async function beginAnew(workspace: RunWorkspace): Promise<void> {
  const visit = currentNodeStore();
  const answered = visit?.store.sessions.listDecided(visit.threadId, 'baseline').at(-1);
  if (answered === undefined || workspace.sync === undefined) return;
  const sync = workspace.sync.bind(workspace);
  const by = answered.principal === null ? 'human' : principalText(answered.principal);
  await scrubbedStep(
    'sync',
    async () => {
      const synced = await syncUnlessChanged(sync);
      if (synced !== null) tellSync(synced, by);
    },
    { kind: 'work' },
  );
}

async function syncUnlessChanged(sync: NonNullable<RunWorkspace['sync']>): Promise<Synced | null> {
  try {
    return await sync([]);
  } catch (error) {
    if (isDevsError(error, 'WORKSPACE_DIRTY')) return null;
    throw error;
  }
}

function tellSync({ base, commits, moved }: Synced, principal: string): void {
  const { store, events, visit } = activeNode('research');
  const payload = { principal, base, commits, moved };
  const scope = { threadId: visit.threadId };
  if (store === null) events.emit('RUN_SYNCED', payload, scope);
  else store.commit((emit) => emit('RUN_SYNCED', payload, scope));
}

function hasNoTestsYet({ passed, cases = [], missing, output }: CheckResult): boolean {
  return !passed && missing === undefined && cases.length === 0 && NO_TESTS_YET.test(output);
}
