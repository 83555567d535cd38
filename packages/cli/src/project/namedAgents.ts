import {
  acpAgents,
  agentsPerStage,
  commandAgents,
  modelAgents,
  ReplayAgents,
  type Sandbox,
} from '@devs/agents';
import type { ModelStage } from '@devs/agents/internal';
import type { StageAgents } from '@devs/core';
import { type AgentNames, REPLAY } from '../flags/agentNames.ts';
import { acpSource, commandSource, type ToolKind, toolKind } from '../flags/toolName.ts';

/** What agents are made with beside their names. */
export interface AgentSetting {
  readonly sandbox: Sandbox | null;
}

/**
 * The agents of these names, loaded: models and coding CLIs may share the stages.
 *
 * @throws DevsError `CONFIG_INVALID` when one cannot be used.
 */
export async function namedAgents(names: AgentNames, setting: AgentSetting): Promise<StageAgents> {
  const { agents, perStage = {} } = names;
  if (agents.startsWith(REPLAY)) return ReplayAgents.open(agents.slice(REPLAY.length));
  const kind = workerKind(agents);
  const stages = new Map<WorkerKind, StageNames>();
  for (const [stage, name] of Object.entries(perStage))
    stages.set(workerKind(name), { ...stages.get(workerKind(name)), [stage]: name });
  const base = await agentsOfKind(
    kind,
    { name: agents, perStage: stages.get(kind) ?? {}, ...promptsOf(names) },
    setting,
  );
  const guests: Partial<Record<ModelStage, StageAgents>> = {};
  for (const [other, theirs] of stages) {
    if (other === kind) continue;
    const [first = agents] = Object.values(theirs);
    const guest = await agentsOfKind(other, { name: first, perStage: theirs, ...promptsOf(names) }, setting);
    for (const stage of Object.keys(theirs) as ModelStage[]) guests[stage] = guest;
  }
  return Object.keys(guests).length === 0 ? base : agentsPerStage(base, guests);
}

type WorkerKind = ToolKind | 'model';
type StageNames = Readonly<Partial<Record<ModelStage, string>>>;

const workerKind = (name: string): WorkerKind => toolKind(name) ?? 'model';

/** Agents of one kind: that of most stages, and those of single ones. */
interface WorkersToLoad extends Pick<AgentNames, 'prompts'> {
  readonly name: string;
  readonly perStage: StageNames;
}

const promptsOf = ({ prompts }: AgentNames): Pick<AgentNames, 'prompts'> =>
  prompts === undefined ? {} : { prompts };

/** All of them models, or all of them coding CLIs that are driven in the same way. */
function agentsOfKind(
  kind: WorkerKind,
  { name, perStage, ...common }: WorkersToLoad,
  { sandbox }: AgentSetting,
): Promise<StageAgents> {
  const each = <Source>(source: (text: string) => Source): Partial<Record<ModelStage, Source>> =>
    Object.fromEntries(Object.entries(perStage).map(([stage, text]) => [stage, source(text)]));
  switch (kind) {
    case 'model':
      return modelAgents({ ...common, model: name, perStage });
    case 'acp':
      return acpAgents({ ...common, sandbox, agent: acpSource(name), perStage: each(acpSource) });
    case 'command':
      return commandAgents({
        ...common,
        sandbox,
        command: commandSource(name),
        perStage: each(commandSource),
      });
  }
}
