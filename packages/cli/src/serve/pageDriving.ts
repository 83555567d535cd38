import type { OrchestratorOptions } from '@devs/core';
import type { UiOptions } from '@devs/ui';
import type { Session } from '../project/Session.ts';
import { maskAsRecorded, specOf } from '../project/specOf.ts';
import { usageError } from '../usageError.ts';

/**
 * How a page executes runs of the project: as `devs resume` and `devs run` do, without a terminal. In a cluster its workers do.
 * A configuration without trust is refused as there; the server cannot ask about it.
 */
export function pageDriving(session: Session): Pick<UiOptions, 'drive' | 'driving' | 'starting' | 'asking'> {
  if (session.cluster !== null) return {};
  return {
    drive: true,
    asking: agentsOfRuns(session),
    driving: async (id, stop) => {
      const { agentsFrom, chooseLangGraph } = await import('../drive/resumeParts.ts');
      const { withProject } = await import('../project/openProject.ts');
      const spec = await specOf(id, {}, session, { canAsk: false });
      chooseLangGraph(spec, session);
      return withProject(session, await agentsFrom(spec, session), async (devs) => {
        const run = await devs.run(id);
        await maskAsRecorded(run);
        return run.resume(stop);
      });
    },
    starting: (brief) => startFromBrief(brief, session),
  };
}

/** The agents of each run that somebody looks at, made once. */
function agentsOfRuns(session: Session): NonNullable<UiOptions['asking']> {
  const known = new Map<string, Promise<Asking>>();
  return (id) => {
    const made = known.get(id) ?? agentsOfRun(id, session);
    known.set(id, made);
    // A missing key may be there the next time.
    made.catch(() => known.delete(id));
    return made;
  };
}

type Asking = Required<Pick<OrchestratorOptions, 'agents' | 'workspace' | 'checks'>>;

async function agentsOfRun(id: string, session: Session): Promise<Asking> {
  const { agentsFrom } = await import('../drive/resumeParts.ts');
  const spec = await specOf(id, {}, session, { canAsk: false });
  const { agents, workspace, checks } = await agentsFrom(spec, session);
  if (agents === undefined || workspace === undefined || checks === undefined)
    throw usageError(`${id} was started without agents.`, 'Decide about what it shows.');
  return { agents, workspace, checks };
}

/**
 * Records a run of a brief with the project's configuration, as `devs run` does. It is not executed yet.
 *
 * @returns Its id.
 * @throws DevsError `CONFIG_NOT_TRUSTED`, `CONFIG_INVALID`
 */
async function startFromBrief(brief: string, session: Session): Promise<string> {
  const { agentsFrom } = await import('../drive/resumeParts.ts');
  const { withProject } = await import('../project/openProject.ts');
  const { acceptedConfig } = await import('../project/acceptedConfig.ts');
  const { acceptedStateFile } = await import('../project/acceptedStateFile.ts');
  const { newSpec, specText } = await import('../flags/runSpec.ts');
  const config = await acceptedConfig(session, { canAsk: false });
  await acceptedStateFile(session, { canAsk: false });
  const spec = newSpec({}, { cwd: session.io.cwd, dir: session.dir, config });
  const { budget, review, gates, documents } = config;
  return withProject(session, await agentsFrom(spec, session), async (devs) => {
    const run = await devs
      .start({
        ...{ brief, agentsRef: specText(spec), review, gates },
        ...(budget !== undefined && { budget }),
        ...(documents?.inBranch && { docsInBranch: true }),
      })
      .catch((error: unknown) => {
        if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
        throw usageError(error.message, 'Correct the brief.', error);
      });
    await maskAsRecorded(run);
    return run.id;
  });
}
