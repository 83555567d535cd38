import { maskAtGate } from '@devs/core/internal';
import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { addSignedOptions, type SignedFlags } from '../flags/decideFlags.ts';
import { humanFrom } from '../flags/humanFrom.ts';
import { gateNotOpen, resolveGate } from '../gates/resolveGate.ts';
import { agentsFrom } from '../project/agentsFrom.ts';
import { withProject, withRuns } from '../project/openProject.ts';
import { examples, type Session, type Start } from '../project/Session.ts';
import { maskAsRecorded, specOf } from '../project/specOf.ts';
import { answerAtGate } from '../render/gateTalk.ts';

export function addAsk(program: Command, start: Start): void {
  const verb = program
    .command('ask')
    .description('ask the agent about a gate without deciding it; the next attempt sees the answer')
    .argument('<gate>', 'id of a gate, or of a run with one open gate')
    .argument('<question>', 'your question');
  addSignedOptions(verb, 'asks')
    .addHelpText(
      'after',
      examples(
        "devs ask 3f2a91c0 'Why two tables?'",
        "devs ask csv-export 'What if the file is empty?' --json",
      ),
    )
    .action((name: string, question: string, options: SignedFlags, command: Command) =>
      start(command, (session) => ask(name, question, options, session)),
    );
}

async function ask(
  name: string,
  question: string,
  { by, hash }: SignedFlags,
  session: Session,
): Promise<ExitCode> {
  const principal = humanFrom(by);
  const id = await withRuns(session, async (devs) => (await resolveGate(devs, name)).run.id);
  const hooks = await agentsFrom(await specOf(id, {}, session), session);
  return withProject(session, hooks, async (devs) => {
    const { run, sessionId, gate } = await resolveGate(devs, name);
    if (gate === null) throw gateNotOpen(sessionId);
    await maskAsRecorded(run);
    const { signal } = session.io;
    const shown = { sessionId, artifactHash: hash ?? gate.artifactHash };
    const said = await run.ask(shown, question, { by: principal, signal });
    const { view: document } = maskAtGate(
      { sessionId, threadId: run.id, run: run.id, ...said },
      { gate: sessionId },
    );
    await session.out.pages(document, answerAtGate(gate, said.answer));
    return EXIT.ok;
  });
}
