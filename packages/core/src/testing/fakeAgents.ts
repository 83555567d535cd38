import type {
  AgentCall,
  CheckRequest,
  CheckResult,
  Checks,
  PivotRequest,
  PivotResult,
  PlanResult,
  StageAgents,
  TaskBrief,
  TaskRequest,
  WorkResult,
} from '../orchestration/ports.ts';

export interface FakeAgentsOptions {
  /** Tasks of the plan, each depending on the one before. @defaultValue 3 */
  readonly tasks?: number;
  /** What the pivot agent proposes, in turn; the next one when refused. Without it there is no pivot agent. */
  readonly strategies?: readonly string[];
  /** Told of every call, with what it was for and its idempotency key. */
  readonly onCall?: (what: string, key: string) => void;
}

/**
 * Creates agents that answer at once with small, valid results: a plan of `tasks` tasks, each with a few files that
 * differ per attempt. Use them with {@link MemoryWorkspace} and {@link scriptedChecks}.
 */
export function fakeAgents({
  tasks = 3,
  strategies,
  onCall = () => {},
}: FakeAgentsOptions = {}): StageAgents {
  const told = <T>(what: string, { idempotencyKey }: AgentCall, result: T): Promise<T> => {
    onCall(what, idempotencyKey);
    return Promise.resolve(result);
  };
  const work =
    (step: string) =>
    (request: TaskRequest, call: AgentCall): Promise<WorkResult> => {
      const { name } = request.task;
      const number = taskSuffix(request.task);
      const path = `${step}/${number}.txt`;
      return told(`T${number} ${step}`, call, {
        summary: `${step} for ${name}`,
        files: [{ path, content: `${step} ${number}, attempt ${request.attempt}\n` }],
      });
    };
  return {
    name: 'fake',
    provenance: 'scripted',
    research: (_request, call) => told('research', call, { documents: [aDocument('RESEARCH', 'Findings')] }),
    design: ({ attempt }, call) =>
      told('design', call, { documents: [aDocument('PRD', `Design ${attempt}`)] }),
    distill: (_request, call) => told('distill', call, aPlan(tasks)),
    writeTest: work('test'),
    implement: work('implement'),
    answer: ({ gate, question, earlier }, call) =>
      told(`answer at ${gate.kind}`, call, { answer: `Answer ${earlier.length + 1} to: ${question}` }),
    review: (request, call) =>
      told(`review ${request.task.taskId}`, call, { approved: true, comments: 'Fine.' }),
    document: work('document'),
    ...(strategies && {
      pivot: ({ task, tried, refused }: PivotRequest, call: AgentCall): Promise<PivotResult> => {
        const turn = tried.length + (refused === null ? 0 : 1);
        const strategy = strategies[turn % strategies.length] ?? '';
        const what = refused === null ? 'pivot' : 'pivot again';
        return told(`T${taskSuffix(task)} ${what}`, call, { strategy, reason: 'It is the next one.' });
      },
    }),
  };
}

const taskSuffix = ({ taskId }: TaskBrief): string => taskId.slice(taskId.lastIndexOf(':') + 1);

const aDocument = (type: string, content: string) => ({ type, title: type, content });

/** A plan of one epic with a chain of tasks. */
export function aPlan(tasks: number): PlanResult {
  const keys = Array.from({ length: tasks }, (_, index) => `task-${index + 1}`);
  return {
    requirements: [{ externalId: 'REQ-1', description: 'It works.' }],
    epics: [
      {
        name: 'Everything',
        description: 'All of it.',
        tasks: keys.map((key, index) => ({
          key,
          name: `Task ${index + 1}`,
          description: `Do part ${index + 1}.`,
          dependsOn: keys.slice(Math.max(0, index - 1), index),
          requirements: ['REQ-1'],
          acceptanceCriteria: ['The file exists.'],
        })),
      },
    ],
  };
}

/**
 * Creates checks without a command: they fail if a failing test is due and pass otherwise; or they return the listed
 * verdicts in turn, repeated.
 */
export function scriptedChecks(verdicts?: readonly boolean[]): Checks {
  let runs = 0;
  const next = ({ expect }: CheckRequest): boolean => {
    if (verdicts === undefined) return expect !== 'fail';
    const verdict = verdicts[runs % verdicts.length] ?? true;
    runs += 1;
    return verdict;
  };
  return {
    run: async (request): Promise<CheckResult> => {
      const passed = next(request);
      return {
        passed,
        exitCode: passed ? 0 : 1,
        timedOut: false,
        output: passed ? 'ok' : 'not ok',
        command: 'scripted',
      };
    },
  };
}
