// A graph inside a node goes on from its checkpoint whenever the node runs again, past every stop it stands at: for
// LangGraph, to run the node is to have answered. What it is given instead, as long as nobody has:
//
//   it stands after a node    the checkpoint before, with what the tasks wrote: LangGraph ends the super-step anew, and stops
//   else                      its checkpoint with a channel that is newer than all LangGraph has seen: where it was
//                             compiled to stop before what is next, it does
//
// Nothing runs twice: at a stop that nobody answered, no task has begun. What a graph that only a function knows stops
// after, nobody can tell; its super-step is ended anew unless a task, a graph or a step after it has begun.

import type { CheckpointTuple } from '@langchain/langgraph-checkpoint';

/** Never in the file: a channel that no graph has. */
const UNSEEN = '__unseen__';

/** The checkpoint as one that LangGraph has not stopped at. */
export function withUnseen(tuple: CheckpointTuple): CheckpointTuple {
  const { checkpoint } = tuple;
  const channel_versions = { ...checkpoint.channel_versions, [UNSEEN]: 1 };
  return { ...tuple, checkpoint: { ...checkpoint, channel_versions } };
}

/** What of it is stored. */
export function withoutUnseen<Versions extends Readonly<Record<string, unknown>>>(
  versions: Versions,
): Versions {
  if (!Object.hasOwn(versions, UNSEEN)) return versions;
  const { [UNSEEN]: _mark, ...stored } = versions;
  return stored as unknown as Versions;
}
