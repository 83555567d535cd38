/** The time in ms of a test that does so many times what it does in its `usual` time; by default it does no more. */
export const longer = (usual: number, times: number): number => usual * Math.max(1, Math.ceil(times));
