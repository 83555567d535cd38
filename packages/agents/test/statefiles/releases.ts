/** Releases whose state files are kept, oldest first: today's code resumes what each of them left. */
export const RELEASES = ['0.1.0-27306ef', '0.1.0-e36ae08'] as const;

export type Release = (typeof RELEASES)[number];

export const isRelease = (name: string | undefined): name is Release =>
  RELEASES.some((release) => release === name);
