/** Node transitions without progress before a run asks. Source: 9_ROADMAP-RISK-401. */
export const MAX_RECURSION_DEPTH = 25;

/** Share of a limit, in (0, 1], from which a warning is emitted. Source: 9_ROADMAP-RISK-401. */
export const RECURSION_WARNING_RATIO = 0.8;

/** Number of intermediate checkpoints in memory; older ones are in the state file. Source: 9_ROADMAP-RISK-401. */
export const CHECKPOINT_WINDOW = 5;

/** Entropy score in [0, 1] at which a task asks a person. Source: 9_ROADMAP-REQ-006. */
export const HITL_ENTROPY_THRESHOLD = 0.75;

/** Strategy pivots per task before it is handed to a human. */
export const MAX_PIVOTS = 2;

/** How long a write waits while other processes write the state file, ms. */
export const BUSY_TIMEOUT_MS = 30_000;

/** Name of the state file in the engine's folder. */
export const STATE_FILE = 'state.sqlite';
