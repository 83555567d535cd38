import type { Run } from '@devs/core';
import { agentsFrom } from './agentsFrom.ts';
import { withProject } from './openProject.ts';
import type { Session } from './Session.ts';
import { specOf } from './specOf.ts';

/** Opens a run with the agents, workspace and checks it was started with: what moves its files needs them. */
export async function withAgentsOf<Result>(
  id: string,
  session: Session,
  work: (run: Run) => Promise<Result>,
): Promise<Result> {
  const agents = await agentsFrom(await specOf(id, {}, session), session);
  return withProject(session, agents, async (devs) => work(await devs.run(id)));
}
