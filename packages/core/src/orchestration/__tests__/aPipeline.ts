import type { Database } from 'better-sqlite3';
import { parseBrief } from '../../brief/brief.ts';
import { initialState } from '../../brief/initialState.ts';
import { loadOrchestratorConfig, type OrchestratorConfig } from '../../config/orchestratorConfig.ts';
import { ada } from '../../engine/__tests__/ownGraph.ts';
import { internalsOf } from '../../engine/file/appInternals.ts';
import type { Gate, GateAnswer } from '../../engine/gates/Gate.ts';
import { EventBus } from '../../events/events.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';
import { orchestrationApp } from '../graph.ts';
import type { Checks, StageAgents } from '../ports.ts';
import { AT } from './aState.ts';

export interface PipelineOptions {
  readonly agents?: Partial<StageAgents>;
  readonly tasks?: number;
  readonly checks?: Checks;
  readonly config?: Partial<OrchestratorConfig>;
}

/** The pipeline on one project, `shop`, with agents and checks in memory. */
export async function aPipeline(
  db: Database,
  { agents = {}, tasks = 2, checks, config }: PipelineOptions = {},
) {
  const calls: string[] = [];
  const events = new EventBus();
  const workspace = new MemoryWorkspace();
  const app = orchestrationApp(
    {
      agents: { ...fakeAgents({ tasks, onCall: (what) => calls.push(what) }), ...agents },
      workspace,
      checks: checks ?? scriptedChecks(),
      now: () => Date.parse(AT),
    },
    { db, events, config: { ...loadOrchestratorConfig(), ...config } },
  );
  await internalsOf(app).recordRun({
    threadId: 'shop',
    input: initialState('shop', parseBrief('# Shop\n\nSell things.'), AT),
  });
  return { app, events, calls, workspace };
}

/** Checks that are red in a new way each time: the task gets nowhere, and repeats nothing. */
export function redInNewWays(): Checks {
  let runs = 0;
  const inWords = (n: number): string => n.toString(2).replaceAll('0', 'in').replaceAll('1', 'out');
  return {
    run: async () => {
      runs += 1;
      const output = `${inWords(runs)} is missing`;
      return { passed: false, exitCode: 1, timedOut: false, output, command: 'scripted' };
    },
  };
}

export type Pipeline = Awaited<ReturnType<typeof aPipeline>>;

/** Drives until the run ends; `answer` is asked about every gate, in order. */
export async function driveToTheEnd(
  { app }: Pipeline,
  answer: (gate: Gate) => object = () => ({ approved: true }),
) {
  const kinds: string[] = [];
  let result = await internalsOf(app).drive('shop');
  while (result.status === 'waiting' && kinds.length < 20) {
    for (const gate of result.gates) {
      kinds.push(gate.kind);
      await app.decide(gate, { ...answer(gate), by: ada } as GateAnswer);
    }
    result = await internalsOf(app).drive('shop');
  }
  return { ...result, kinds };
}
