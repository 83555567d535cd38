import {
  agentsPerStage,
  commandAgents,
  type ModelStage,
  modelAgents,
  ReplayAgents,
  type Sandbox,
} from '@devs/agents';
import type { StageAgents } from '@devs/core';
import { type AgentNames, REPLAY } from '../flags/agentNames.ts';
import { commandSource, isCommandName } from '../flags/commandName.ts';
import type { Session } from './Session.ts';
import { showModelProgress } from './showModelProgress.ts';

/** What agents are made with beside their names. */
export interface AgentSetting {
  readonly sandbox: Sandbox | null;
  readonly out: Session['out'];
}

/**
 * The agents of these names, loaded: models and coding CLIs may share the stages.
 *
 * @throws DevsError `CONFIG_INVALID` when one cannot be used.
 */
export async function namedAgents(names: AgentNames, setting: AgentSetting): Promise<StageAgents> {
  const { agents, perStage = {} } = names;
  if (agents.startsWith(REPLAY)) return ReplayAgents.open(agents.slice(REPLAY.length));
  const entries = Object.entries(perStage) as [ModelStage, string][];
  const isCommand = isCommandName(agents);
  const alike = entries.filter(([, name]) => isCommandName(name) === isCommand);
  const others = entries.filter(([, name]) => isCommandName(name) !== isCommand);
  const base = await agentsOfKind(agents, Object.fromEntries(alike), names, setting);
  const [first] = others;
  if (first === undefined) return base;
  const guest = await agentsOfKind(first[1], Object.fromEntries(others), names, setting);
  return agentsPerStage(base, Object.fromEntries(others.map(([stage]) => [stage, guest])));
}

/** All of them models, or all of them coding CLIs. */
function agentsOfKind(
  name: string,
  perStage: Readonly<Partial<Record<ModelStage, string>>>,
  { prompts }: AgentNames,
  { sandbox, out }: AgentSetting,
): Promise<StageAgents> {
  const common = { ...(prompts && { prompts }), onProgress: showModelProgress(out) };
  if (!isCommandName(name)) return modelAgents({ ...common, model: name, perStage });
  const stages = Object.entries(perStage).map(([stage, each]) => [stage, commandSource(each)]);
  return commandAgents({
    ...common,
    sandbox,
    command: commandSource(name),
    perStage: Object.fromEntries(stages),
  });
}
