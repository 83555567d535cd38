/** What the programs of the README are given, and what of it reached the outside world. */
export const effects: string[] = [];

export async function model(topic: string, key: string): Promise<string> {
  effects.push(`model ${key}`);
  return `A post about ${topic}.`;
}

export async function publish(draft: string, key: string): Promise<string> {
  effects.push(`publish ${key}`);
  return `https://example.org/${draft.length}`;
}

export const brief = '# Sums\n\nNumbers are added, and doubled.\n';
