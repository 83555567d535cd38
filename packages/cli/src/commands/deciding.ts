/** The verbs that record what a human says, with the forms of what is recorded: one module, apart from those that read. */

export { addAnswer } from './answer.ts';
export { addApprove } from './approve.ts';
export { addReject } from './reject.ts';
export { addTrust } from './trust.ts';
