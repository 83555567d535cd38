// Writes recording.jsonl: drives the example with the scripted answers of script/ and records what the engine asked.
// From then on a run that asks something else stops with REPLAY_MISS, so a change of a request is never unnoticed.
//
//   node --conditions=@devs/source --import tsx examples/slugify/record.ts
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommandChecks, GitWorkspace, ReplayAgents, recordingAgents } from '@devs/agents';
import { Orchestrator } from '@devs/core';

const here = fileURLToPath(new URL('.', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'devs-record-'));
const script = join(scratch, 'script.jsonl');
const recording = join(scratch, 'recording.jsonl');
execFileSync(process.execPath, [join(here, 'make-recording.mjs'), script]);

const devs = await Orchestrator.open({
  dir: join(scratch, '.devs'),
  agents: recordingAgents(ReplayAgents.open(script), recording),
  workspace: new GitWorkspace({ dir: scratch }),
  checks: new CommandChecks(),
});
const brief = readFileSync(join(here, 'brief.md'), 'utf8');
const run = await devs.start({ id: 'slugify', brief, gates: { design: 'auto', dag: 'auto' } });
const { status, reason } = await run.resume();
devs.close();
if (status !== 'completed') throw new Error(`The run ended ${status}: ${reason}`);
renameSync(recording, join(here, 'recording.jsonl'));
rmSync(scratch, { recursive: true });
