import type {
  DraftDocument,
  PlanResult,
  StageAgents,
  TaskRequest,
  WorkResult,
} from '../../src/orchestration/ports.ts';
import { aPlan } from '../../src/testing/fakeAgents.ts';

export interface CanaryAgentsOptions {
  /** Put into every text the agents say. */
  readonly say: string;
  /** Message of the error the first implementation throws; `null` for none. */
  readonly failWith: string | null;
  /** Told before every call. */
  readonly onCall?: () => void;
}

/** Agents that put a text into everything they say; what they implement is the design they were given. */
export function canaryAgents({ say, failWith, onCall = () => {} }: CanaryAgentsOptions): StageAgents {
  let failures = failWith === null ? 0 : 1;
  const told = async <T>(result: T): Promise<T> => {
    onCall();
    return result;
  };
  const work = (step: string) => (request: TaskRequest) =>
    told<WorkResult>({ summary: `${step}: ${say}`, files: [fileOf(step, request)] });
  return {
    name: 'canary',
    provenance: 'scripted',
    research: () => told({ documents: [documentOf('RESEARCH', say)] }),
    design: () => told({ documents: [documentOf('PRD', say)] }),
    distill: () => told(planThatSays(say)),
    writeTest: work('test'),
    implement: (request) => {
      if (failures === 0) return work('implement')(request);
      failures -= 1;
      throw new TypeError(failWith ?? '');
    },
    review: () => told({ approved: true, comments: say }),
    document: work('document'),
  };
}

const documentOf = (type: string, say: string): DraftDocument => ({
  type,
  title: type,
  content: `# ${type}\n\n${say}\n`,
});

function planThatSays(say: string): PlanResult {
  const { epics, ...plan } = aPlan(2);
  const tasks = (epics[0]?.tasks ?? []).map((task) => ({
    ...task,
    description: say,
    acceptanceCriteria: [say],
  }));
  return { ...plan, epics: [{ name: 'Everything', description: say, tasks }] };
}

function fileOf(step: string, { task, documents }: TaskRequest): { path: string; content: string } {
  const number = task.taskId.slice(task.taskId.lastIndexOf(':') + 1);
  const design = documents.find(({ type }) => type === 'PRD')?.content ?? '';
  return { path: `${step}/${number}.md`, content: `${design}\n${task.description}\n` };
}
