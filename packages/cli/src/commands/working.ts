/** The verbs with agents, git and YAML behind them: one module, so that a reader's process loads none of it. */

export { addAdopt } from './admin/adopt.ts';
export { addChaos } from './admin/chaos.ts';
export { addRewind } from './admin/rewind.ts';
export { addSync } from './admin/sync.ts';
export { addAsk } from './ask.ts';
export { addEdit } from './edit.ts';
export { addInit } from './init.ts';
export { addPr } from './pr.ts';
export { addResume } from './resume.ts';
export { addRm } from './rm.ts';
export { addRun } from './run.ts';
