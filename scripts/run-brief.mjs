// Walks a brief through the whole pipeline without agents.
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { entry, eventLine, reportEnd } from './entry.mjs';

const usage = `Usage: node scripts/run-brief.mjs BRIEF

Runs a Markdown brief through every stage without agents: no model is asked and no file is written but the state,
which is kept in .devs in the working folder. Whoever runs it approves the gates of design and plan, by their user name.
The same brief is the same run. Build first: npx --yes pnpm@10.34.9 build
`;

await entry({ usage, count: 1 }, async (core, file) => {
  const brief = readFileSync(file, 'utf8');
  const by = { kind: 'human', id: userInfo().username };
  const devs = await core.Orchestrator.open({ dir: '.devs' });
  try {
    devs.events.onAny((name, payload, { taskId }) => {
      console.log(eventLine(core, { at: new Date().toISOString(), taskId, name, payload }));
    });
    const run = await devs.start({ brief });
    let end = await run.resume();
    while (end.status === 'waiting') {
      for (const gate of end.gates) await run.decide(gate, { approved: true, by });
      end = await run.resume();
    }
    return reportEnd(core, run.id, end);
  } finally {
    devs.close();
  }
});
