import { describe, expect, test } from 'vitest';
import { History } from '../History.ts';
import type { TaskStage } from '../loadPrompts.ts';
import { TaskTalks } from '../TaskTalks.ts';

function aTalk() {
  const talks = new TaskTalks();
  const stage = (name: TaskStage, id = 'run/1', model = 'a') => {
    const open = (): History => new History([{ role: 'system', content: name }]);
    const talk = talks.stage(id, name, { model, open });
    talk.history.add({ role: 'user', content: name }, { role: 'assistant', content: `${name} done` });
    return {
      ...talk,
      said: talk.history.messages.map((message) => (message as { content: string }).content),
    };
  };
  return stage;
}

describe('the conversation of a task', () => {
  test('goes on from stage to stage', () => {
    const stage = aTalk();
    expect(stage('writeTest')).toMatchObject({ isContinued: false });
    expect(stage('implement')).toMatchObject({ isContinued: true });
    const { isContinued, said } = stage('document');
    expect(isContinued).toBe(true);
    expect(said).toEqual([
      ...['writeTest', 'writeTest', 'writeTest done'],
      ...['implement', 'implement done', 'document', 'document done'],
    ]);
  });

  test('forgets a stage that is asked again, with all after it', () => {
    const stage = aTalk();
    stage('writeTest');
    stage('implement');
    const again = stage('implement');
    expect(again.isContinued).toBe(true);
    expect(again.said).toEqual(['writeTest', 'writeTest', 'writeTest done', 'implement', 'implement done']);
    expect(stage('writeTest')).toMatchObject({
      isContinued: false,
      said: ['writeTest', 'writeTest', 'writeTest done'],
    });
  });

  test('begins anew where the stage before was not said in it: another model, attempt or process', () => {
    const stage = aTalk();
    stage('writeTest');
    expect(stage('implement', 'run/1', 'b').isContinued).toBe(false);
    expect(stage('document', 'run/1', 'a').isContinued).toBe(false);
    expect(stage('implement', 'run/2').isContinued).toBe(false);
    expect(aTalk()('document').isContinued).toBe(false);
  });

  test('is kept for a few tasks', () => {
    const stage = aTalk();
    for (let task = 0; task < 9; task += 1) stage('writeTest', `run/${task}`);
    expect(stage('implement', 'run/0').isContinued).toBe(false);
    expect(stage('implement', 'run/8').isContinued).toBe(true);
  });
});
