// Goes on with a run that was started without agents.
import { entry, eventLine, openProject, reportEnd } from './entry.mjs';

const usage = `Usage: node scripts/resume-thread.mjs DIR ID

Drives the run ID of the project folder DIR on, from where it stopped or was killed, until it ends or waits for a human.
For runs that were started without agents; \`devs resume\` goes on with the others.
Exit code 75: it waits. Build first: npx --yes pnpm@10.34.9 build
`;

await entry({ usage, count: 2 }, async (core, dir, id) => {
  const devs = await openProject(core, dir);
  try {
    devs.events.onAny((name, payload, { taskId }) => {
      console.log(eventLine(core, { at: new Date().toISOString(), taskId, name, payload }));
    });
    return reportEnd(core, id, await (await devs.run(id)).resume());
  } finally {
    devs.close();
  }
});
