/** `2026-11-23 06:30`, in the person's own time. */
export function timeWords(iso: string): string {
  const at = new Date(iso);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

const STEPS = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
] as const;

/** How long ago: `3 h`. */
export function agoWords(iso: string, now: number = Date.now()): string {
  const seconds = Math.max(0, (now - Date.parse(iso)) / 1000);
  const step = STEPS.find(([size]) => seconds >= size);
  return step === undefined ? 'now' : `${Math.floor(seconds / step[0])} ${step[1]}`;
}

export const usdWords = (usd: number): string => `$${usd.toFixed(2)}`;

export const shortHash = (hash: string): string => hash.slice(0, 12);

/** `T4`, as people count tasks. */
export const taskLabel = (taskId: string): string => {
  const number = /:(\d+)$/.exec(taskId)?.[1];
  return number === undefined ? taskId : `T${number}`;
};

/** `design_approval` as words. */
export const plain = (name: string): string => name.toLowerCase().replaceAll('_', ' ');
