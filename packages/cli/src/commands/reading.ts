/** The verbs that need neither agents nor what a human says: one module, apart from the list of all verbs. */

export { addAcceptGraph } from './admin/acceptGraph.ts';
export { addBackup } from './admin/backup.ts';
export { addCancel } from './admin/cancel.ts';
export { addDoctor } from './admin/doctor.ts';
export { addExplain } from './admin/explain.ts';
export { addGc } from './admin/gc.ts';
export { addPause } from './admin/pause.ts';
export { addPrune } from './admin/prune.ts';
export { addRekey } from './admin/rekey.ts';
export { addRevive } from './admin/revive.ts';
export { addCompact } from './compact.ts';
export { addDocs } from './docs.ts';
export { addGates } from './gates.ts';
export { addLog } from './log.ts';
export { addShow } from './show.ts';
export { addStatus } from './status.ts';
export { addTrace } from './trace.ts';
export { addUi } from './ui.ts';
export { addWhy } from './why.ts';
