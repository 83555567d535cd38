// Tells what happened in a run, from its state file.
import { entry, eventLine, openProject, shown } from './entry.mjs';

const usage = `Usage: node scripts/story.mjs DIR ID

Prints every event of the run ID of the project folder DIR, oldest first: time (UTC), task, event, payload.
Only reads. docs/reference/events.md says what the events mean. Build first: npx --yes pnpm@10.34.9 build
`;

await entry({ usage, count: 2 }, async (core, dir, id) => {
  const devs = await openProject(core, dir, { readOnly: true });
  try {
    const run = await devs.run(id);
    const { title, status, reason } = await run.status();
    console.log(shown(core, `${id}  ${title}  ${status}${reason === null ? '' : `, ${reason}`}`));
    let page = await run.log();
    while (page.length > 0) {
      for (const entry of page) console.log(eventLine(core, entry));
      page = await run.log({ afterSeq: page.at(-1).seq });
    }
  } finally {
    devs.close();
  }
});
