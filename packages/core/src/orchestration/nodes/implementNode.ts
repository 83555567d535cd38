import { activeNode } from '../../engine/node/nodeContext.ts';
import { sha256Hex } from '../../values/canonicalJson.ts';
import { advance } from '../advance.ts';
import { towardsPivot } from '../robustness/towardsPivot.ts';
import { checkTurnBudget, detectEntropy, incrementTurnBudget, withOutput } from '../robustness.ts';
import { agentLog, appendLog } from '../task/agentLog.ts';
import type { PipelineDeps } from '../task/pipelineDeps.ts';
import { pickTask, withoutVerdict, withTask } from '../taskStates.ts';
import type { GraphState, TaskRecord } from '../types.ts';
import { runTddTurn } from './tddTurn.ts';

/** `implement` without agents: picks a task and counts a turn, or continues with the pivot after the last turn. */
export function implementNode(state: GraphState): Partial<GraphState> {
  const { task, state: episode } = pickTask(state);
  if (checkTurnBudget(episode) !== null || detectEntropy(episode)) return towardsPivot(state);
  return {
    ...advance(state, 'implementing'),
    ...incrementTurnBudget(episode),
    ...(task !== null && taskUpdate(episode, task)),
  };
}

/** `implement`: one turn of the TDD loop on the active task. The turn's own verdict can only be red; green is verify's. */
export function makeImplementNode(deps: PipelineDeps) {
  return async (state: GraphState): Promise<Partial<GraphState>> => {
    const update = implementNode(state);
    const next: GraphState = { ...state, ...update };
    const task = next.tasks.find(({ taskId }) => taskId === next.activeTaskId);
    if (task?.status !== 'in_progress' || update.pendingRecoveryNode === 'pivot_agent') return update;

    const { tree, evidence, testFiles, green, losses, ...turn } = await runTddTurn(task, next, deps);
    const thought = `Turn ${next.implementationTurns}`;
    const log = agentLog(next, { task, thought, ...turn }, deps.now());
    const status = turn.passed ? underWay() : 'failed';
    return {
      ...update,
      agentLogs: appendLog(next, log),
      entropy: withOutput(next, task.taskId, {
        outputHash: sha256Hex(tree),
        seenAt: log.metadata.timestamp,
      }),
      tasks: withTask(withoutVerdict(next.tasks, task.taskId), task.taskId, {
        status,
        ...(evidence && { evidence }),
        ...(testFiles.length > 0 && { testFiles }),
        ...(green && { green }),
        ...(losses && { losses }),
      }),
    };
  };
}

/** A task whose driver died in this visit is marked, so that people can see why it took longer. */
function underWay(): TaskRecord['status'] {
  return activeNode('implement').isResumed ? 'resumed' : 'in_progress';
}

function taskUpdate(episode: GraphState, { taskId, epicId }: TaskRecord): Partial<GraphState> {
  const { entropy, errorHistory, taskAttempts, taskPivots } = episode;
  const epics = episode.epics.map((epic) =>
    epic.epicId === epicId && epic.status === 'pending' ? { ...epic, status: 'active' as const } : epic,
  );
  return {
    activeTaskId: taskId,
    activeEpicId: epicId,
    entropy,
    errorHistory,
    taskAttempts: taskAttempts + 1,
    taskPivots,
    epics,
    tasks: withTask(episode.tasks, taskId, { status: 'in_progress' }),
  };
}
