/** Node transitions a run may take without progress before a human is asked. Source: 9_ROADMAP-RISK-401. */
export const MAX_RECURSION_DEPTH = 25;

/** Share of a limit, in (0, 1], from which a warning is emitted. Source: 9_ROADMAP-RISK-401. */
export const RECURSION_WARNING_RATIO = 0.8;

/** Intermediate checkpoints kept in memory; older ones live in the state file only. Source: 9_ROADMAP-RISK-401. */
export const CHECKPOINT_WINDOW = 5;

/** Entropy score in [0, 1] at or above which a task is handed to a human. Source: 9_ROADMAP-REQ-006. */
export const HITL_ENTROPY_THRESHOLD = 0.75;

/** Strategy pivots per task before it is handed to a human. */
export const MAX_PIVOTS = 2;

/** How long a write waits while other processes write the state file, ms. */
export const BUSY_TIMEOUT_MS = 30_000;

/** Name of the state file in the engine's folder. */
export const STATE_FILE = 'state.sqlite';
