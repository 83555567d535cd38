import { agents } from './agents.ts';
import { channels } from './channels.ts';
import { commands } from './commands.ts';
import { deepAgents } from './deepAgents.ts';
import { errors } from './errors.ts';
import { functional } from './functional.ts';
import { interrupts } from './interrupts.ts';
import { langchainAgents } from './langchainAgents.ts';
import { ownInterrupts } from './ownInterrupts.ts';
import type { Programs } from './Program.ts';
import { sends } from './sends.ts';
import { subgraphs } from './subgraphs.ts';
import { threads } from './threads.ts';

/** By what they are about. */
export const programs: Readonly<Record<string, Programs>> = {
  sends,
  commands,
  subgraphs,
  errors,
  functional,
  interrupts,
  ownInterrupts,
  agents,
  langchainAgents,
  deepAgents,
  channels,
  threads,
};
