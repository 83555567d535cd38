import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import {
  type AgentCall,
  type FileEdit,
  Orchestrator,
  type Run,
  type StageAgents,
  type TaskRequest,
} from '@devs/core';
import { fakeAgents, scriptedChecks } from '@devs/core/testing';
import { GitWorkspace } from '../../src/workspace/GitWorkspace.ts';

export const ADA = { kind: 'human', id: 'ada' } as const;

/** Tasks by name, with the names of those each depends on. */
export type Shape = Readonly<Record<string, readonly string[]>>;

/** `b` follows `a`, `c` stands alone. */
export const THREE: Shape = { a: [], b: ['a'], c: [] };

/** `b` and `d` follow `a`; `c` stands alone, `d` follows `b` as well. */
export const DIAMOND: Shape = { a: [], b: ['a'], c: [], d: ['a', 'b'] };

export interface Project {
  readonly dir: string;
  readonly shape: Shape;
  /** What the agents write for a task, by its name and how often it was asked for. @defaultValue one file of its own */
  readonly write?: (name: string, round: number, call: AgentCall) => Promise<readonly FileEdit[]>;
  readonly repository?: string;
  readonly checks?: ReturnType<typeof scriptedChecks>;
}

const ownFile = async (name: string, round: number): Promise<readonly FileEdit[]> => [
  { path: `${name}.txt`, content: `${name} ${round}\n` },
];

/** Agents whose plan has the given shape; `asked` counts how often each task was implemented. */
export function shapedAgents(
  { shape, write = ownFile }: Project,
  asked = new Map<string, number>(),
): StageAgents {
  const fake = fakeAgents();
  const nothing = async (): Promise<{ summary: string; files: readonly FileEdit[] }> => ({
    summary: '',
    files: [],
  });
  return {
    ...fake,
    distill: async () => ({
      requirements: [{ externalId: 'REQ-1', description: 'It works.' }],
      epics: [
        {
          name: 'All',
          description: 'All.',
          tasks: Object.entries(shape).map(([key, dependsOn]) => ({
            key,
            name: key,
            description: `Do ${key}.`,
            dependsOn,
            requirements: ['REQ-1'],
            acceptanceCriteria: ['It is there.'],
          })),
        },
      ],
    }),
    writeTest: nothing,
    document: nothing,
    implement: async ({ task }: TaskRequest, call: AgentCall) => {
      const round = (asked.get(task.name) ?? 0) + 1;
      asked.set(task.name, round);
      call.usage({ tokensIn: 10, tokensOut: 1, costUsd: 0.01 });
      return { summary: task.name, files: await write(task.name, round, call) };
    },
  };
}

export async function openProject(project: Project, asked?: Map<string, number>): Promise<Orchestrator> {
  const { dir, repository, checks = scriptedChecks() } = project;
  return Orchestrator.open({
    dir: join(dir, '.devs'),
    agents: shapedAgents(project, asked),
    workspace: new GitWorkspace({ dir, ...(repository !== undefined && { repository }) }),
    checks,
  });
}

export const start = (devs: Orchestrator): Promise<Run> =>
  devs.start({ id: 'r', brief: '# B', gates: { design: 'auto', dag: 'auto' } });

/** Git in the run's own git dir. */
export function git(dir: string, ...args: readonly string[]): string {
  return execFileSync('git', ['--git-dir', join(dir, '.devs', 'git', 'r.git'), ...args], {
    encoding: 'utf8',
  }).trim();
}

/** Name → status. */
export async function statuses(run: Run): Promise<Readonly<Record<string, string>>> {
  const { tasks } = await run.status();
  return Object.fromEntries(tasks.map(({ name, status }) => [name, status]));
}
